import type { ChatReply, ModelCallError } from '../../core/contracts/index.ts';
import type { RemainingCalls } from '../wrappers/with-rate-limit.ts';

type Headers = Readonly<Record<string, string | undefined>>;
type Limit = {
  readonly remaining: string;
  readonly reset: string;
  readonly toMs: (value: string, now: number) => number;
};

/** Each limit that a provider may tell of, and how it writes the time until the count starts again. */
const LIMITS: readonly Limit[] = [
  ...['requests', 'tokens'].map((what) => openaiLimit(what)),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((what) => anthropicLimit(what)),
  { remaining: 'ratelimit-remaining', reset: 'ratelimit-reset', toMs: (value) => Number(value) * 1000 },
];

/** Beside the outcomes, not in them: what was true of a moment has no place in a cache or a journal. */
const noted = new WeakMap<ChatReply | ModelCallError, RemainingCalls>();

/** `outcome` itself, with what the headers of its response say about rate limits kept for `remainingCalls`. */
export function noteRateLimit<Outcome extends ChatReply | ModelCallError>(
  outcome: Outcome,
  headers: Headers | undefined,
): Outcome {
  const remaining = headers && readRateLimit(headers);
  if (remaining !== undefined) noted.set(outcome, remaining);
  return outcome;
}

/** What the provider said along with a reply or an error: a limit that is used up, and for how long. */
export function remainingCalls(outcome: ChatReply | ModelCallError): RemainingCalls | undefined {
  return noted.get(outcome);
}

/** The limit that is used up for longest. Undefined while something is left of all of them. */
export function readRateLimit(headers: Headers, now: number = Date.now()): RemainingCalls | undefined {
  let resetMs = 0;
  for (const { remaining, reset, toMs } of LIMITS) {
    const left = headers[remaining];
    if (left === undefined || left.trim() === '' || !(Number(left) <= 0)) continue;
    resetMs = Math.max(resetMs, Math.ceil(toMs(headers[reset] ?? '', now)) || 0);
  }
  return resetMs > 0 ? { calls: 0, resetMs } : undefined;
}

function openaiLimit(what: string): Limit {
  return { remaining: `x-ratelimit-remaining-${what}`, reset: `x-ratelimit-reset-${what}`, toMs: parseDuration };
}

/** A moment, such as 2026-01-01T00:00:30Z. */
function anthropicLimit(what: string): Limit {
  const name = `anthropic-ratelimit-${what}`;
  return { remaining: `${name}-remaining`, reset: `${name}-reset`, toMs: (moment, now) => Date.parse(moment) - now };
}

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

const LONGEST_DURATION = 100;

/** `1s`, `6m0s`, `120ms`, `1h2m3.5s`. */
function parseDuration(text: string): number {
  const parts = [...text.slice(0, LONGEST_DURATION).matchAll(/(?<![\d.])([\d.]+)(ms|h|m|s)/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit!]!, 0);
}

/**
 * How long the provider asks us to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date. Undefined when it
 * does not say, says nothing readable, or names a moment that has passed.
 */
export function retryAfterMs(headers: Headers = {}, now: number = Date.now()): number | undefined {
  const milliseconds = Number(headers['retry-after-ms']);
  if (milliseconds > 0) return Math.ceil(milliseconds);
  const retryAfter = headers['retry-after'] ?? '';
  const seconds = Number(retryAfter);
  const waitMs = Math.ceil(Number.isNaN(seconds) ? Date.parse(retryAfter) - now : seconds * 1000);
  return waitMs > 0 ? waitMs : undefined;
}
