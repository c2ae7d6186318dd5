import { SkillError } from '../core/contracts/index.ts';
import { shownPath } from './shown-path.ts';

/** What the operating system says about a file, such as a full disk. Anything else is not about files. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

export function isMissing(error: unknown): boolean {
  return isFileError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** A place that is not ours to write, unlike one that is full or broken. */
export function isForbidden(error: unknown): boolean {
  return isFileError(error) && ['EACCES', 'EPERM', 'EROFS'].includes(error.code ?? '');
}

/** The reason without the path and the system call, which the message around it names already. */
export function fileReason(error: unknown): string {
  const reason = systemReason(error);
  const plain = PLAIN_REASONS[codeOf(error)];
  return plain === undefined ? reason : `${plain} (${reason})`;
}

function systemReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return isFileError(error) ? message.replace(/, \w+( '.*)?$/s, '') : message;
}

const codeOf = (error: unknown) => String((error as { code?: unknown } | undefined)?.code);

/** What stops a run most often, in the words of people. */
const PLAIN_REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  SQLITE_FULL: 'the disk is full',
  EDQUOT: 'your quota of this disk is used up',
  EFBIG: 'a file would be larger than this process may write',
  ELOOP: 'it is a link, and a run writes only into its own folder',
  EMFILE: 'too many files are open; allow more (ulimit -n 1024)',
  ENFILE: 'too many files are open on this machine',
};

/** The error of a run that cannot be kept: a full disk, a read-only folder, a file in the way. */
export function unwritable(path: string, cause: unknown): SkillError {
  const hint = 'Free or unlock the place and start again, or choose a run directory that can be written (outRoot).';
  return new SkillError('RUN_UNWRITABLE', `${shownPath(path)} cannot be written: ${fileReason(cause)}`, {
    cause,
    hint,
  });
}

/** The error of a folder of runs that is there and cannot be read. */
export function unreadable(path: string, cause: unknown): SkillError {
  return new SkillError('RUN_NOT_FOUND', `${shownPath(path)} cannot be read: ${systemReason(cause)}`, {
    cause,
    hint: 'Check whose it is and whether you may read it, for example with ls -ld; or name another place.',
  });
}
