import { type Credential, PASSWORD_WORDS } from './credential-names.ts';

export const SECRET = '[secret]';

/** How a value is written: quoted text is no code, and neither is anything in `NAME=value` of a shell. */
type ValueForm = { readonly isQuoted: boolean; readonly isShell: boolean };

/** A value that is still to be filled in, or is hidden already. */
const PLACEHOLDER =
  /^(?:\[secret\]|\[email\]|\(secret\)|\(hidden [0-9a-f]{12}\)|<[^<>]*>|\[[A-Za-z _-]+\]|\{\{[^{}]*\}\}|[.…*•xX?#_-]{3,}|)$|x{4}|X{4}|\$\{|\*{3}|\.{3}|…|•{3}|\byours?\b|(?:^|[_-])(?:your|my|the|some)[_-](?:\w+[_-])*(?:key|token|secret|password|value|id)\b|YOUR[_-]|example|EXAMPLE|placeholder|PLACEHOLDER|redacted|REDACTED|change[_-]?me|CHANGE[_-]?ME|replace[_-]?(?:me|with)|REPLACE[_-]|insert[_-]|dummy|\bTODO\b|\bFIXME\b/;

export const isPlaceholder = (value: string) => PLACEHOLDER.test(value.slice(0, 500));

const REFERENCE =
  /^(?:\$[A-Za-z_({]|%[A-Za-z_]\w*%$|\{\{|\{[A-Za-z_.]+\}$|#\{|@[A-Za-z]|!(?:Ref|Sub|GetAtt|vault|env)\b|(?:vault|op|ref\+|secretref|keyring|ssm|awssm|gcpsm|file|env):|arn:|secrets\.|projects\/|\/(?:run|etc|var|path|dev|home|usr|opt|tmp)\/|~\/|\.{1,2}\/|https?:\/\/[^\s:@]*$)/;

/** Code that computes the value: a call, a member, an index, a template, a type. */
const CODE =
  /^(?:\/[*/]|(?:await|new|typeof|function|async|lambda|return|func|fn|let|const|var|if|not|class)\b|[&*]?[A-Za-z_$]+(?:(?:\??\.|::|->)[A-Za-z_$]+\d{0,3})+(?:[^\w.@-]|$)|[A-Za-z_$]{1,3}[}\])]|[A-Za-z_$][\w$.:]*(?:\(.{0,200}\)?|\[.{0,200}\]?|<.{0,200}>?)[;,)]*$|[A-Za-z_$][\w$.]*\($|\(|\[|\{|`\$\{|=>|\|\||&&|\?\?|!!?[A-Za-z]|\*+$|&str|\|$)/;
const WORDS_OF_CODE =
  /^(?:string|str|text|number|int|integer|float|bool|boolean|any|unknown|never|void|object|array|list|dict|map|bytes?|char|varchar|secretstr|secretstring|optional|null|nil|none|undefined|nan|true|false|yes|no|on|off|required|optional|nullable|hidden|default|auto|self|this|super|value|values|val|input|field|type|column|name|key|data|result|response|request|req|res|args?|param|params|props|state|config|cfg|settings|options|opts|env|ctx|event|error|err|e|x|y|s|t|i|k|v|p|token|secret|password|passwd|pwd|pass|credential|credentials|encrypted|hashed|hash|bcrypt|plain|plaintext|basic|bearer|oauth2?|jwt|saml|disabled|enabled|missing|invalid|expired|wrong|incorrect|empty|unset|set|changed|reset|correct|valid|ok|failed)$/i;

/** Labels and their translations are no passwords. */
const LABEL = new RegExp(`${PASSWORD_WORDS}|token|secret|api[ -]?key|passe|clave|credential`, 'iu');
const SENTENCE = /^[\p{L}\p{M}'’(][\p{L}\p{M}\p{N}'’"“”().,:;!?/% -]*$/u;

export function isSecretValue(value: string, credential: Credential, written: ValueForm): boolean {
  if (value === SECRET) return false;
  const text = value.slice(0, 500).trim();
  if (!isPossible(text, credential, written)) return false; // first what is cheap: most words are none
  if (isPlaceholder(text) || REFERENCE.test(text)) return false;
  if (!written.isQuoted && !written.isShell && (CODE.test(text) || isIdentifier(text))) return false;
  return !isLabel(text, written);
}

function isPossible(text: string, credential: Credential, written: ValueForm): boolean {
  if (credential === 'password') return isPassword(text, written);
  if (credential === 'told') return isSpoken(text, 4);
  if (credential === 'spoken') return isSpoken(text, 6);
  if (credential === 'heard') return isSpoken(text, 8) && looksChosen(text);
  return credential === 'key' ? isDense(text) : looksRandom(text);
}

/** Numbers, versions, file names, calls, and words with a dash or a slash between them. */
const PLAIN_FIGURE =
  /^(?:0x[\da-f]{1,8}|[\d.,:%/+-]+[a-z%]{0,3}|v?\d+(?:\.\d+)+[\w.-]*|[\w-]+(?:\.[a-z]{1,5})+|[\w.-]+[(/].*|(?:\p{L}+\d*|\d+\p{Ll}{0,2})(?:[/|&-](?:\p{L}+\d*|\d+\p{Ll}{0,2}))+|[([{].*)$/u;

/** In a sentence a value differs from a word by digits and signs, or by its length. */
function isSpoken(text: string, least: number): boolean {
  if (text.length < least || /[\s|]|^[^\p{L}\p{N}!@#$%&*+.-]/u.test(text)) return false;
  if (/^[\p{L}'’-]+$/u.test(text)) return /^[A-Za-z]{16,}$|[a-z][A-Za-z]{0,30}[A-Z][a-z]?[A-Z]|-[A-Z]{4,}$/.test(text);
  if (PLAIN_FIGURE.test(text)) return false;
  return /\d/.test(text) ? /[\p{L}\p{S}\p{P}]/u.test(text) : /[!@#$%^&*+=~?]/.test(text.slice(0, -1));
}

/** Small and capital letters and digits change more often than in a name with a number at its end. */
const looksChosen = (text: string) =>
  (text.match(/[a-z]+|[A-Z]+|\d+/g) ?? []).length >= 3 && /\d\D*\d/.test(text) && !/^[a-z]+(?:_[a-z\d]+)+$/i.test(text);

/** Letters alone, in more than one word: `hashedPassword`, `auth_token`. */
function isIdentifier(text: string): boolean {
  if (!/^[A-Za-z]+(?:[a-z][A-Z][A-Za-z]*|_[A-Za-z_]+)[;,)]*$/.test(text)) return false;
  const parts = text.split(/_|(?<=[a-z])(?=[A-Z])/).slice(1);
  return parts.filter((part) => part.length < 3).length < 2; // words are longer than what dice make
}

function isLabel(text: string, { isQuoted, isShell }: ValueForm): boolean {
  if ((text.length > 1 || !(isQuoted || isShell)) && WORDS_OF_CODE.test(text.replace(/(?<![;,)?!])[;,)?!]+$/, '')))
    return true;
  if (isShell || /\d/.test(text)) return false;
  return SENTENCE.test(text) && LABEL.test(text) && (/\s/.test(text) || isWord(text));
}

const WORDS = new Set(PASSWORD_WORDS.split('|'));
const isWord = (text: string) => WORDS.has(text.toLowerCase().replace(/(?<![:*.!?])[:*.!?]+$/, ''));

function isPassword(text: string, { isQuoted, isShell }: ValueForm): boolean {
  if (/^(?:\d{1,3}|0x[\da-f]{1,8})$/i.test(text) && !isQuoted) return false;
  if (/\s/.test(text) && /[.?!]$/.test(text) && SENTENCE.test(text)) return false;
  return isQuoted || isShell || text.length >= 4;
}

/** Six characters with a digit or a sign among them, or a word that is too long. */
function isDense(text: string): boolean {
  if (text.length < 6 || /\s/.test(text) || /^[\d.,:/-]{1,12}$/.test(text)) return false;
  if (/^[\w-]+(?:\.[\w-]+)*\.(?:json|ya?ml|txt|pem|key|ts|js|py|env|toml|md|go|rs|rb|sh|html?|css)$/i.test(text))
    return false;
  if (/^[a-z]+(?:[-_.:/ ][a-z]+)*$/i.test(text)) return text.length >= 16 && !/[-_.:/ ]|[a-z][A-Z]/.test(text);
  return true;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export function looksRandom(text: string): boolean {
  if (text.length < 16 || /\s/.test(text) || UUID.test(text) || ULID.test(text)) return false;
  const runs = text.match(/[a-z]+|[A-Z]+|\d+/g) ?? [];
  return /\d/.test(text) && /[A-Za-z]/.test(text) && runs.length >= text.length / 3;
}

type Extent = { readonly from: number; readonly to: number; readonly isQuoted: boolean };

/** What the text before a value says about it. */
export type Judgement = {
  readonly credential: Credential;
  readonly isShell?: boolean;
  readonly isElement?: boolean;
  readonly isArgument?: boolean;
};

/**
 * Hides the values after what `lead` finds, if `judge` calls them credentials and they look like it. `searched` is
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
    const extent = findSecret(text, start, judge(match));
    if (extent === undefined) continue;
    const mark = needsQuotes(text, match[0], extent) ? `"${SECRET}"` : SECRET;
    pieces.push(text.slice(done, extent.from), mark);
    done = extent.isQuoted ? extent.to : endOfWord(text, extent);
    lead.lastIndex = Math.max(done, start);
  }
  return done === 0 ? text : pieces.join('') + text.slice(done);
}

/** Whether `hideValues` may hide something after a lead that begins at one of the places. `lead` is sticky. */
export const hidesBehind = (
  text: string,
  lead: RegExp,
  judge: (match: RegExpExecArray) => Judgement | undefined,
  { places, searched = text }: { readonly places: readonly number[]; readonly searched?: string },
): boolean =>
  places.some((place) => {
    lead.lastIndex = place;
    const match = lead.exec(searched);
    return match !== null && findSecret(text, lead.lastIndex, judge(match)) !== undefined;
  });

function findSecret(text: string, start: number, judgement: Judgement | undefined): Extent | undefined {
  const extent = judgement && readValue(text, start, judgement);
  return extent !== undefined && isSecret(text, extent, judgement!) ? extent : undefined;
}

function isSecret(text: string, { from, to, isQuoted }: Extent, judgement: Judgement): boolean {
  const { credential, isShell = false, isArgument = false } = judgement;
  if (to <= from || (!isQuoted && !isShell && isSentence(text, from, to))) return false;
  return isSecretValue(text.slice(from, to), credential, { isQuoted: isQuoted && !isArgument, isShell });
}

const ONE_WORD = /^\p{L}+$/u;
const MORE_WORDS = /[ \t]+\p{L}+,?[ \t]+[\p{L}\d]/uy;

/** «Password: must contain at least» is a sentence. Two words may be a password and a remark. */
const isSentence = (text: string, from: number, to: number) =>
  lengthOf(MORE_WORDS, text, to) > 0 && ONE_WORD.test(text.slice(from, to));

const JSON_NAME = /(?<!\\)"\s*:\s*$/;
const JSON_WORD = /^-?[\w.+-]+$/;

/** JSON stays JSON: after a quoted name, the mark needs quotes. */
const needsQuotes = (text: string, lead: string, { from, to, isQuoted }: Extent) =>
  !isQuoted && JSON_NAME.test(lead) && JSON_WORD.test(text.slice(from, to));

const OPENING = /(\\{0,15})(["'`“”‘’„«「])/y;
const BLOCK_HEAD = /[|>][+-]?\d?[ \t]{0,20}\r?\n/y;
const BRACED = /\{(?![A-Za-z_.-]+\})[^\s{}"':]{1,200}\}/y;
const ELEMENT = /[^<]{1,4000}/y;

function readValue(text: string, start: number, { isElement = false, isShell = false }: Judgement): Extent | undefined {
  if (isElement) {
    const to = start + lengthOf(ELEMENT, text, start);
    return text.startsWith('</', to) ? { from: start, to, isQuoted: true } : undefined;
  }
  OPENING.lastIndex = start;
  const quote = OPENING.exec(text);
  if (quote) return quoted(text, start + quote[0].length, quote[2]!, quote[1]!.length);
  const head = lengthOf(BLOCK_HEAD, text, start);
  if (head > 0) return block(text, start + head);
  const braced = lengthOf(BRACED, text, start);
  if (braced > 0) return { from: start + 1, to: start + braced - 1, isQuoted: true };
  return !isShell && /[([{]/.test(text[start] ?? '') ? undefined : bareWord(text, start); // code does not need to be read
}

const CLOSING: Readonly<Record<string, string>> = { '“': '”', '‘': '’', '„': '“', '«': '»', '「': '」' };
/** The part of a quoted text that is judged; the hidden part may be longer. */
const MOST = 400;
const REST_OF_QUOTED = /[^\n"'`]*/y;
const ESCAPED_LINE_END = /(?<!\\)\\+[nr](?![a-z])|\r|$/;

/** Up to the closing quote, which has as many backslashes as the opening one; else to the end of the line. */
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

function block(text: string, start: number): Extent {
  const lines = text.slice(start, start + lengthOf(INDENTED_LINES, text, start));
  const from = start + (lines.length - lines.trimStart().length);
  return { from, to: Math.max(from, start + lines.trimEnd().length), isQuoted: true };
}

/** Up to a space, or to the next pair in a query, a list or a connection string. */
const WORD =
  /(?:[^\s"'`<>\\;&,]|[;&,](?![ \t]*[A-Za-z_][\w .-]{0,40}[=:])|\\(?!\\{0,8}["'`])(?!\\{0,8}[nr](?:[\s"'#}-]|$|[\w.-]{1,60}[ \t]*[=:]))|["'`](?=[\w!@#$%^&*+-])){1,120}/y;
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
