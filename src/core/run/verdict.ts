import type { GateMetric } from '../contracts/index.ts';
import {
  addObservations,
  comparePaired,
  DEFAULT_CONFIDENCE,
  type Estimate,
  type Evidence,
  flips,
  noEvidence,
  type PairedComparison,
  paired,
  tasksToProve,
} from '../stats/index.ts';
import { defined } from '../text/index.ts';
import { type Cost, totalCost } from './cost.ts';
import type { DraftedTasks } from './events/event-data.ts';
import { type Failure, mostFrequentFailure } from './failures.ts';
import { toEvidence, toObservations } from './gate-evidence.ts';
import { type ResultCard, runCard } from './result-card.ts';
import type { RunState } from './run-state.ts';
import { isNothingRead, LIMIT_NAMES, type LimitName, type UsageTable } from './stage-usage.ts';
import { reportedScores, winnerMeasurement } from './summary.ts';

export type VerdictKind = 'better' | 'not-proven' | 'no-change' | 'worse' | 'broken' | 'stopped';

/** The initial skill against the best one, on the same tasks. */
export type Comparison = Omit<PairedComparison, 'gain' | 'isWorse'> & {
  /** Tasks that the search never saw; without any, those that it chose by. */
  readonly on: 'test' | 'validation';
  readonly metric: GateMetric;
  /** By attempts that nothing was chosen by. Without it the figures are those of the search, which flatter the winner. */
  readonly gain: Estimate | undefined;
};

export type Verdict = Cost & {
  readonly kind: VerdictKind;
  /** What is broken, or why the run is not over. */
  readonly reason?: 'optimizer' | 'nothing-passes' | 'limit' | 'unfinished' | 'running';
  /** The limit that was reached, if known. */
  readonly limit?: LimitName;
  /** What to raise it to, so that the rest of the run is paid for. */
  readonly advised?: number;
  /** Where nothing passes: why most attempts failed. */
  readonly failure?: Failure;
  readonly comparison?: Comparison;
  /** Where there are test tasks: the same on validation. */
  readonly chosenBy?: Comparison;
  /** How many more such tasks would prove a gain of this size; `null` when no reasonable number would. */
  readonly tasksToProve?: number | null;
  /** Where a model drafted some of the tasks. */
  readonly drafts?: DraftedTasks;
  /** On tasks of a benchmark. */
  readonly card?: ResultCard;
};

export type VerdictOptions = {
  readonly isRunning?: boolean;
  /** What was used in all: the journal lacks the last part of an unfinished run. */
  readonly usage?: UsageTable | undefined;
  /** The limit that ended its last start, if one did, and what to raise it to. */
  readonly limit?: LimitName | undefined;
  readonly advised?: number | undefined;
};

/** What a run came to. A function of the journal; never `better` without a proof. */
export function verdictOf(state: RunState, { isRunning = false, usage, ...stop }: VerdictOptions = {}): Verdict {
  const [test, validation] = [compareOnTest(state), compareOnValidation(state)];
  const comparison = test ?? validation;
  const needed = comparison && !comparison.isProven ? moreTasks(comparison, state) : undefined;
  return {
    ...kindOf(state, comparison, isRunning ? { reason: 'running' } : whyStopped(state, stop)),
    ...(comparison ? { comparison } : {}),
    ...(test && validation ? { chosenBy: validation } : {}),
    ...(needed === undefined ? {} : { tasksToProve: needed }),
    ...defined({ drafts: state.drafts, card: runCard(state) }),
    ...totalCost(usage ?? state.usage),
  };
}

function kindOf(
  state: RunState,
  comparison: Comparison | undefined,
  why: Pick<Verdict, 'reason' | 'limit' | 'advised'>,
): Omit<Verdict, keyof Cost> {
  const { isDone, stepsDone, answers, best, initialSkill } = state;
  const isTried = isDone || stepsDone > 0; // one reply that cannot be read says little
  if (isTried && isNothingRead(answers)) return { kind: 'broken', reason: 'optimizer' };
  if (isTried && isNothingPassed(state)) return nothingPasses(state);
  if (!isDone) return { kind: 'stopped', ...why };
  if (best.skill === initialSkill) return { kind: 'no-change' };
  if (comparison?.isProven) return { kind: 'better' };
  return { kind: (comparison?.gain?.interval.high ?? 0) < 0 ? 'worse' : 'not-proven' };
}

