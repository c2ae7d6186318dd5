import type { Evaluation, ItemScore } from '../score.ts';
import type { FinalReport } from '../stats/final-report.ts';
import type { Verdict, WaveJudgement } from '../stats/gate.ts';
import type { Veto } from '../stats/regression-veto.ts';

/** Items that a winner seemed to have lost, rolled out again under both skills before they counted. */
export type RegressionCheck = Veto & {
  readonly incumbent: readonly ItemScore[];
  readonly candidate: readonly ItemScore[];
};

/**
 * Most tasks threw under a candidate, and the current skill answered on some of them: it is the candidate's doing. It is
 * never taken, since nothing could be learned with it.
 */
export type Blame = {
  readonly threw: number;
  readonly total: number;
  /** The most frequent. */
  readonly reason: string;
  /** Attempts of the current skill that were made to know it. */
  readonly asked: number;
};

/** What the gate decided and why. With the evidence of the run so far, the decision can be made again from this. */
export type GateDecision = Omit<WaveJudgement, 'verdict'> & {
  readonly verdict: Verdict;
  /** The current skill's items that were rolled out again for this. */
  readonly refreshed: readonly ItemScore[];
  /** A second pass of the candidate, for one that the first spoke for. */
  readonly confirmation?: readonly ItemScore[];
  /** Only of a winner that was asked about regressions. */
  readonly veto?: RegressionCheck;
  /** Items of the whole race. */
  readonly total: number;
};

/** Passes over validation after the search, by which the winner is reported. */
export type FinalMeasurement = FinalReport & {
  readonly hash: string;
  readonly passes: readonly Evaluation[];
};
