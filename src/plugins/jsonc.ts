import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../core/text/index.ts';

const TOKEN = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|[{}[\],:]|[^\s{}[\],:"/]+/g;

type Token = { readonly text: string; readonly end: number };

/** Without comments. */
const tokensOf = (text: string): Token[] =>
  [...text.matchAll(TOKEN)]
    .filter(([token]) => !/^\/[/*]/.test(token))
    .map((match) => ({ text: match[0], end: match.index + match[0].length }));

/** JSON with comments and commas at ends. Throws for other text. */
export function parseJsonc(text: string): unknown {
  const tokens = tokensOf(text.replace(/^\uFEFF/, '')).map((token) => token.text);
  const plain = tokens.filter((token, at) => token !== ',' || !/^[}\]]$/.test(tokens[at + 1] ?? ''));
  return JSON.parse(plain.join(' '));
}

export type Insertion = { readonly text: string; readonly inserted: string };

/**
 * Inserts `parent.key` as the first member of `parent`, and `parent` as the first member of the whole where it is missing. Not a
 * byte of the rest changes. Undefined if the text is no such object, or holds the key already.
 */
export function insertKey(
  text: string,
  [parent, key]: readonly [string, string],
  value: unknown,
): Insertion | undefined {
  const tokens = tokensOf(text);
  const place = tokens.findIndex(
    ({ text: token }, at) =>
      token === JSON.stringify(parent) && depthAt(tokens, at) === 1 && tokens[at + 1]?.text === ':',
  );
  const open = place === -1 ? 0 : place + 2;
  if (tokens[open]?.text !== '{') return undefined;
  const member = `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  const whole = place === -1 ? `${JSON.stringify(parent)}: { ${member} }` : member;
  const inserted = `\n${place === -1 ? '  ' : '    '}${whole}${tokens[open + 1]?.text === '}' ? '' : ','}`;
  const at = tokens[open]!.end;
  const after = text.slice(0, at) + inserted + text.slice(at);
  return isSameBut(text, after, [parent, key], value) ? { text: after, inserted } : undefined;
}

/** How many objects and lists are open before a token. */
const depthAt = (tokens: readonly Token[], at: number) =>
  tokens.slice(0, at).reduce((depth, { text }) => depth + (/^[{[]$/.test(text) ? 1 : /^[}\]]$/.test(text) ? -1 : 0), 0);

/** The scanner is ours, so what came out is compared as data. */
function isSameBut(before: string, after: string, [parent, key]: readonly [string, string], value: unknown): boolean {
  const [old, now] = [parseJsonc(before), parseJsonc(after)];
  if (!isObject(old) || !isObject(now)) return false;
  const members = isObject(old[parent]) ? old[parent] : {};
  if (Object.hasOwn(members, key)) return false;
  return isDeepStrictEqual(now, { ...old, [parent]: { ...members, [key]: value } });
}
