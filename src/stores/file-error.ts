import { SkillError } from '../core/errors.ts';
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
  const message = error instanceof Error ? error.message : String(error);
  return isFileError(error) ? message.replace(/, \w+( '.*)?$/s, '') : message;
}

/** The error of a run that cannot be kept: a full disk, a read-only folder, a file in the way. */
export function unwritable(path: string, cause: unknown): SkillError {
  const hint = 'Free or unlock the place and start again, or choose a run directory that can be written (outRoot).';
  return new SkillError('RUN_UNWRITABLE', `${shownPath(path)} cannot be written: ${fileReason(cause)}`, {
    cause,
    hint,
  });
}
