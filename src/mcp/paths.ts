import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import { head } from '../core/text/index.ts';
import { fileReason, isMissing } from '../stores/index.ts';

/** What is at an absolute path. An agent may work anywhere, so nothing is relative. */
export async function requirePath(path: string, what: string) {
  const named = JSON.stringify(head(path, MOST_SHOWN));
  if (!isAbsolute(path))
    throw new SkillError('USAGE', `expected the absolute path of ${what}, got ${named}`, {
      hint: 'Relative paths and ~ mean nothing here.',
    });
  return stat(path).catch((cause) => {
    const why = isMissing(cause) ? 'there is nothing' : `${fileReason(cause)}`;
    throw new SkillError('USAGE', `expected ${what} at ${named}: ${why}`, { cause, hint: 'Check the path.' });
  });
}

export async function requireFolder(path: string, what: string) {
  const found = await requirePath(path, what);
  if (found.isDirectory()) return found;
  const message = `expected ${what} at ${JSON.stringify(head(path, MOST_SHOWN))}, got a file`;
  throw new SkillError('USAGE', message, { hint: 'Pass the folder, not a file in it.' });
}

const MOST_SHOWN = 300;
