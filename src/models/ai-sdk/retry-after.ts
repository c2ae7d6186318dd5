type Headers = Readonly<Record<string, string | undefined>>;

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
