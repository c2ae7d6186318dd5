import {
  type AgentsSpent,
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
import { count, dollars, percent, plural } from '../core/text/index.ts';
import { clip, duration, type LineStyle, textWidth } from './layout.ts';

type ProgressView = {
  readonly state: RunState;
  readonly progress?: Progress | undefined;
  /** By stage, if it is more than the state says. */
  readonly usage?: RunState['usage'];
  /** What agents have spent since the run was opened. */
  readonly spent?: AgentsSpent | undefined;
  readonly elapsedMs: number;
  /** Rollouts that were shown as made. Those under way may be ones of the cache, which do not count in the end. */
  readonly shownMade?: number;
  /** Rollouts that were finished before this process began: they say nothing about its speed. */
  readonly finishedBefore: number;
};

/** The live block: four lines, none wider than `width`. */
export function progressBlock(view: ProgressView, { width, colors }: LineStyle): string[] {
  const { state, progress } = view;
  const planned = plannedRollouts(state) || (progress?.total ?? 0);
  const finished = plannedRollouts(state) ? finishedRollouts(state, progress) : (progress?.done ?? 0);
  if (planned === 0) return ['starting', ...(view.usage?.rollout ? [joinFitting(costFacts(view, 0, 0), width)] : [])];
  const facts = [whereFacts(view), scoreFacts(state), costFacts(view, finished, planned)];
  return [
    barLine(finished / planned, rolloutLabel(view), { width, colors }),
    ...facts.filter((line) => line.length > 0).map((line) => joinFitting(line, width)),
  ];
}

/** How many rollouts were made, and how many there may be if that is limited. */
function rolloutLabel({ state, progress, shownMade = 0 }: ProgressView): string {
  if (!state.config) return `${count(progress?.done ?? 0)}/${plural(progress?.total ?? 0, 'rollout')}`;
  const made = Math.max(shownMade, madeRollouts(state, progress));
  const most = state.config.maxRollouts === undefined ? '' : ` of at most ${count(plannedRollouts(state))}`;
  return `${plural(made, 'rollout')}${most}`; // the bar shows progress, and a run may end before all are made
}

function barLine(progress: number, rollouts: string, { width, colors }: LineStyle): string {
  const share = Math.min(1, progress);
  const label = ` ${Math.floor(share * 100)} %  ${rollouts}`;
  const room = Math.min(40, width - textWidth(label) - 1);
  if (room < 4) return clip(label.trim(), width);
  const filled = Math.round(share * room);
  return `${colors.cyan('━'.repeat(filled))}${colors.dim('─'.repeat(room - filled))}${label}`;
}

function whereFacts({ state, progress }: ProgressView): string[] {
  const { draft, config } = state;
  if (!progress) return [];
  const { phase, done, total } = progress;
  const stage = total > 0 ? `${phase} ${done}/${total}${passText(progress, state)}` : phase;
  if (draft.step === undefined) return [stage];
  const epochs = config?.maxRollouts === undefined ? `/${config?.numEpochs}` : ''; // as many as are paid for
  return [`step ${stepNumber(draft.step, state)}`, `epoch ${draft.epoch}${epochs}`, stage];
}

const IN_PASSES: readonly Progress['phase'][] = ['baseline', 'final measurement'];

/** Passes share their workers, so that the second begins when the last tasks of the first are under way. */
function passText({ phase, done }: Progress, { items: { val = 0 } }: RunState): string {
  const isFurther = IN_PASSES.includes(phase) && val > 0 && done > val;
  return isFurther ? ` (pass ${Math.ceil(done / val)})` : '';
}

function scoreFacts({ baseline, current, best, history }: RunState): string[] {
  if (!baseline) return [];
  const kept = history
    .filter((record) => isAccepted(record.action))
    .flatMap(({ editStatuses = [] }) => editStatuses.filter((status) => status.startsWith('applied')));
  return [
    `validation ${percent(current.score)}`,
    `best ${percent(best.score)}`,
    `baseline ${percent(baseline.score)}`,
    `${plural(kept.length, 'edit')} kept`,
  ];
}

function costFacts(view: ProgressView, finished: number, planned: number): string[] {
  const { state, elapsedMs, finishedBefore } = view;
  const total: StageUsage = Object.values(view.usage ?? state.usage).reduce(addUsage, noStageUsage);
  const { replies, cacheHits: cached, costUsd } = total;
  const done = finished - finishedBefore;
  const left =
    done > 0 && planned > finished ? [`about ${duration((elapsedMs / done) * (planned - finished))} left`] : [];
  const calls = `${plural(replies - cached, 'call')}${cached > 0 ? `, ${count(cached)} from cache` : ''}`;
  const cost = costUsd > 0 || total.unpriced > 0 ? [costWords({ costUsd, isPriced: isPriced(total) })] : [];
  return [`${duration(elapsedMs)} elapsed`, ...left, calls, ...cost, ...forecastWords(view)];
}

/** What all attempts of an agent will cost, from the first one that has ended on. */
export function forecastWords({
  state,
  progress,
  spent,
}: Pick<ProgressView, 'state' | 'progress' | 'spent'>): string[] {
  const { attempts, costUsd } = spent?.ended ?? { attempts: 0, costUsd: 0 };
  const planned = plannedRollouts(state) || (progress?.total ?? 0);
  if (attempts === 0 || costUsd === 0 || planned === 0) return [];
  const each = costUsd / attempts;
  return [`an attempt costs $${dollars(each)}: ${count(planned)} of them about $${dollars(each * planned)}`];
}

/** As many facts as fit on the line, the first ones first. */
function joinFitting(facts: readonly string[], width: number): string {
  const line = facts.reduce((text, fact) => {
    const longer = text === '' ? fact : `${text} · ${fact}`;
    return textWidth(longer) <= width ? longer : text;
  }, '');
  return line === '' ? clip(facts[0] ?? '', width) : line;
}

/** The rollouts of a whole run that are certain: the baseline, every step's batch and evaluation, and two tests. */
export function plannedRollouts({ config, items, totalSteps }: RunState): number {
  if (!config) return 0;
  const { train = 0, val = 0, test = 0 } = items;
  if (config.maxRollouts !== undefined) return config.maxRollouts + 2 * test;
  return val + config.numEpochs * train + totalSteps * val + 2 * test;
}

/** How many of them are done. What was not needed counts as done. */
export function finishedRollouts(state: RunState, progress?: Progress): number {
  const { config, items, baseline } = state;
  if (!config) return 0;
  const { val = 0, test = 0 } = items;
  const untilTest = plannedRollouts(state) - 2 * test;
  if (isSearchOver(state)) {
    const made = testedRollouts(state) + (progress?.phase === 'test' ? progress.done : 0);
    return untilTest + Math.min(2 * test, made);
  }
  if (config.maxRollouts !== undefined) return Math.min(untilTest, madeRollouts(state, progress));
  const { steps, tasks } = planBehind(state);
  const underWay = batchUnderWay(state, progress) + val * shareMeasured(state, progress);
  return (baseline ? val : 0) + tasks + steps * val + underWay;
}

/** Of a baseline or a candidate: it may take more attempts than the tasks that are planned for it. */
function shareMeasured({ draft }: RunState, progress: Progress | undefined): number {
  if (draft.timing?.evaluate !== undefined) return 1;
  const isMeasuring = progress?.phase === 'baseline' || progress?.phase === 'evaluate';
  return isMeasuring ? progress.done / Math.max(1, progress.total) : 0;
}

/** How many were made so far, cached or not. */
export const madeRollouts = (state: RunState, progress?: Progress): number =>
  state.rollouts + testedRollouts(state) + rolloutsUnderWay(state, progress);

export function isSearchOver({ config, searchEnd, final, lastEpoch, isDone }: RunState): boolean {
  const isOver = isDone || searchEnd !== undefined || final !== undefined;
  return isOver || (config?.maxRollouts === undefined && lastEpoch?.epoch === config?.numEpochs);
}

export const testedRollouts = ({ tests, items }: RunState): number =>
  (Number(tests.baseline !== undefined) + Number(tests.best !== undefined)) * (items.test ?? 0);

/** Steps of the plan that were taken or will not be taken, and the training tasks of the batches that were begun. */
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

const ROLLING_OUT = ['baseline', 'rollout', 'evaluate', 'final measurement', 'test'];

/** The batch of the current step. A further proposal of the batch counts it only once. */
function batchUnderWay(state: RunState, progress: Progress | undefined): number {
  const { proposal, rolloutN } = state.draft;
  if (proposal !== undefined) return 0;
  return rolloutN ?? (progress?.phase === 'rollout' ? rolloutsUnderWay(state, progress) : 0);
}

function rolloutsUnderWay({ draft }: RunState, progress: Progress | undefined): number {
  if (!progress || !ROLLING_OUT.includes(progress.phase)) return 0;
  return draft.proposal !== undefined && progress.phase === 'rollout' ? 0 : progress.done;
}
