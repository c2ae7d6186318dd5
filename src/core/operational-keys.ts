import type { SkillOptConfig } from './config.ts';

/** Keys that change how a run is carried out, but not what comes out of it. Such a key may differ on resume. */
export const OPERATIONAL_KEYS: ReadonlySet<string> = new Set<keyof SkillOptConfig>([
  'workers',
  'outRoot',
  'saveEveryStep',
  'maxRetries',
  'callTimeoutMs',
  'rolloutTimeoutMs',
  'maxCalls',
  'maxTotalTokens',
  'maxCostUsd',
  'maxMinutes',
  'prices',
  'maxConsecutiveFailures',
  'maxErroredShare',
  'maxCacheMb',
  'verbose',
]);
