import type { Progress } from '../../core/event.ts';
import type { RunState } from '../../core/run-state.ts';

/** Rollouts of a whole run, as far as they are certain: the baseline, every step's batch and evaluation, and two tests. */
export function plannedRollouts({ config, items, totalSteps }: RunState): number {
  if (!config) return 0;
  const { train = 0, val = 0, test = 0 } = items;
  return val + config.numEpochs * train + totalSteps * val + 2 * test;
}

/** How many of them are behind the run. What a step did not need counts as done with the step. */
export function finishedRollouts(state: RunState, progress?: Progress): number {
  const { config, items, baseline, stepsDone, tests } = state;
  if (!config) return 0;
  const { train = 0, val = 0, test = 0 } = items;
  const { batchSize, accumulation = 1, proposalsPerBatch = 1 } = config; // a journal of an earlier version lacks some
  const perBatch = batchSize * accumulation;
  const perEpoch = Math.max(1, Math.ceil(train / perBatch)) * proposalsPerBatch;
  const [epochs, steps] = [Math.floor(stepsDone / perEpoch), stepsDone % perEpoch];
  const batches = epochs * train + Math.ceil(steps / proposalsPerBatch) * perBatch;
  const tested = Number(tests.baseline !== undefined) + Number(tests.best !== undefined);
  return (baseline ? val : 0) + batches + stepsDone * val + tested * test + inStep(state, progress);
}

const AFTER_ROLLOUT = ['reflect', 'aggregate', 'select', 'update', 'evaluate'];

/** The part of the step or measurement that is under way. */
function inStep({ draft }: RunState, progress: Progress | undefined): number {
  if (!progress) return 0;
  const isRollingOut = ['baseline', 'rollout', 'evaluate', 'test'].includes(progress.phase);
  const isKnown = draft.proposal !== undefined; // its batch was rolled out for the first proposal
  if (isKnown && progress.phase === 'rollout') return 0;
  const batch = AFTER_ROLLOUT.includes(progress.phase) && !isKnown ? (draft.rolloutN ?? 0) : 0;
  return batch + (isRollingOut ? progress.done : 0);
}
