import { SkillError } from './errors.ts';

/** The gates that a config may name. Each one is a rule in `pipeline/evaluate/rules.ts`. */
export const GATES = ['paired', 'strict'] as const;
type Gate = (typeof GATES)[number];

/** Gates that keep evidence of each item over the run and may ask twice. */
const EVIDENCE_GATES: ReadonlySet<string | undefined> = new Set<Gate>(['paired']);

/** A journal may name a gate of a later version. */
export const knowsNoise = (gate: Gate | undefined): boolean => EVIDENCE_GATES.has(gate);

export const GATE_METRICS = ['hard', 'soft', 'mixed'] as const;
export type GateMetric = (typeof GATE_METRICS)[number];
export type GateAction = 'accept_new_best' | 'accept' | 'reject';

export type GateResult = {
  readonly action: GateAction;
  readonly currentSkill: string;
  readonly currentScore: number;
  readonly bestSkill: string;
  readonly bestScore: number;
  readonly bestStep: number;
};

export type GateInput = Omit<GateResult, 'action'> & {
  readonly candidateSkill: string;
  readonly candHard: number;
  readonly candSoft?: number;
  readonly globalStep: number;
  readonly metric?: GateMetric;
  readonly mixedWeight?: number;
};

export const GATE_DEFAULTS = { metric: 'hard', mixedWeight: 0.5 } as const;

/** One number from the two scores: hard, soft, or `(1 - w)·hard + w·soft`. */
export function selectGateScore(
  hard: number,
  soft: number,
  metric: GateMetric = GATE_DEFAULTS.metric,
  mixedWeight: number = GATE_DEFAULTS.mixedWeight,
): number {
  if (metric === 'hard') return hard;
  if (metric === 'soft') return soft;
  if (metric !== 'mixed') {
    throw new SkillError('CONFIG_INVALID', `gateMetric must be one of ${GATE_METRICS.join(', ')}, got "${metric}"`);
  }
  if (!(mixedWeight >= 0 && mixedWeight <= 1)) {
    throw new SkillError('CONFIG_INVALID', `gateMixedWeight must be between 0 and 1, got ${mixedWeight}`);
  }
  return (1 - mixedWeight) * hard + mixedWeight * soft;
}

/** The strict gate: better than best, else better than current, else nothing changes. A tie is a rejection. */
export function evaluateGate(input: GateInput): GateResult {
  const { candidateSkill, candHard, candSoft = 0, metric, mixedWeight, globalStep } = input;
  const { currentSkill, currentScore, bestSkill, bestScore, bestStep } = input;
  const score = selectGateScore(candHard, candSoft, metric, mixedWeight);
  const accepted = { currentSkill: candidateSkill, currentScore: score };
  const best = { bestSkill, bestScore, bestStep };
  const newBest = { bestSkill: candidateSkill, bestScore: score, bestStep: globalStep };
  if (score > bestScore) return { action: 'accept_new_best', ...accepted, ...newBest };
  if (score > currentScore) return { action: 'accept', ...accepted, ...best };
  return { action: 'reject', currentSkill, currentScore, ...best };
}
