import { parseConfig, type SkillOptConfigInput } from '../../core/contracts/index.ts';
import { toObservations } from '../../core/run/index.ts';
import { addObservations, comparePaired, noEvidence } from '../../core/stats/index.ts';
import type { ScoredDocument, Side, SideComparison } from '../../report/index.ts';

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
