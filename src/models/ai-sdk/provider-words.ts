import { maskKeys, SHORTEST_IN_MESSAGE } from '../../core/guard/index.ts';
import type { Endpoint } from '../endpoint.ts';

/** What messages and hints say about the call that failed. */
export type FailedCall = {
  /** The name of the far side. */
  readonly who: string;
  /** Unknown for a model object that the caller made. */
  readonly endpoint?: Endpoint | undefined;
  /** What is added to the base URL of `endpoint`. */
  readonly path?: string | undefined;
  /** The variable that holds the key. */
  readonly apiKeyVariable?: string | undefined;
};

const MAX_LENGTH = 300;

/** Longer bodies are cut before the search: they may hold the whole prompt, and patterns take their time. */
const MAX_READ = 8_000;

const KEY_LIKE = /\b(?:sk|pk|gsk|xai|hf)[-_][\w*.-]{6,}/gi;
const TOKEN_LIKE = /\bBearer\s+[^\s"',;]+/gi;

/** The body of a failed call as one short line, in which our keys and everything that looks like one are masked. */
export function providerWords(body: string): string {
  const masked = maskKeys(readWords(body), SHORTEST_IN_MESSAGE, () => '…'); // first: half a key is a secret too
  const words = cut(masked, MAX_READ).replace(TOKEN_LIKE, 'Bearer …').replace(KEY_LIKE, '…');
  return cut(words.replace(/\s+/g, ' ').trim(), MAX_LENGTH);
}

function readWords(body: string): string {
  if (/^\s*</.test(body)) return `an HTML page "${titleOf(body.slice(0, MAX_READ))}"`;
  try {
    return findMessage(JSON.parse(body)) ?? body;
  } catch {
    return body;
  }
}

/** Some pages have a heading alone. */
const titleOf = (page: string): string => wordsIn(page, /<title\b/i) || wordsIn(page, /<h1\b/i);

function wordsIn(page: string, opening: RegExp): string {
  const tag = page.search(opening);
  const start = tag === -1 ? -1 : page.indexOf('>', tag);
  if (start === -1) return '';
  const [title = ''] = page.slice(start + 1).split('<', 1);
  return title.trim();
}

const MAX_DEPTH = 20;

/** Providers agree on little: `error.message`, `error`, `message`, `detail` and lists of `msg` are all in use. */
function findMessage(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return value || undefined;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined;
  const find = (inner: unknown) => findMessage(inner, depth + 1);
  if (Array.isArray(value)) return value.slice(0, MAX_LENGTH).map(find).filter(Boolean).join('; ') || undefined;
  const { error, message, detail, msg } = value as Record<string, unknown>;
  return [error, message, detail, msg].map(find).find((words) => words !== undefined);
}

const cut = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);
