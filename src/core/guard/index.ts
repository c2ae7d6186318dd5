export type { GuardedItem } from './leaks/guarded-item.ts';
export { findLeaks, type LeakCritic, type LeakFinding, type LeakInput, type LeakReport } from './leaks/leak-critic.ts';

export {
  hashKeys,
  keySpellings,
  knowKey,
  knowKeysIn,
  knowKeysSent,
  maskKeys,
  maskKeysIn,
  SHORTEST_IN_MESSAGE,
} from './own-keys.ts';

export { findMarkedLines, findMarks, type MarkedLine } from './poison/find-marks.ts';

export { findPoison, type Poison, quarantine } from './poison/find-poison.ts';
export type { PoisonKind } from './poison/harms.ts';
export { LETTER } from './redact/credential-names.ts';
export { hideSecrets, holdsKnownKey } from './redact/known-keys.ts';
export { redactSecrets, redactValue } from './redact/redact-secrets.ts';