function nothingPasses({ failures }: RunState): Pick<Verdict, 'kind' | 'reason' | 'failure'> {
  const failure = mostFrequentFailure(failures);
  return { kind: 'broken', reason: 'nothing-passes', ...(failure ? { failure } : {}) };
}

/** By the ledger; or a winner that was measured before the search was over shows that a budget was used up. */
function whyStopped(state: RunState, stop: VerdictOptions): Pick<Verdict, 'reason' | 'limit' | 'advised'> {
  const isMeasured = state.finalMeasurement && !state.final;
  const limit = stop.limit ?? (isMeasured ? onlyLimit(state) : undefined);
  const advised = stop.advised === undefined ? {} : { advised: stop.advised };
  if (limit !== undefined) return { reason: 'limit', limit, ...advised };
  return { reason: isMeasured ? 'limit' : 'unfinished' };
}

/** The limit of the config, if there is exactly one. */
function onlyLimit({ config }: RunState): LimitName | undefined {
  const set = LIMIT_NAMES.filter((name) => config?.[name] !== undefined);
  return set.length === 1 ? set[0] : undefined;
}

/** Nothing was ever right, not even in part: the agent may never answer, or is always ended. */
function isNothingPassed({ baseline, best, evaluations, tests }: RunState): boolean {
  if (!baseline || best.score > 0) return false;
  const all = [baseline, ...evaluations, ...Object.values(tests)];
  return all.every(({ hard, soft }) => hard === 0 && soft === 0);
}

function compareOnTest(state: RunState): Comparison | undefined {
  const { baseline, best } = state.testEvidence;
  if (!baseline || !best) return undefined;
  const compared = comparePaired(toEvidence(baseline), toEvidence(best), state.config?.confidence);
  if (!compared) return undefined;
  const { isWorse: _isWorse, ...comparison } = compared;
  const isSame = state.best.skill === state.initialSkill; // one text has no gain over itself
  const same = isSame ? { gain: undefined, isProven: false } : {};
  return { on: 'test', metric: metricOf(state), ...comparison, ...same };
}

/** By the fresh attempts at the end, if there are any; else as the search saw it. */
function compareOnValidation(state: RunState): Comparison | undefined {
  const scores = reportedScores(state);
  if (!scores) return undefined;
  const { before, after, isFresh } = scores;
  const { passes = [], gain, isClaimed = false, isSeedBetter = false } = winnerMeasurement(state) ?? {};
  const [seed, fresh] = paired(seedEvidence(state), freshEvidence(state, passes));
  const isOver = isFresh && !isSeedBetter && gain !== undefined;
  return {
    on: 'validation',
    metric: metricOf(state),
    before,
    after,
    gain: isOver ? gain : undefined,
    isProven: isOver && isClaimed && gain.interval.low > 0,
    ...(isOver ? flips(seed, fresh) : { gained: [], lost: [] }),
    tasks: isOver ? seed.size : Object.keys(state.gate.seed).length,
  };
}

const metricOf = ({ config }: RunState) => config?.gateMetric ?? 'hard';

const seedEvidence = ({ gate }: RunState) => toEvidence(gate.seed);

function freshEvidence({ config }: RunState, passes: NonNullable<RunState['finalMeasurement']>['passes']): Evidence {
  if (!config) return noEvidence;
  return addObservations(
    noEvidence,
    passes.flatMap(({ scores }) => toObservations(scores, config)),
  );
}

const MOST_TASKS = 2_000;

function moreTasks({ on, tasks, gain }: Comparison, state: RunState): number | null | undefined {
  if (!gain) return undefined;
  const { baseline = {}, best = {} } = state.testEvidence;
  const passes = winnerMeasurement(state)?.passes ?? [];
  const [seed, fresh] =
    on === 'test' ? [toEvidence(baseline), toEvidence(best)] : [seedEvidence(state), freshEvidence(state, passes)];
  const needed = tasksToProve(fresh, seed, { confidence: state.config?.confidence ?? DEFAULT_CONFIDENCE });
  return needed === undefined || needed > MOST_TASKS ? null : Math.max(1, needed - tasks);
}
