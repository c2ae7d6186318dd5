import type { SkillEnv, SkillOptConfig } from '../core/contracts/index.ts';
import type { Amounts, OpenRunStore, RunState } from '../core/run/index.ts';
import type { Memory, StageDeps } from '../pipeline/index.ts';
import type { Commit } from './record/recorder.ts';
import type { RunItems } from './setup/run-items.ts';

/** What the search may not spend, since the final measurement will need it. */
export type Reserve = {
  /** Estimates it again from what the run has cost so far. */
  keep(state: RunState): void;
  release(): void;
  /** What the run has spent of its limits so far. */
  spent(): Amounts;
  /** For the final measurement: what stopped the search does not stop it. */
  readonly deps: StageDeps;
};

/** What a run works with from its start to its end. What changes is its state, which is handed from stage to stage. */
export type Run = {
  readonly config: SkillOptConfig;
  readonly env: SkillEnv;
  readonly items: RunItems;
  readonly deps: StageDeps;
  readonly commit: Commit;
  readonly lookAtTest: NonNullable<OpenRunStore['lookAtTest']>;
  readonly reserve: Reserve;
  readonly warn: (message: string) => void;
};

/** What the optimizer may remember under these settings. */
export function memoryOf(
  { stepBuffer, metaSkill }: RunState,
  { useStepBuffer, useMetaSkill }: Pick<SkillOptConfig, 'useStepBuffer' | 'useMetaSkill'>,
): Memory {
  return { stepBuffer: useStepBuffer ? stepBuffer : [], metaSkill: useMetaSkill ? metaSkill : '' };
}
