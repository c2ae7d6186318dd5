import { selectGateScore } from '../contracts/index.ts';
import type { Estimate } from '../stats/index.ts';
import { groupBy, memoizeWeakly } from '../text/index.ts';
import type { FinalMeasurement } from './gate-evidence.ts';
import { type AcceptedEdit, acceptedEdits, isAccepted, passOf } from './reduce/acceptance.ts';
import { isUnscored } from './reduce/step.ts';
import type { RunState, TestReport } from './run-state.ts';
import type { AnswerTable, StageUsage } from './stage-usage.ts';
import type { EditEffect, StepRecord } from './step-record.ts';

/** What a run came to. A run that is not done has the figures it has so far. */
export type RunSummary = {
  readonly version: string;
  readonly isDone: boolean;
  readonly outRoot: string;
  readonly bestSkill: string;
  readonly bestStep: number;
  readonly baselineSelectionHard: number | null;
  readonly baselineSelectionScore: number | null;
  readonly bestSelectionHard: number | null;
  /** `null` while nothing is measured. */
  readonly bestSelectionScore: number | null;
  readonly currentSelectionScore: number | null;
  readonly totalSteps: number;
  readonly stepsDone: number;
  readonly totalAccepts: number;
  readonly totalRejects: number;
  readonly totalSkips: number;
  readonly epochStats: Readonly<ReturnType<typeof epochStats>>;
  readonly acceptedEdits: readonly AcceptedEdit[];
  readonly baselineTestHard: number | null;
  readonly baselineTestSoft: number | null;
  readonly testHard: number | null;
  readonly testSoft: number | null;
  readonly testDeltaHard: number | null;
  readonly finalSelectionHard: number | null;
  readonly finalSelectionSoft: number | null;
  readonly finalTestHard: number | null;
  readonly finalTestSoft: number | null;
  readonly finalTestDeltaHard: number | null;
  readonly currentOrigin: string;
  readonly bestOrigin: string;
  /** The winner by fresh rollouts, with the interval; `null` when it was not measured so. */
  readonly finalScore: Estimate | null;
  readonly finalGain: Estimate | null;
  /** The whole interval of the gain is above 0. Otherwise the winner may be no better than the seed. */
  readonly isProven: boolean | null;
  /** Share of the training tasks of which the best skill repeats something; `null` when that was not checked. */
  readonly memorisedShare: number | null;
  /** How many times runs have looked at the test tasks; `null` when this one did not. */
  readonly testLooks: number | null;
  readonly tests: RunState['tests'];
  readonly totalWallTimeS: number;
  readonly tokenSummary: Readonly<Record<string, StageUsage>>;
  /** Attempts whose environment threw: they count as failed. */
  readonly attemptsThrown: number;
  /** How many of the optimizer's replies could be read, by stage. */
  readonly optimizerReplies: AnswerTable;
  readonly warnings: readonly string[];
};

const SUMMARY_VERSION = 'skillopt-0.1.0';

export function summarize(state: RunState, { outRoot = '', warnings = [] as readonly string[] } = {}): RunSummary {
  const { best, current, history } = state;
  const isMeasured = state.baseline !== undefined || history.length > 0;
  return {
    version: SUMMARY_VERSION,
    isDone: state.isDone,
    outRoot,
    bestSkill: best.skill,
    bestStep: best.step,
    baselineSelectionHard: state.baseline?.hard ?? null,
    baselineSelectionScore: state.baseline?.score ?? null,
    bestSelectionHard: passOf(state, best.hash)?.hard ?? null,
    bestSelectionScore: isMeasured ? best.score : null,
    currentSelectionScore: isMeasured ? current.score : null,
    totalSteps: state.totalSteps,
    stepsDone: state.stepsDone,
    ...countActions(history),
    epochStats: epochStats(history),
    acceptedEdits: acceptedEdits(state),
    ...testScores(state),
    ...finalScores(state),
    memorisedShare: state.memorisedShare ?? null,
    currentOrigin: current.origin,
    bestOrigin: best.origin,
    testLooks: state.testLooks ?? null,
    tests: state.tests,
    totalWallTimeS: state.wallTimeMs / 1000,
    tokenSummary: state.usage,
    attemptsThrown: state.threw,
    optimizerReplies: state.answers,
    warnings,
  };
}

const testScores = ({ tests: { baseline, best } }: RunState) => ({
  baselineTestHard: baseline?.hard ?? null,
  baselineTestSoft: baseline?.soft ?? null,
  testHard: best?.hard ?? null,
  testSoft: best?.soft ?? null,
  testDeltaHard: gain(best, baseline),
});

/** The skill that was current at the end need not be the best. */
function finalScores(state: RunState) {
  const { final, tests } = state;
  const measurement = winnerMeasurement(state);
  return {
    finalSelectionHard: final?.hard ?? null,
    finalSelectionSoft: final?.soft ?? null,
    finalTestHard: tests.final?.hard ?? null,
    finalTestSoft: tests.final?.soft ?? null,
    finalTestDeltaHard: gain(tests.final, tests.baseline),
    finalScore: measurement?.score ?? null,
    finalGain: measurement?.gain ?? null,
    isProven: measurement?.isClaimed ?? null,
  };
}

