import { type GateMetric, parseConfig, type SkillOptConfigInput } from '../../core/contracts/index.ts';
import { type Cost, toObservations } from '../../core/run/index.ts';
import {
  addObservations,
  comparePaired,
  type Evidence,
  noEvidence,
  type PairedComparison,
} from '../../core/stats/index.ts';
import type { ScoredDocument } from './score-documents.ts';

/** A skill with what is known of it by tasks, whether it was scored just now or by a run. */
export type Side = {
  readonly name: string;
  readonly text: string;
  readonly evidence: Evidence;
  readonly cost: Cost;
  /** What the target read besides the text, if that is known. */
  readonly version?: string | undefined;
};

/** One skill against another on the tasks that both have a score for. */
export type SideComparison = {
  readonly kind: 'better' | 'worse' | 'not-proven' | 'no-change';
  readonly metric: GateMetric;
  /** Nothing without a task in common. Without a `gain` where it is one skill twice. */
  readonly comparison: (Omit<PairedComparison, 'gain'> & Partial<Pick<PairedComparison, 'gain'>>) | undefined;
};

type Metric = Pick<SkillOptConfigInput, 'gateMetric' | 'gateMixedWeight' | 'confidence'>;

export function compareSides(before: Side, after: Side, config: Metric): SideComparison {
  const { confidence, gateMetric: metric } = parseConfig(config);
  const compared = comparePaired(before.evidence, after.evidence, confidence);
  const isSame = before.text === after.text && before.version === after.version;
  if (isSame && compared) {
    const { gain: _gain, ...comparison } = compared; // one text has no gain over itself
    return { kind: 'no-change', metric, comparison: { ...comparison, isProven: false, isWorse: false } };
  }
  const kind = compared?.isWorse ? 'worse' : compared?.isProven ? 'better' : 'not-proven';
  return { kind, metric, comparison: compared };
}

/** A document that was scored, as one side of a comparison. */
export function sideOf({ document: name, text, whole, cost, version }: ScoredDocument, config: Metric): Side {
  const observations = toObservations(whole.evaluation.scores, parseConfig(config));
  return { name, text, evidence: addObservations(noEvidence, observations), cost, version };
}
