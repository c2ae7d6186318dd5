import type { Endpoint } from '../http/endpoint.ts';

/** Whose call failed, as far as messages and hints speak of it. */
export type FailedCall = {
  /** How messages name the far side. */
  readonly who: string;
  /** Must not appear in any message. */
  readonly secrets: readonly string[];
  /** Where the call went. Not known of a model that came ready made. */
  readonly endpoint?: Endpoint | undefined;
  /** What is added to the base URL of `endpoint`. */
  readonly path?: string | undefined;
  /** The variable that the key came from. */
  readonly apiKeyVariable?: string | undefined;
};

/** The parts of the SDK's errors that are looked at. The request, with the whole prompt in it, is not one of them. */
export type SdkError = {
  readonly name?: string;
  readonly message?: string;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly statusCode?: number;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: string;
  readonly isRetryable?: boolean;
};

const MAX_LENGTH = 300;

/** What is looked at to find those: bodies may hold the whole prompt, and patterns take their time. */
const MAX_READ = 8_000;

/** Shorter values, such as the `none` that local servers want for a key, are no secrets but parts of many words. */
const SHORTEST_SECRET = 4;

const KEY_LIKE = /\b(?:sk|pk|gsk|xai|hf)[-_][\w*.-]{6,}/gi;
const TOKEN_LIKE = /\bBearer\s+[^\s"',;]+/gi;

/** What a provider said in the body of a failed call: one short line, with `secrets` and whatever looks like one masked. */
export function providerWords(body: string, secrets: readonly string[]): string {
  const words = cut(maskSecrets(readWords(body), secrets), MAX_READ);
  return cut(maskKeys(words).replace(/\s+/g, ' ').trim(), MAX_LENGTH);
}

/** `text` with the given secrets replaced by an ellipsis. Before anything is joined or cut: half a key is a secret too. */
function maskSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .reduce((masked, secret) => masked.replaceAll(secret, '…'), text);
}

const maskKeys = (text: string) => text.replace(TOKEN_LIKE, 'Bearer …').replace(KEY_LIKE, '…');

function readWords(body: string): string {
  if (/^\s*</.test(body)) return `an HTML page "${titleOf(body.slice(0, MAX_READ))}"`;
  try {
    return findMessage(JSON.parse(body)) ?? body;
  } catch {
    return body;
  }
}

function titleOf(page: string): string {
  const tag = page.search(/<title\b/i);
  const start = tag === -1 ? -1 : page.indexOf('>', tag);
  return start === -1
    ? ''
    : page
        .slice(start + 1)
        .split('<', 1)[0]!
        .trim();
}

/** Nobody buries a message deeper. */
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

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
