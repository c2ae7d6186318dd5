import {
  addUsage,
  costWords,
  isAccepted,
  isBatchDone,
  isPriced,
  noStageUsage,
  type Progress,
  type RunState,
  type StageUsage,
  stepNumber,
} from '../core/run/index.ts';
import { count, percent, plural } from '../core/text/index.ts';
import { type Colors, clip, duration, textWidth } from './layout.ts';

/** Everything the live block shows. */
type ProgressView = {
  readonly state: RunState;
  readonly progress?: Progress | undefined;
  /** By stage, where it is more than the state says. */
  readonly usage?: RunState['usage'];
  readonly elapsedMs: number;
  /** Rollouts that were finished before the process at work began: they say nothing about its speed. */
  readonly finishedBefore: number;
};

/** The live block: four lines, none wider than `width`, however narrow that is. */
export function progressBlock(view: ProgressView, { width, colors }: { width: number; colors: Colors }): string[] {
  const { state, progress } = view;
  const planned = plannedRollouts(state) || (progress?.total ?? 0);
  const finished = plannedRollouts(state) ? finishedRollouts(state, progress) : (progress?.done ?? 0);
  if (planned === 0) return ['starting', ...(view.usage?.rollout ? [joinFitting(costFacts(view, 0, 0), width)] : [])];
  const facts = [whereFacts(view), scoreFacts(state), costFacts(view, finished, planned)];
  return [
    barLine({ finished, planned, width, colors, label: rolloutLabel(view) }),
    ...facts.filter((line) => line.length > 0).map((line) => joinFitting(line, width)),
  ];
}

/** What was made, and how many there may be where that is limited: a plan is made of what may come. */
function rolloutLabel({ state, progress }: ProgressView): string {
  if (!state.config) return `${count(progress?.done ?? 0)}/${plural(progress?.total ?? 0, 'rollout')}`;
  const made = madeRollouts(state, progress);
  const most = state.config.maxRollouts === undefined ? '' : ` of at most ${count(plannedRollouts(state))}`;
  return `${plural(made, 'rollout')}${most}`; // the share is that of the way, which may be over before all are made
}

type Bar = {
  readonly finished: number;
  readonly planned: number;
  readonly width: number;
  readonly colors: Colors;
  readonly label: string;
};

function barLine({ finished, planned, width, colors, label: made }: Bar): string {
  const share = planned === 0 ? 0 : Math.min(1, finished / planned);
  const label = ` ${Math.floor(share * 100)} %  ${made}`;
  const room = Math.min(40, width - textWidth(label) - 1);
  if (room < 4) return clip(label.trim(), width);
  const filled = Math.round(share * room);
  return `${colors.cyan('━'.repeat(filled))}${colors.dim('─'.repeat(room - filled))}${label}`;
}

function whereFacts({ state, progress }: ProgressView): string[] {
  const { draft, config } = state;
  if (!progress) return [];
  const stage = progress.total > 0 ? `${progress.phase} ${progress.done}/${progress.total}` : progress.phase;
  if (draft.step === undefined) return [stage];
  const epochs = config?.maxRollouts === undefined ? `/${config?.numEpochs}` : ''; // as many as are paid for
  return [`step ${stepNumber(draft.step, state)}`, `epoch ${draft.epoch}${epochs}`, stage];
}

function scoreFacts({ baseline, current, best, history }: RunState): string[] {
  if (!baseline) return [];
  const kept = history
    .filter((record) => isAccepted(record.action))
    .flatMap((record) => appliedEdits(record.editStatuses));
  return [
    `validation ${percent(current.score)}`,
    `best ${percent(best.score)}`,
    `baseline ${percent(baseline.score)}`,
    `${plural(kept.length, 'edit')} kept`,
  ];
}

const appliedEdits = (statuses: readonly string[] = []) => statuses.filter((status) => status.startsWith('applied'));

function costFacts(view: ProgressView, finished: number, planned: number): string[] {
  const { state, elapsedMs, finishedBefore } = view;
  const usage = Object.values(view.usage ?? state.usage);
  const replies = usage.reduce((sum, { replies }) => sum + replies, 0);
  const cached = usage.reduce((sum, { cacheHits }) => sum + cacheHits, 0);
  const done = finished - finishedBefore;
  const left =
    done > 0 && planned > finished ? [`about ${duration((elapsedMs / done) * (planned - finished))} left`] : [];
  const calls = `${plural(replies - cached, 'call')}${cached > 0 ? `, ${count(cached)} from cache` : ''}`;
  const total: StageUsage = usage.reduce(addUsage, noStageUsage);
  const isSaid = total.costUsd > 0 || total.unpriced > 0; // what costs nothing need not be said
  return [
    `${duration(elapsedMs)} elapsed`,
    ...left,
    calls,
    ...(isSaid ? [costWords({ costUsd: total.costUsd, isPriced: isPriced(total) })] : []),
  ];
}

/** As many facts as fit on the line, the first ones first. */
function joinFitting(facts: readonly string[], width: number): string {
  const line = facts.reduce((text, fact) => {
    const longer = text === '' ? fact : `${text} · ${fact}`;
    return textWidth(longer) <= width ? longer : text;
  }, '');
  return line === '' ? clip(facts[0] ?? '', width) : line;
}

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
function madeRollouts(state: RunState, progress?: Progress): number {
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
