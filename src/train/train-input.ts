import type { SkillOptConfig } from '../core/config.ts';
import type { SkillEnv } from '../core/env.ts';
import type { RunState } from '../core/run-state.ts';
import type { Commit } from './recorder.ts';
import type { RunItems } from './run-items.ts';

/** What the loop works on. */
export type TrainInput = {
  readonly config: SkillOptConfig;
  readonly env: SkillEnv;
  readonly items: RunItems;
  readonly state: RunState;
  readonly commit: Commit;
  readonly warn: (message: string) => void;
};
