import { strip } from '../../core/text/index.ts';

// An opening tag ends the search for the one before it: models also write about "the <answer> tag".
const ANSWER = /<answer>((?:(?!<answer>).)*?)<\/answer>/gis;

/** What the last `<answer>…</answer>` holds. Without one, the last line that is not empty; without that, nothing. */
export function extractAnswer(reply: string): string {
  const tagged = [...reply.matchAll(ANSWER)].at(-1)?.[1];
  return tagged === undefined ? lastLine(reply) : strip(tagged);
}

function lastLine(text: string): string {
  const lines = text.split('\n').map(strip);
  return lines.findLast((line) => line !== '') ?? '';
}

/** How right an answer is: `hard` is 1 for an exact match and 0 otherwise, `soft` is the overlap of words. */
export type AnswerScore = { readonly hard: 0 | 1; readonly soft: number };

const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]/g;
// Spelled out because `\b` knows ASCII letters only and would cut the "a" off "año".
const ARTICLE = /(?<![\p{L}\p{M}\p{N}])(?:a|an|the)(?![\p{L}\p{M}\p{N}])/gu;

/** SQuAD's normal form: lower case, no ASCII punctuation, no articles, single spaces. */
export function normalizeAnswer(text: string): string {
  const bare = text.toLowerCase().replace(ASCII_PUNCTUATION, '').replace(ARTICLE, ' ');
  return bare.replace(/\s+/g, ' ').trim();
}

/** Twice the shared tokens over all tokens, each counted as often as it occurs. Two empty texts score 1. */
export function tokenF1(predicted: string, gold: string): number {
  const [tokens, goldTokens] = [tokenize(predicted), tokenize(gold)];
  return overlap(tokens, goldTokens);
}

const overlap = (tokens: readonly string[], others: readonly string[]) =>
  (2 * countShared(tokens, others)) / (tokens.length + others.length);

/** The best score over all gold answers. An answer that merely contains a gold one is not an exact match. */
export function scoreAnswer(predicted: string, golds: readonly string[]): AnswerScore {
  const tokens = tokenize(predicted); // once: an answer may be long, and have many golds
  const wanted = golds.map(tokenize);
  const hard = wanted.some((gold) => gold.join(' ') === tokens.join(' ')) ? 1 : 0;
  return { hard, soft: Math.max(0, ...wanted.map((gold) => overlap(tokens, gold))) };
}

/** Never empty: a text without words is one empty token, which only another such text shares. */
function tokenize(text: string): string[] {
  return normalizeAnswer(text).split(' ');
}

function countShared(tokens: readonly string[], others: readonly string[]): number {
  const unused = new Map<string, number>();
  for (const token of others) unused.set(token, (unused.get(token) ?? 0) + 1);
  return tokens.filter((token) => {
    const left = unused.get(token) ?? 0;
    unused.set(token, left - 1);
    return left > 0;
  }).length;
}
