import type { ChatReply, ModelCallError } from '../../core/contracts/index.ts';
import type { RemainingCalls } from '../wrappers/with-rate-limit.ts';

type Headers = Readonly<Record<string, string | undefined>>;
type Limit = {
  readonly remaining: string;
  readonly reset: string;
  readonly toMs: (value: string, now: number) => number;
};

/** The header with what is left of each limit, and the one that says when the count starts again. */
const LIMITS: readonly Limit[] = [
  ...['requests', 'tokens'].map((what) => ({
    remaining: `x-ratelimit-remaining-${what}`,
    reset: `x-ratelimit-reset-${what}`,
    toMs: parseDuration,
  })),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((what) => ({
    remaining: `anthropic-ratelimit-${what}-remaining`,
    reset: `anthropic-ratelimit-${what}-reset`,
    toMs: (moment: string, now: number) => Date.parse(moment) - now,
  })),
  { remaining: 'ratelimit-remaining', reset: 'ratelimit-reset', toMs: (value) => Number(value) * 1000 },
];

/** Kept apart from the outcomes, because caches and journals must not keep what was true for a moment. */
const noted = new WeakMap<ChatReply | ModelCallError, RemainingCalls>();

/** Keeps what the headers say about rate limits for `remainingCalls`, and returns `outcome`. */
export function noteRateLimit<Outcome extends ChatReply | ModelCallError>(
  outcome: Outcome,
  headers: Headers | undefined,
): Outcome {
  const remaining = headers && readRateLimit(headers);
  if (remaining !== undefined) noted.set(outcome, remaining);
  return outcome;
}

/** The limit that the provider called used up in a reply or an error, and for how long. */
export const remainingCalls = (outcome: ChatReply | ModelCallError): RemainingCalls | undefined => noted.get(outcome);

/** The limit that is used up for longest. Undefined while something is left of all limits. */
export function readRateLimit(headers: Headers, now: number = Date.now()): RemainingCalls | undefined {
  let resetMs = 0;
  for (const { remaining, reset, toMs } of LIMITS) {
    const left = headers[remaining];
    if (left === undefined || left.trim() === '' || !(Number(left) <= 0)) continue;
    resetMs = Math.max(resetMs, Math.ceil(toMs(headers[reset] ?? '', now)) || 0);
  }
  return resetMs > 0 ? { calls: 0, resetMs } : undefined;
}

/** `1s`, `6m0s`, `120ms`, `1h2m3.5s`. */
function parseDuration(text: string): number {
  const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
  const parts = [...text.slice(0, 100).matchAll(/(?<![\d.])([\d.]+)(ms|h|m|s)/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * unitMs[unit!]!, 0);
}

/**
 * How long the provider asks us to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date. Undefined when there
 * is no such header, or it names a moment that has passed.
 */
export function retryAfterMs(headers: Headers = {}, now: number = Date.now()): number | undefined {
  const milliseconds = Number(headers['retry-after-ms']);
  if (milliseconds > 0) return Math.ceil(milliseconds);
  const retryAfter = headers['retry-after'] ?? '';
  const seconds = Number(retryAfter);
  const waitMs = Math.ceil(Number.isNaN(seconds) ? Date.parse(retryAfter) - now : seconds * 1000);
  return waitMs > 0 ? waitMs : undefined;
}
