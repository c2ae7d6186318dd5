import { parseConfig, type SkillOptConfigInput } from '../../core/contracts/index.ts';
import type { Cost } from '../../core/run/index.ts';
import { pooledMean } from '../../core/stats/index.ts';
import type { CheckKind, ScoredDocument, SkillCheck } from '../../report/index.ts';
import { compareSides, sideOf } from './compare-sides.ts';

export type CheckInput = {
  readonly scored: ScoredDocument;
  readonly baseline: ScoredDocument | undefined;
  readonly minScore: number | undefined;
  readonly config: SkillOptConfigInput;
};

/** Sums of thirds and tenths miss a bar by less than this. */
const ROUNDING = 1e-9;

/** Fails a skill only for what is known: worse by the whole interval, or a score below the bar. */
export function checkSkill({ scored, baseline, minScore, config }: CheckInput): SkillCheck {
  const side = sideOf(scored, config);
  const against = baseline && compareSides(sideOf(baseline, config), side, config);
  const score = pooledMean(side.evidence) ?? 0;
  const isBelowBar = minScore !== undefined && score < minScore - ROUNDING;
  const unmeasured = scored.unmeasured ?? baseline?.unmeasured;
  const kind = kindOf({ unmeasured, against, isBelowBar });
  return {
    ...{ kind, isPassed: !FAILED.has(kind), score, metric: parseConfig(config).gateMetric, minScore },
    ...{ isBelowBar, against, cost: addCosts(scored.cost, baseline?.cost), unmeasured },
  };
}

const FAILED: ReadonlySet<CheckKind> = new Set(['not-measured', 'worse', 'below-bar']);

function kindOf({ unmeasured, against, isBelowBar }: Pick<SkillCheck, 'unmeasured' | 'against' | 'isBelowBar'>) {
  if (unmeasured) return 'not-measured';
  if (against?.kind === 'worse') return 'worse';
  return isBelowBar ? 'below-bar' : (against?.kind ?? 'scored');
}

const addCosts = (one: Cost, other: Cost | undefined): Cost =>
  other === undefined
    ? one
    : {
        calls: one.calls + other.calls,
        tokens: one.tokens + other.tokens,
        costUsd: one.costUsd + other.costUsd,
        isPriced: one.isPriced && other.isPriced,
      };
