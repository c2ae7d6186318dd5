import { createRateLimiter, type RateLimiter, type RateLimiterOptions } from './rate-limiter.ts';

export interface LimiterPool {
  /** The one limiter of a key: a provider and an account, never the secret itself. Made when it is first asked for. */
  sharedLimiter(key: string): RateLimiter;
}

/** The limiters of a process, so that all who call under one key wait in one line. */
export function createLimiterPool(optionsOf: (key: string) => RateLimiterOptions = () => ({})): LimiterPool {
  const limiters = new Map<string, RateLimiter>();
  return {
    sharedLimiter(key) {
      const limiter = limiters.get(key) ?? createRateLimiter(optionsOf(key));
      limiters.set(key, limiter);
      return limiter;
    },
  };
}
