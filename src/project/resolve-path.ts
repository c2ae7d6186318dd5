import { resolve } from 'node:path';
import { type ErrorCode, SkillError } from '../core/contracts/index.ts';

/** A path that a person typed, absolute. Control characters are a mistake, and no system call takes a NUL. */
export function resolvePath(directory: string, path: string, code: ErrorCode = 'USAGE', what = ''): string {
  if (!/\p{Cc}/u.test(path)) return resolve(directory, path);
  throw new SkillError(code, `${what}a path must not have control characters, got ${JSON.stringify(path)}`, {
    hint: 'Look for a line break, or for a backslash that was read as part of \\n or \\t.',
  });
}
