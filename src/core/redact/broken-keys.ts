import { isKnownKey } from './known-keys.ts';
import { SECRET } from './secret-value.ts';

/** Words at the ends of up to six lines, each with another at the beginning of the next. */
const BROKEN = /(?<![\w.-])[\w.-]{4,160}(?:[ \t]{0,20}(?:\\?\r?\n|\\{1,4}n)[ \t]{0,20}[\w.-]{6,160}){1,5}(?![\w-])/g;
/** Also written out, as in JSON. */
const LINE_BREAK = /[ \t]{0,20}(?:\\?\r?\n|\\{1,4}n)[ \t]{0,20}/;

/** What every known key has in its beginning. */
const MAY_BEGIN = /[-_.]|A[A-Z]|eyJ/;

/** Keys that a terminal or an editor broke over several lines. */
export function hideBrokenKeys(text: string): string {
  if (!/\n|\\n/.test(text) || !MAY_BEGIN.test(text)) return text;
  return text.replace(BROKEN, (found) => {
    const parts = found.split(LINE_BREAK);
    const length = lengthOfKey(parts);
    if (length === 0) return found;
    const tail = found.split(new RegExp(`(${LINE_BREAK.source})`)).slice(2 * length - 1);
    return SECRET + tail.join('');
  });
}

/** How many of the parts are one key, from the first on; 0 when they are none. */
function lengthOfKey(parts: readonly string[]): number {
  let length = 0;
  for (let many = 2; many <= parts.length; many++) {
    if (!isContinuation(parts[many - 1]!)) break;
    if (isKnownKey(parts.slice(0, many).join(''))) length = many;
  }
  return length;
}

/** A word, or what begins a new line of code or a new sentence, has no such disorder. */
const isContinuation = (part: string) =>
  /\d/.test(part) &&
  /[A-Za-z]/.test(part) &&
  (part.match(/\d(?=[A-Za-z])|[A-Za-z](?=\d)|[a-z](?=[A-Z])/g)?.length ?? 0) >= 2;
