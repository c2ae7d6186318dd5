import { homedir } from 'node:os';
import { basename } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import type { Problem } from '../core/page/index.ts';

type Status = 400 | 401 | 403 | 404 | 409 | 500;

/** A request that is not answered, and what to do about it. */
export class Refusal extends Error {
  readonly status: Status;
  readonly hint: string;

  constructor(status: Status, message: string, hint: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

const STATUS: Readonly<Partial<Record<SkillError['code'], Status>>> = {
  USAGE: 400,
  RUN_NOT_FOUND: 404,
  RUN_LOCKED: 409,
  JOURNAL_CORRUPT: 409,
  STATE_UNUSABLE: 409,
  CONSENT_MISSING: 409,
  DOCUMENT_REFUSED: 409,
};

export const statusOf = (error: unknown): Status =>
  error instanceof Refusal ? error.status : error instanceof SkillError ? (STATUS[error.code] ?? 500) : 500;

/** What went wrong, in words: never a stack, and no path of this machine. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Refusal) return { message: error.message, hint: error.hint };
  if (error instanceof SkillError)
    return { message: withoutPlaces(error.message), hint: withoutPlaces(error.hint ?? '') };
  const message = `the server failed: ${withoutPlaces(error instanceof Error ? error.message : String(error))}`;
  return { message, hint: 'Look again; if it stays so, please report it.' };
}

const PLACE = /(?<![\w.~:/\\])(?:[A-Za-z]:)?[/\\](?:[^\s'"`:;,()<>|/\\]+[/\\])*([^\s'"`:;,()<>|/\\]+)/g;

/** A text whose absolute paths are the names of their files: a page may be shown to others. */
export const withoutPlaces = (text: string): string => text.replace(PLACE, '…/$1');

/** A folder as a page names it. */
export const shortPlace = (path: string): string => {
  const home = homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : `…/${basename(path)}`;
};
