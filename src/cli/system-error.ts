const HINTS: Readonly<Record<string, string>> = {
  EACCES: 'Check that you may read and write there.',
  EDQUOT: 'Make room on the disk, then run the same command again.',
  EMFILE: 'Allow more open files, for example with: ulimit -n 1024. Then run the same command again.',
  ENFILE: 'Close other programs, then run the same command again.',
  ENOSPC: 'Make room on the disk, then run the same command again.',
  EPERM: 'Check that you may read and write there.',
  EROFS: 'Check that you may read and write there.',
};

export type SystemError = { readonly message: string; readonly hint: string };

/** What the operating system refused, if that is what is behind an error: nothing that a bug of ours would do. */
export function systemErrorOf(error: unknown): SystemError | undefined {
  if (!(error instanceof Error)) return undefined;
  if (isFromSystem(error))
    return { message: error.message, hint: HINTS[error.code] ?? 'Check that path, and try again.' };
  const { error: later, suppressed, cause } = error as Error & { error?: unknown; suppressed?: unknown };
  return systemErrorOf(suppressed) ?? systemErrorOf(later) ?? systemErrorOf(cause);
}

function isFromSystem(error: Error): error is Error & { code: string } {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) && (typeof syscall === 'string' || code in HINTS);
}
