import type { Progress, RunState } from '../../core/run/index.ts';
import { isBatchDone } from '../../train/index.ts';

/** Rollouts of a whole run, as far as they are certain: the baseline, every step's batch and evaluation, and two tests. */
export function plannedRollouts({ config, items, totalSteps }: RunState): number {
  if (!config) return 0;
  const { train = 0, val = 0, test = 0 } = items;
  if (config.maxRollouts !== undefined) return config.maxRollouts + 2 * test;
  return val + config.numEpochs * train + totalSteps * val + 2 * test;
}

/** How many of them are behind the run. What was not needed counts as done with what did not need it. */
export function finishedRollouts(state: RunState, progress?: Progress): number {
  const { config, items, baseline } = state;
  if (!config) return 0;
  const { val = 0, test = 0 } = items;
  const untilTest = plannedRollouts(state) - 2 * test;
  if (isSearchOver(state)) return untilTest + testedRollouts(state) + (progress?.phase === 'test' ? progress.done : 0);
  if (config.maxRollouts !== undefined) return Math.min(untilTest, madeRollouts(state, progress));
  const { steps, tasks } = planBehind(state);
  return (
    (baseline ? val : 0) + tasks + steps * val + batchUnderWay(state, progress) + rolloutsUnderWay(state, progress)
  );
}

/** How many were made so far, whether or not a cache knew them. */
export function madeRollouts(state: RunState, progress?: Progress): number {
  return state.rollouts + testedRollouts(state) + rolloutsUnderWay(state, progress);
}

export function isSearchOver({ config, searchEnd, final, lastEpoch, isDone }: RunState): boolean {
  const isOver = isDone || searchEnd !== undefined || final !== undefined;
  return isOver || (config?.maxRollouts === undefined && lastEpoch?.epoch === config?.numEpochs);
}

function testedRollouts({ tests, items }: RunState): number {
  return (Number(tests.baseline !== undefined) + Number(tests.best !== undefined)) * (items.test ?? 0);
}

/** Steps of the plan that were taken or will not be, and the training tasks of the batches that were begun. */
function planBehind({ config, items, history, lastEpoch }: RunState) {
  const { train = 0 } = items;
  const { batchSize, accumulation = 1, proposalsPerBatch = 1 } = config!; // a journal of an earlier version lacks some
  const perBatch = batchSize * accumulation;
  const epochs = lastEpoch?.epoch ?? 0;
  const records = history.filter(({ epoch }) => epoch === epochs + 1);
  const begun = records.filter(({ proposal = 1 }) => proposal === 1).length;
  const last = records.at(-1);
  const isReadAgain = last !== undefined && !isBatchDone(last, { proposalsPerBatch });
  const open = isReadAgain ? proposalsPerBatch - (last.proposal ?? 1) : 0;
  const batches = epochs * Math.ceil(train / perBatch) + begun;
  return { steps: batches * proposalsPerBatch - open, tasks: epochs * train + Math.min(train, begun * perBatch) };
}

const AFTER_ROLLOUT = ['reflect', 'aggregate', 'select', 'update', 'evaluate'];
const ROLLING_OUT = ['baseline', 'rollout', 'evaluate', 'final measurement', 'test'];

/** The batch of the step that is under way, once it was rolled out; for a further proposal it was before. */
function batchUnderWay({ draft }: RunState, progress: Progress | undefined): number {
  const isBehind = progress !== undefined && AFTER_ROLLOUT.includes(progress.phase);
  return isBehind && draft.proposal === undefined ? (draft.rolloutN ?? 0) : 0;
}

function rolloutsUnderWay({ draft }: RunState, progress: Progress | undefined): number {
  if (!progress || !ROLLING_OUT.includes(progress.phase)) return 0;
  return draft.proposal !== undefined && progress.phase === 'rollout' ? 0 : progress.done;
}
