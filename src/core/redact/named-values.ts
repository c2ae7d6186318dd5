import { type Credential, credentialOf, LETTER } from './credential-names.ts';
import { isCookie } from './headers.ts';
import { hideValues, type Judgement } from './read-value.ts';

/** A name starts where no other word is, so that a long word is looked at once. */
const START = `(?<![${LETTER}$.-])`;
const NAME = `((?!\\d)[${LETTER}$@.][${LETTER}.$-]{0,127})`;

/** `name = `, `"name": `, `['name'] => `, `**Name:** `, `| name | `, `<name>`, `("NAME", `, `setName(`. */
const ASSIGNED = new RegExp(
  `${START}${NAME}((?:\\\\*["'\`])?[\\])]?[?!]?(?:\\*\\*|__)?[ \\t]{0,20}(?::=|=>|->|[=:：＝]{1,3}|\\||>|,(?=[ \\t]*\\\\*["'\`])|\\((?=\\\\*["'\`]))(?:\\*\\*|__)?[ \\t]{0,20})`,
  'g',
);
/** `- name: DB_PASSWORD` and on the next line `value: …`; `key="ApiKey" value="…"`. */
const PAIR =
  /(?<![\w$.-])(?:name|key|id|variable|header)\\*["']?[ \t]{0,8}[=:][ \t]{0,8}\\*["']?([\w.][\w.-]{0,127})\\*["']?[,;]?\s{0,40}\\*["']?(?:value|default|secret)\\*["']?[ \t]{0,8}[=:][ \t]{0,8}/gi;
/** What is given to a command by name. */
const FLAG = /(?<![\w-])--?([A-Za-z][\w.-]{0,60})(?:[ \t]*=[ \t]*|[ \t]+(?:\\\r?\n[ \t]*)?)(?![-|&;<>\s])/g;
/** `setx NAME …`, `set -gx NAME …`, `aws configure set NAME …`, `npm config set …:_authToken …`. */
const COMMAND =
  /(?<![\w-])(?:setx|set(?:env)?(?:[ \t]+-[a-zA-Z]{1,6})?|config[ \t]+(?:set|add|-g)|configure[ \t]+set|put|add|create|update|upsert)[ \t]+["']?([A-Za-z_/][\w.:/-]{0,127})["']?[ \t]+(?![-|&;<>=\s])/gi;

/** Functions that ask for a secret or test one get a label or a name, not the secret. */
const ASKS =
  /^(?:get|read|ask|prompt|input|validate|check|is|has|fetch|find|require|hash|verify|resolve|load|use|forgot|reset|with_?message)/i;

/** Values behind a name that speaks of a credential. */
export function hideNamedValues(text: string): string {
  const pairs = hideValues(
    text,
    PAIR,
    ([, name]) => judgementOf(name!) ?? (isCookie(name!) ? { credential: 'perhaps' } : undefined),
  );
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
  // The first letter of a name may belong to the `\n` before it.
  const name = before === '\\' && /^[nrt]/.test(written) ? written.slice(1) : written;
  const credential = name === 'PWD' && before === ';' ? 'password' : credentialOf(name);
  if (credential === undefined || text.startsWith('${', match.index - 2)) return undefined;
  // The quote behind `'password:'` ends a label.
  if (/["'`]/.test(before) && text[match.index + match[0].length] === before && !/["'`]/.test(between))
    return undefined;
  const separator = between.trim().at(-1);
  if (separator === '>' && !between.includes('=') && !between.includes('-'))
    return element(credential, before, between);
  if (separator === ',' && !/["'`]/.test(between)) return undefined;
  if (separator === '(' && ASKS.test(name)) return undefined;
  if (separator === '(' || separator === ',') {
    return { credential: credential === 'perhaps' ? credential : 'told', isArgument: true };
  }
  if (separator === '|' && !isCell(text, match, between)) return undefined;
  return { credential, isShell: between === '=' && /^[A-Z][A-Z0-9_]*$/.test(name) };
}

/** A cell of a table, with one behind it that is not the end of the row. */
function isCell(text: string, { index, 0: lead }: RegExpExecArray, between: string): boolean {
  return (
    between.includes(' ') && /[ |]/.test(text[index - 1] ?? '') && /[^\\|\s-]/.test(text[index + lead.length] ?? '')
  );
}

const element = (credential: Credential, before: string, between: string): Judgement | undefined =>
  before === '<' || /["']/.test(between) ? { credential, isElement: true } : undefined;
