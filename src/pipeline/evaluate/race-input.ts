import type { Evaluation, Item, RolloutResult, SkillEnv, SkillOptConfig } from '../../core/contracts/index.ts';
import type { Blame, GateDecision, RunState, StepAction } from '../../core/run/index.ts';

export type GateConfig = Pick<SkillOptConfig, 'gateMetric' | 'gateMixedWeight' | 'useGate'> &
  Partial<
    Pick<SkillOptConfig, 'gate' | 'racing' | 'batchSize' | 'regressionVeto' | 'protectedItems' | 'maxErroredShare'>
  >;

/** Where candidates are measured, and what they must beat. */
export type RaceInput = {
  readonly env: SkillEnv;
  readonly state: RunState;
  readonly items: readonly Item[];
  readonly config: GateConfig;
  /** Of the order in which a race meets the items. */
  readonly seed?: number;
  /** Rollouts that the search may still make; no limit unless given. */
  readonly rolloutsLeft?: number | undefined;
  /** Why a text is no skill that could be used, and the current one is; asked before anything is paid for. */
  readonly whyUnusable?: ((skill: string) => Promise<string | undefined>) | undefined;
};

export type JudgedCandidate = {
  /** What was measured for this candidate; `null` when its text was measured before. */
  readonly evaluation: Evaluation | null;
  readonly score: number;
  readonly action: StepAction;
  readonly results: readonly RolloutResult[];
  /** The candidate lost before it had met every item, or too many of them gave no result. */
  readonly isPartial?: boolean;
  /** Why its evaluation says nothing, or why there was none; the gate that knows noise says the first in its decision. */
  readonly invalidReason?: string;
  readonly decision?: GateDecision;
  readonly blame?: Blame;
};
