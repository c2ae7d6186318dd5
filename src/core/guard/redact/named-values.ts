import {
  credentialOf,
  credentialWords,
  isPlain,
  LETTER,
  mayHoldAtCredential,
  PASSWORD_WORDS,
} from './credential-names.ts';
import { isCookie } from './headers.ts';
import { lowered, matchesAt, type Rule } from './rule.ts';
import { hidesBehind, hideValues, isSecretValue, type Judgement, SECRET } from './secret-value.ts';

/** A name does not start inside a word, so that a long word is searched once. */
const START = `(?<![${LETTER}$.-])`;
const NAME = `((?!\\d)[${LETTER}$@.][${LETTER}.$-]{0,127})`;

/** What may stand between a name and what parts it from its value. */
const NAME_END = `(?:\\\\*["'\`])?[\\])]?[?!]?(?:\\*\\*|__)?[ \\t]{0,20}`;
/** `name = `, `"name": `, `['name'] => `, `**Name:** `, `| name | `, `<name>`, `("NAME", `, `setName(`. */
const ASSIGNED = new RegExp(
  `${START}${NAME}(${NAME_END}(?::=|=>|->|[=:：＝]{1,3}|\\||>|,(?=[ \\t]*\\\\*["'\`])|\\((?=\\\\*["'\`]))(?:\\*\\*|__)?[ \\t]{0,20})`,
  'g',
);
/** `- name: DB_PASSWORD` and on the next line `value: …`; `key="ApiKey" value="…"`. */
const PAIR =
  /(?<![\w$.-])(?:name|key|id|variable|header)\\*["']?[ \t]{0,8}[=:][ \t]{0,8}\\*["']?([\w.][\w.-]{0,127})\\*["']?[,;]?\s{0,40}\\*["']?(?:value|default|secret)\\*["']?[ \t]{0,8}[=:][ \t]{0,8}/gi;
const FLAG = /(?<![\w-])--?([A-Za-z][\w.-]{0,60})(?:[ \t]*=[ \t]*|[ \t]+(?:\\\r?\n[ \t]*)?)(?![-|&;<>\s])/g;
/** `setx NAME …`, `set -gx NAME …`, `aws configure set NAME …`, `npm config set …:_authToken …`. */
const COMMAND =
  /(?<![\w-])(?:setx|set(?:env)?(?:[ \t]+-[a-zA-Z]{1,6})?|config[ \t]+(?:set|add|-g)|configure[ \t]+set|put|add|create|update|upsert)[ \t]+["']?([A-Za-z_/][\w.:/-]{0,127})["']?[ \t]+(?![-|&;<>=\s])/gi;

/** Functions that ask for a secret or test one have a label as argument, not the secret. */
const ASKS =
  /^(?:get|read|ask|prompt|input|validate|check|is|has|fetch|find|require|hash|verify|resolve|load|use|forgot|reset|with_?message)/i;

const ASSIGN = `${NAME_END}-?(?:[=:：＝|>]|,(?=[ \\t]*\\\\*["'\`])|\\((?=\\\\*["'\`]))`;
/** The rest of a name, from a word for a credential on. Words of other scripts count by their letters. */
const ASSIGNED_HERE = new RegExp(`[${LETTER}.$-]{1,40}(?![${LETTER}.$-])${ASSIGN}`, 'y');
const ASSIGNED_TO_OTHERS = new RegExp(`[^\\0-ÿ][${LETTER}.$-]{0,24}${ASSIGN}`);
const MAY_PAIR = /[=:](?<=(?:value|default|secret)\\*["']?[ \t]{0,8}.)/i;
const IN_FLAG = /(?<=(?<![\w-])--?(?:[A-Za-z][\w.-]{0,60})?)/y;
/** The verb of a command, and the beginning of a name. */
const BEHIND_VERB = new RegExp(
  `(?<=${COMMAND.source.slice(0, COMMAND.source.indexOf('([A-Za-z_/]'))}(?:[A-Za-z_/][\\w.:/-]{0,127})?)`,
  'iy',
);

const SIGNS_OF_NAME = [ASSIGNED_HERE, IN_FLAG, BEHIND_VERB];

export const namedValues: Rule = {
  may: (text) =>
    mayHoldAtCredential(text, (at) => SIGNS_OF_NAME.some((sign) => matchesAt(sign, text, at))) ||
    MAY_PAIR.test(text) ||
    (!isPlain(text) && ASSIGNED_TO_OTHERS.test(text)),
  hide: hideNamedValues,
};

function hideNamedValues(text: string): string {
  const judgePair = (name: string): Judgement | undefined =>
    judgementOf(name) ?? (isCookie(name) ? { credential: 'perhaps' } : undefined);
  const pairs = hideValues(text, PAIR, ([, name]) => judgePair(name!));
  const assigned = hideValues(pairs, ASSIGNED, (match) => judgeAssigned(pairs, match));
  const flags = hideValues(assigned, FLAG, ([, name]) => judgementOf(name!.replace(/^[a-z](?=[A-Z])/, '')));
  return hideValues(flags, COMMAND, ([, name]) => judgementOf(name!));
}

const judgementOf = (name: string): Judgement | undefined => {
  const credential = credentialOf(name);
  return credential && { credential };
};

function judgeAssigned(text: string, match: RegExpExecArray): Judgement | undefined {
  const [, written, between] = match as unknown as [string, string, string];
  const before = text[match.index - 1] ?? '';
  const after = text[match.index + match[0].length] ?? '';
  // The first letter of a name may belong to the `\n` before it.
  const name = before === '\\' && /^[nrt]/.test(written) ? written.slice(1) : written;
  const credential = name === 'PWD' && before === ';' ? 'password' : credentialOf(name);
  if (credential === undefined || text.startsWith('${', match.index - 2)) return undefined;
  // The quote after `'password:'` ends a label.
  if (/["'`]/.test(before) && after === before && !/["'`]/.test(between)) return undefined;
  const separator = between.trim().at(-1);
  if (separator === '>' && !/[=-]/.test(between)) {
    return before === '<' || /["']/.test(between) ? { credential, isElement: true } : undefined;
  }
  if (separator === ',' && !/["'`]/.test(between)) return undefined;
  if (separator === '(' && ASKS.test(name)) return undefined;
  if (separator === '(' || separator === ',') {
    return { credential: credential === 'perhaps' ? credential : 'told', isArgument: true };
  }
  if (separator === '|' && !isCell(before, between, after)) return undefined;
  return { credential, isShell: between === '=' && /^[A-Z][A-Z0-9_]*$/.test(name) };
}

/** A cell of a table, with another after it that is not the end of the row. */
const isCell = (before: string, between: string, after: string) =>
  between.includes(' ') && /[ |]/.test(before) && /[^\\|\s-]/.test(after);

const KEYS =
  '(?:api|access|secret|auth|private)[ _-]?(?:key|token)|token|secret(?!\\])|schl[uü]ssel|clave|clé|chiave|chave|ключ|токен|密钥|令牌|キー|トークン|토큰|pwd?';
const WORDS = `(?:${PASSWORD_WORDS}|${KEYS})`;
const LINK =
  '(?:is|was|be|to|now|still|=+|:|：|->|→|ist|lautet|war|es|era|est|était|è|é|это|jest|je|on|är|er|là|adalah|は|が|是|为|為|은|는|이|—|–)';

/** A word for a credential, and its value right after it. */
const NEAR = new RegExp(`${WORDS}["'\`*)]{0,3}[ \\t]{1,4}(?=\\S)`, 'g');
/** The same with up to forty letters between them: «the password for staging is …». */
const LINKED = new RegExp(
  `${WORDS}(?![${LETTER}-])[^\\n.!?;"'\`]{0,40}?(?:[ \\t]${LINK}[ \\t]{1,4}|[:：][ \\t]{1,4})(?:${LINK}[ \\t]{1,4})?(?=\\S)`,
  'g',
);
/** Languages that write no space between words. */
const TIGHT =
  /(?:密码|密碼|口令|パスワード|パスフレーズ|비밀번호|암호|密钥|令牌|トークン|토큰)[\u3040-\u9fff\uac00-\ud7a3]{0,12}[\s：:「『“"'`=]{0,4}(?=[!-~])/g;

const OF_PASSWORD = new RegExp(`^(?:${PASSWORD_WORDS}|pwd?)`);
const INSIDE_A_WORD = new RegExp(`[${LETTER}.]$`);

const [NEAR_HERE, LINKED_HERE] = [new RegExp(NEAR, 'y'), new RegExp(LINKED, 'y')];
const MAY_BE_TIGHT = new RegExp(TIGHT, '');

/** «The password is …», «token …». */
export const spokenValues: Rule = {
  may(text) {
    const where = { places: credentialWords(text), searched: lowered(text) };
    return (
      hidesBehind(text, LINKED_HERE, judgeLinked, where) ||
      hidesBehind(text, NEAR_HERE, judgeNear, where) ||
      MAY_BE_TIGHT.test(text)
    );
  },
  hide(text) {
    const tight = hideValues(text, TIGHT, tellsPassword);
    const told = hideValues(tight, LINKED, judgeLinked, lowered(tight));
    return hideValues(told, NEAR, judgeNear, lowered(told));
  },
};

const judgeLinked = (match: RegExpExecArray) => (isInsideAWord(match) ? undefined : tellsPassword(match));
const judgeNear = (match: RegExpExecArray) => (isInsideAWord(match) ? undefined : ({ credential: 'spoken' } as const));

const isInsideAWord = ({ input, index }: RegExpExecArray) =>
  index > 0 && input[index - 2] !== '\\' && INSIDE_A_WORD.test(input[index - 1]!);

/** A quoted value is a password even if it is a word; so is what follows «lautet». */
const tellsPassword = ({ 0: lead, index, input }: RegExpExecArray): Judgement => ({
  credential:
    OF_PASSWORD.test(lead) && (/ lautet\W*$/.test(lead) || /["'`“„«「]/.test(input[index + lead.length] ?? ''))
      ? 'password'
      : 'told',
});

const DIVIDERS = ['|', '\t', ',', ';'] as const;
const [LONGEST_HEAD, MOST_CELLS] = [400, 30];

const LINE_ENDS = /(\r?\n|(?:\\{1,8}r)?\\{1,8}n)/;
/** A cheap test: only a line with one of these may be a head. */
const TELLING = new RegExp(`${PASSWORD_WORDS}|pass|pwd?|mdp|pin|token|secret|key|auth|cred`);

type Table = { readonly divider: string; readonly count: number; readonly columns: ReadonlySet<number> };

/** Cells of tables (Markdown, tabs, commas) below a head such as `password`. */
export const tableCells: Rule = {
  may: (text) => /\n|\\n/.test(text) && mayHoldAtCredential(text, (at) => isInShortCell(text, at)),
  hide: hideTableCells,
};

/** From a word on: the rest of it, perhaps one more, and the edge of the cell. */
const END_OF_CELL = /[^\s|,;\\]{0,50}(?: [^\s|,;\\]{1,50})?[\s"'*`]{0,50}(?:[|,;\t\n\\]|$)/y;
const [LONGEST_CELL, CELL_EDGES, NO_WORD] = [100, '|\t,;\n\\', '|\t,;\n\\ "\'*`'];

/** Whether at most two words stand in the cell. A longer one is no head. */
function isInShortCell(text: string, at: number): boolean {
  if (!matchesAt(END_OF_CELL, text, at)) return false;
  let words = 1;
  for (let before = at - 1; before > 0 && before > at - LONGEST_CELL; before--) {
    if (CELL_EDGES.includes(text[before]!)) return true;
    if (text[before] === ' ' && !NO_WORD.includes(text[before - 1]!) && ++words > 2) return false;
  }
  return true;
}

function hideTableCells(text: string): string {
  let table: Table | undefined;
  const lines = text.split(LINE_ENDS); // every other one is what ends a line
  for (let at = 0; at < lines.length; at += 2) {
    const shown = table && hideRow(lines[at]!, table);
    if (shown === undefined) table = tableOf(lines[at]!);
    else lines[at] = shown;
  }
  return lines.join('');
}

function tableOf(line: string): Table | undefined {
  if (line.length > LONGEST_HEAD || !/[|\t,;]/.test(line) || !TELLING.test(line.toLowerCase())) return undefined;
  for (const divider of DIVIDERS) {
    const cells = line.split(divider).map((cell) => cell.trim().replace(/^["'*`]+|(?<!["'*`])["'*`]+$/g, ''));
    if (cells.length < 2 || cells.length > MOST_CELLS || !isHeadRow(cells, divider)) continue;
    const columns = new Set([...cells.keys()].filter((at) => isCredentialCell(cells[at]!)));
    if (columns.size > 0) return { divider, count: cells.length, columns };
  }
  return undefined;
}

/** Anything may come before the first and after the last `|`. */
const isHeadRow = (cells: readonly string[], divider: string) =>
  (divider === '|' && cells.length > 3 ? cells.slice(1, -1) : cells).every(isHead) && cells.filter(Boolean).length > 1;
const isHead = (cell: string) => /^(?:[\p{L}_][\p{L}\p{N}_ .-]{0,40})?$/u.test(cell);
/** One or two words: «condition to pass» is no password. */
const isCredentialCell = (cell: string) =>
  /^\S+(?: \S+)?$/.test(cell) && ['password', 'key'].includes(credentialOf(cell.replace(/ /g, '_')) ?? '');

/** `undefined`: the line is no row of the table. Only cells that may be hidden are cut out, for speed. */
function hideRow(line: string, { divider, count, columns }: Table): string | undefined {
  let [shown, kept] = ['', 0];
  for (let at = 0, start = 0; at < count; at++) {
    const next = line.indexOf(divider, start);
    if ((next === -1) !== (at === count - 1)) return undefined;
    const end = next === -1 ? line.length : next;
    if (columns.has(at)) {
      shown += line.slice(kept, start) + hideCell(line.slice(start, end));
      kept = end;
    }
    start = end + 1;
  }
  return shown + line.slice(kept);
}

function hideCell(cell: string): string {
  if (cell === SECRET) return cell; // hidden by an earlier pass
  const value = cell.trim().replace(/^["'`]|["'`]$/g, '');
  if (/^:?-+:?$|\s|^.{0,3}$/.test(value)) return cell;
  const isSecret = isSecretValue(value, 'password', { isQuoted: true, isShell: false });
  return isSecret ? cell.replace(value, () => SECRET) : cell;
}
