import type { Credential } from './credential-names.ts';
import { isSecretValue, SECRET } from './secret-value.ts';

/** From where to where a value reaches, without its quotes. */
type Extent = { readonly from: number; readonly to: number; readonly isQuoted: boolean };

/** What a lead that was found says of the value behind it. */
export type Judgement = {
  readonly credential: Credential;
  readonly isShell?: boolean;
  readonly isElement?: boolean;
  readonly isArgument?: boolean;
};

/**
 * Hides the values behind what `lead` finds, where `judge` says that they are credentials and they look like it. `searched` is
 * the text in another spelling of the same length.
 */
export function hideValues(
  text: string,
  lead: RegExp,
  judge: (match: RegExpExecArray) => Judgement | undefined,
  searched = text,
): string {
  const pieces: string[] = [];
  let done = 0;
  lead.lastIndex = 0;
  for (let match = lead.exec(searched); match !== null; match = lead.exec(searched)) {
    const start = lead.lastIndex;
    const judgement = judge(match);
    const extent = judgement && readValue(text, start, judgement);
    if (extent === undefined || !isSecret(text, extent, judgement!)) continue;
    const mark = needsQuotes(text, match[0], extent) ? `"${SECRET}"` : SECRET;
    pieces.push(text.slice(done, extent.from), mark);
    done = extent.isQuoted ? extent.to : endOfWord(text, extent);
    lead.lastIndex = Math.max(done, start);
  }
  return done === 0 ? text : pieces.join('') + text.slice(done);
}

function isSecret(text: string, { from, to, isQuoted }: Extent, judgement: Judgement): boolean {
  const { credential, isShell = false, isArgument = false } = judgement;
  if (to <= from || (!isQuoted && !isShell && isSentence(text, from, to))) return false;
  return isSecretValue(text.slice(from, to), credential, { isQuoted: isQuoted && !isArgument, isShell });
}

const ONE_WORD = /^\p{L}+$/u;
const MORE_WORDS = /[ \t]+\p{L}+,?[ \t]+[\p{L}\d]/uy;

/** «Password: must contain at least» is a sentence; two words may still be a password and what is said of it. */
const isSentence = (text: string, from: number, to: number) =>
  lengthOf(MORE_WORDS, text, to) > 0 && ONE_WORD.test(text.slice(from, to));

const JSON_NAME = /(?<!\\)"\s*:\s*$/;
const JSON_WORD = /^-?[\w.+-]+$/;

/** JSON stays JSON: a number or a word behind a quoted name becomes a text. */
const needsQuotes = (text: string, lead: string, { from, to, isQuoted }: Extent) =>
  !isQuoted && JSON_NAME.test(lead) && JSON_WORD.test(text.slice(from, to));

const OPENING = /(\\{0,15})(["'`“”‘’„«「])/y;
const BLOCK_HEAD = /[|>][+-]?\d?[ \t]{0,20}\r?\n/y;
const BRACED = /\{(?![A-Za-z_.-]+\})[^\s{}"':]{1,200}\}/y;
const ELEMENT = /[^<]{1,4000}/y;

function readValue(text: string, start: number, { isElement = false, isShell = false }: Judgement): Extent | undefined {
  if (isElement) return between(text, start, start + lengthOf(ELEMENT, text, start));
  OPENING.lastIndex = start;
  const quote = OPENING.exec(text);
  if (quote) return quoted(text, start + quote[0].length, quote[2]!, quote[1]!.length);
  if (lengthOf(BLOCK_HEAD, text, start) > 0) return block(text, start + lengthOf(BLOCK_HEAD, text, start));
  const braced = lengthOf(BRACED, text, start);
  if (braced > 0) return { from: start + 1, to: start + braced - 1, isQuoted: true };
  return !isShell && /[([{]/.test(text[start] ?? '') ? undefined : bareWord(text, start); // code does not need to be read
}

/** What stands between two tags. */
const between = (text: string, from: number, to: number): Extent | undefined =>
  text.startsWith('</', to) ? { from, to, isQuoted: true } : undefined;

const CLOSING: Readonly<Record<string, string>> = { '“': '”', '‘': '’', '„': '“', '«': '»', '「': '」' };
/** What is judged of a quoted text; what is hidden may be longer. */
const MOST = 400;
const REST_OF_QUOTED = /[^\n"'`]*/y;
const ESCAPED_LINE_END = /(?<!\\)\\+[nr](?![a-z])|\r|$/;

/** Up to the quote that ends it, which has as many backslashes as the first; else to the end of the line. */
function quoted(text: string, from: number, opening: string, slashes: number): Extent {
  const piece = text.slice(from, from + MOST);
  const lineEnd = piece.indexOf('\n');
  const line = lineEnd === -1 ? piece : piece.slice(0, lineEnd);
  const closing = CLOSING[opening] ?? opening;
  for (let at = line.indexOf(closing); at !== -1; at = line.indexOf(closing, at + 1)) {
    const before = slashesBefore(line, at);
    if (before % (2 * (slashes + 1)) <= slashes) {
      return { from, to: from + at - Math.min(before, slashes), isQuoted: true };
    }
  }
  const end = line.length === MOST ? MOST + lengthOf(REST_OF_QUOTED, text, from + MOST) : line.search(ESCAPED_LINE_END);
  return { from, to: from + end, isQuoted: true };
}

function slashesBefore(text: string, at: number): number {
  let start = at;
  while (start > 0 && text[start - 1] === '\\') start--;
  return at - start;
}

const INDENTED_LINES = /(?:[ \t]+[^\n]{0,1000}(?:\n|$)){1,40}/y;

/** The lines of a YAML block: those that are indented, up to the first that is not. */
function block(text: string, start: number): Extent {
  const lines = text.slice(start, start + lengthOf(INDENTED_LINES, text, start));
  const from = start + (lines.length - lines.trimStart().length);
  return { from, to: Math.max(from, start + lines.trimEnd().length), isQuoted: true };
}

/** Up to a space, and to the next pair in a query, a list or a connection string. */
const WORD =
  /(?:[^\s"'`<>\\;&,]|[;&,](?![ \t]*[A-Za-z_][\w .-]{0,40}[=:])|\\(?!\\{0,8}["'`])(?!\\{0,8}[nr](?:[\s"'#}-]|$|[\w.-]{1,60}[ \t]*[=:]))|["'`](?=[\w!@#$%^&*+-])){1,120}/y;
/** What is judged is the beginning of a very long word; what is hidden is all of it. */
const REST_OF_WORD = /[^\s"'`<>\\]*/y;
const TRAILING = ',;.)]}:';

function bareWord(text: string, from: number): Extent {
  let to = from + lengthOf(WORD, text, from);
  while (to > from && TRAILING.includes(text[to - 1]!) && !text.startsWith(SECRET, to - SECRET.length)) to--;
  return { from, to, isQuoted: false };
}

const endOfWord = (text: string, { from, to }: Extent) =>
  to - from < 100 ? to : to + lengthOf(REST_OF_WORD, text, to);

function lengthOf(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex - at : 0;
}