const gain = (after: TestReport | undefined, before: TestReport | undefined) =>
  after && before ? after.hard - before.hard : null;

/** Accepted, rejected and skipped add up to the steps: an unchanged candidate is a skip. */
function countActions(history: readonly StepRecord[]) {
  const totalAccepts = history.filter((record) => isAccepted(record.action)).length;
  const totalRejects = history.filter((record) => record.action === 'reject').length;
  return { totalAccepts, totalRejects, totalSkips: history.length - totalAccepts - totalRejects };
}

const epochStats = (history: readonly StepRecord[]) =>
  groupBy(history, ({ epoch }) => epoch).map((records) => {
    const { totalAccepts, totalRejects, totalSkips } = countActions(records);
    const { epoch, bestScore, currentScore } = records.at(-1)!;
    const scores = { bestScoreAtEpochEnd: bestScore, currentScoreAtEpochEnd: currentScore };
    return { epoch, steps: records.length, accepts: totalAccepts, rejects: totalRejects, skips: totalSkips, ...scores };
  });

/** The measurement of the winner by fresh rollouts; `undefined` if a resumed run found a better one since. */
export function winnerMeasurement({ finalMeasurement, best }: RunState): FinalMeasurement | undefined {
  const isOfBest =
    finalMeasurement?.hash === best.hash || (finalMeasurement?.isSeedBetter && best.origin === 'initial');
  return isOfBest ? finalMeasurement : undefined;
}

/** Scores of seed and winner: by fresh rollouts if there are any, else as the search saw them. */
export function reportedScores(state: RunState) {
  const { baseline, best } = state;
  if (!baseline) return undefined;
  const { score, gain, isSeedBetter } = winnerMeasurement(state) ?? {};
  if (!score) return { before: baseline.score, after: best.score, isFresh: false };
  const gained = isSeedBetter ? 0 : (gain?.value ?? 0); // the seed gains nothing on itself
  const after = Math.max(gained, score.value); // luck is taken off the score and not off the gain, which may be all there is
  return { before: after - gained, after, isFresh: true };
}

/** By the metric of the run's gate, like its validation scores. */
export function gateMetricScore(
  scores: Pick<TestReport, 'hard' | 'soft'> | undefined,
  { config }: Pick<RunState, 'config'>,
): number | undefined {
  return scores && selectGateScore(scores.hard, scores.soft, config?.gateMetric, config?.gateMixedWeight);
}

type Planned = Pick<RunState, 'totalSteps'> & {
  readonly config: Pick<NonNullable<RunState['config']>, 'proposalsPerBatch' | 'maxRollouts'> | undefined;
};

/** Not if a batch may be done early, or if `maxRollouts` ends the run. */
const isPlanExact = ({ config }: Pick<Planned, 'config'>): boolean =>
  (config?.proposalsPerBatch ?? 1) === 1 && config?.maxRollouts === undefined;

/** `18`, `at most 18` or `about 18`. */
export function stepTotal({ config, totalSteps }: Planned): string {
  if (isPlanExact({ config })) return String(totalSteps);
  return config?.maxRollouts === undefined ? `at most ${totalSteps}` : `about ${totalSteps}`;
}

/** `7/18` where there are as many, `7` where nobody knows. */
export const stepNumber = (step: number, planned: Planned): string =>
  isPlanExact(planned) ? `${step}/${planned.totalSteps}` : String(step);

/** A selected edit, and what became of it. */
export type ListedEdit = StepRecord['edits'][number] & {
  readonly step: number;
  readonly status: StepRecord['editStatuses'][number] | 'skipped_over_cap';
  readonly fate: 'accepted' | 'removed' | 'rejected' | 'undecided' | 'invalid' | 'skipped';
  /** Of an accepted edit: its own worth, as far as known. */
  readonly effect?: EditEffect;
};

/** Every edit that was selected in a run, in order: `skipped` did not fit the text, `invalid` gave no valid skill. */
export const listEdits = ({ history }: Pick<RunState, 'history'>): readonly ListedEdit[] => editsOf(history);

/** Kept, since a report asks several times, and a long run has thousands of edits. */
const editsOf = memoizeWeakly((history: RunState['history']): ListedEdit[] => {
  const removed = new Set(history.flatMap((record) => record.removed ?? []));
  return history.flatMap((record) =>
    (record.edits ?? []).map((edit, index) => {
      const status = record.editStatuses?.[index] ?? 'skipped_over_cap';
      const fate = fateOf(record, status, index);
      const isRemoved = fate === 'accepted' && removed.size > 0 && removed.has(edit.content.trim());
      const effect = record.editEffects?.[index];
      const worth = effect ? { effect } : {};
      return { ...edit, step: record.step, status, fate: isRemoved ? 'removed' : fate, ...worth };
    }),
  );
});

function fateOf(record: StepRecord, status: string, index: number): Exclude<ListedEdit['fate'], 'removed'> {
  const { action, salvagedEdits, verdict } = record;
  if (!status.startsWith('applied')) return 'skipped';
  if (isUnscored(record)) return 'invalid';
  if (salvagedEdits) return salvagedEdits.includes(index) ? 'accepted' : 'rejected';
  if (isAccepted(action)) return 'accepted';
  return verdict === 'inconclusive' ? 'undecided' : 'rejected';
}
