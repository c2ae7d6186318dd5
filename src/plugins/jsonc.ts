import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../core/text/index.ts';

const TOKEN = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|[{}[\],:]|[^\s{}[\],:"/]+/g;

type Token = { readonly text: string; readonly start: number; readonly end: number };

const isComment = (token: string) => /^\/[/*]/.test(token);

const commentsIn = (text: string): string[] => (text.match(TOKEN) ?? []).filter(isComment);

/** Without comments. */
const tokensOf = (text: string): Token[] =>
  [...text.matchAll(TOKEN)]
    .filter(([token]) => !isComment(token))
    .map((match) => ({ text: match[0], start: match.index, end: match.index + match[0].length }));

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

/** The value of `parent.key`. Throws for text that is no JSON with comments. */
export function valueIn(text: string, [parent, key]: readonly [string, string]): unknown {
  const whole = parseJsonc(text);
  const members = isObject(whole) ? whole[parent] : undefined;
  return isObject(members) && Object.hasOwn(members, key) ? members[key] : undefined;
}

/**
 * The text without `parent.key`, and without `parent` if it came with `inserted` and is empty now. As `inserted` stood in it, or by
 * cutting the member and its comma. Undefined if all else, comments included, would not stay as it is.
 */
export function removeKey(text: string, names: readonly [string, string], inserted: string): string | undefined {
  const parts = text.split(inserted);
  const withParent = cutMember(text, [names[0]]);
  const candidates = [
    ...(parts.length === 2 ? [parts.join('')] : []),
    ...(inserted.includes(JSON.stringify(names[0])) && withParent !== undefined ? [withParent] : []),
    cutMember(text, names),
  ];
  return candidates.find(
    (after) =>
      after !== undefined &&
      commasAtEnds(after) <= commasAtEnds(text) &&
      isDeepStrictEqual(commentsIn(after), commentsIn(text)) &&
      isSameWithout(text, after, names),
  );
}

/** The text without a member and the comma that belongs to it. */
function cutMember(text: string, names: readonly string[]): string | undefined {
  const tokens = tokensOf(text);
  const at = findMember(tokens, names);
  if (at === undefined) return undefined;
  const last = endOfValue(tokens, at + 2);
  const isFollowed = tokens[last + 1]?.text === ',';
  const before = tokens[at - 1]!;
  const from = tokens[at]!.start - /\s*$/.exec(text.slice(0, tokens[at]!.start))![0].length;
  const after = text.slice(isFollowed ? tokens[last + 1]!.end : tokens[last]!.end);
  if (isFollowed || before.text !== ',') return text.slice(0, from) + after;
  return text.slice(0, before.start) + text.slice(before.end, from) + after;
}

/** The token of the name at the end of a path. */
function findMember(tokens: readonly Token[], names: readonly string[]): number | undefined {
  let from = 0;
  for (const [level, name] of names.entries()) {
    const at = tokens.findIndex(
      ({ text }, index) =>
        index > from &&
        text === JSON.stringify(name) &&
        depthAt(tokens, index) === level + 1 &&
        tokens[index + 1]?.text === ':',
    );
    if (at === -1) return undefined;
    from = at;
  }
  return from;
}

/** The last token of the value that begins at a token. */
function endOfValue(tokens: readonly Token[], at: number): number {
  const depth = depthAt(tokens, at);
  if (!/^[{[]$/.test(tokens[at]?.text ?? '')) return at;
  return tokens.findIndex(
    ({ text }, index) => index > at && /^[}\]]$/.test(text) && depthAt(tokens, index) === depth + 1,
  );
}

/** Plain JSON must not get one. */
const commasAtEnds = (text: string) =>
  tokensOf(text).filter((token, at, tokens) => token.text === ',' && /^[}\]]$/.test(tokens[at + 1]?.text ?? '')).length;

/** Our member is gone, with its parent if that held nothing else, and everything else is the same. */
function isSameWithout(before: string, after: string, [parent, key]: readonly [string, string]): boolean {
  const [old, now] = [parseJsonc(before), parsedOrNothing(after)];
  if (!isObject(old) || !isObject(now) || !isObject(old[parent])) return false;
  const { [key]: _, ...others } = old[parent];
  if (isDeepStrictEqual(now, { ...old, [parent]: others })) return true;
  const { [parent]: __, ...rest } = old;
  return Object.keys(others).length === 0 && isDeepStrictEqual(now, rest);
}

function parsedOrNothing(text: string): unknown {
  try {
    return parseJsonc(text);
  } catch {
    return undefined;
  }
}
