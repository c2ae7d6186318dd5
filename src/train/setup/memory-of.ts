import type { SkillOptConfig } from '../../core/config.ts';
import type { RunState } from '../../core/run/run-state.ts';
import type { Memory } from '../../pipeline/index.ts';

/** What the optimizer may remember under these settings. */
export function memoryOf(
  { stepBuffer, metaSkill }: RunState,
  { useStepBuffer, useMetaSkill }: Pick<SkillOptConfig, 'useStepBuffer' | 'useMetaSkill'>,
): Memory {
  return { stepBuffer: useStepBuffer ? stepBuffer : [], metaSkill: useMetaSkill ? metaSkill : '' };
}
