import { redactSecrets } from '../core/guard/index.ts';
import { withoutEscapes } from '../core/text/index.ts';

/** Takes out what must not be kept. */
export type Redact = (text: string) => string;

/** Of a prompt or an answer, in UTF-16 units. */
export const MAX_TEXT_LENGTH = 4_000;
const MAX_NAME_LENGTH = 300;

/** More than this is not even looked at, so that one pasted file cannot cost seconds. */
const MAX_REDACTED_LENGTH = 1.5 * MAX_TEXT_LENGTH;

/** Where a text was cut before redaction, a secret may have been cut in two: this much of its end is not kept. */
const CUT_MARGIN = 1_000;

/** Redacted, then shortened: the other way round, half a secret could stay behind. */
export function keptText(text: string, redact: Redact): string {
  const isCut = text.length > MAX_REDACTED_LENGTH;
  const redacted = withoutHidden(redact(isCut ? cut(text, MAX_REDACTED_LENGTH) : text), redact).trim();
  const safeLength = isCut ? Math.max(0, redacted.length - CUT_MARGIN) : redacted.length;
  const isShortened = isCut || redacted.length > MAX_TEXT_LENGTH;
  return isShortened ? ownCopy(`${cut(redacted, Math.min(MAX_TEXT_LENGTH, safeLength))} …`) : redacted;
}

/** A part of a string keeps the whole of it in memory: megabytes for a line of a prompt. */
export const ownCopy = (text: string) => Buffer.from(text).toString();

/**
 * Without escape sequences, since no page would show them, and nothing may be sent that was not shown. They may have told
 * that something is a secret, and may have cut one in two: so a text that had some is redacted before and after.
 */
function withoutHidden(text: string, redact: Redact): string {
  const shown = withoutEscapes(text);
  return shown === text ? text : redact(shown);
}

/** Never through the middle of a character. */
function cut(text: string, length: number): string {
  const isPair = length < text.length && /[\ud800-\udbff]/.test(text.charAt(length - 1));
  return text.slice(0, isPair ? length - 1 : length);
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** A name on one line: a branch, a session, a skill. */
export function keptName(name: string, redact: Redact): string {
  const line = cut(name, MAX_NAME_LENGTH).replace(INVISIBLE, ' ').trim();
  return redact(line);
}

/** A path with its home, for comparing, and without secrets all the same. Longer ones no system has. */
export const realPath = (path: string) => redactSecrets(ownCopy(cut(path, 4_096)));

/** A path, `~/…` below the home and `~[user]/…` below that of somebody else. For people; never to be opened. */
export function keptPath(path: string, { home }: { readonly home: string }, redact: Redact): string {
  const flat = keptName(path, (text) => text).replace(/(?<=[^\\/]|^[\\/])[\\/]+$/, '');
  const root = home.replace(/(?<![\\/])[\\/]+$/, '');
  const isBelow = root !== '' && flat.startsWith(root) && /^(?:[\\/]|$)/.test(flat.slice(root.length));
  if (isBelow) return redact(`~${flat.slice(root.length).replaceAll('\\', '/')}`);
  return redact(flat).replace(/^~(?=$|[\\/])/, flat.startsWith('~') ? '~' : '~[user]'); // `~` alone would be mine
}
