import type { GateDecision } from './gate-decision.ts';
import { acceptEvidence, addRefreshed, believableScore, type GateEvidence } from './gate-evidence.ts';
import type { RunState, ScoredSkill } from './run-state.ts';
import type { Evaluation, ItemScore } from './score.ts';

/** Without a gate a candidate is always taken, and is the best only if it measures best. */
export function isNewBest(action: string, candidate: ScoredSkill, { best }: RunState): boolean {
  return action === 'accept_new_best' || (action === 'force_accept' && candidate.score > best.score);
}

export function isAccepted(action: string): boolean {
  return action === 'accept' || action === 'accept_new_best' || action === 'force_accept';
}

export function remember(state: RunState, hash: string, { hard, soft }: Evaluation): RunState {
  return { ...state, evaluations: { ...state.evaluations, [hash]: { hard, soft } } };
}

type Judged = {
  readonly evaluation: Evaluation | null;
  readonly isPartial?: boolean;
  readonly decision?: GateDecision;
};

/** What a judgement adds to what is known: a whole pass is a score, and refreshed items are evidence. */
export function learn(state: RunState, hash: string, { evaluation, isPartial = false, decision }: Judged): RunState {
  const known = evaluation && !isPartial ? remember(state, hash, evaluation) : state;
  if (!decision || !state.config) return known;
  const isSeed = state.current.origin === 'initial';
  const drawn = [...decision.refreshed, ...(decision.veto?.incumbent ?? [])];
  const gate = addRefreshed(state.gate, drawn, { ...state.config, isSeed });
  const current = { ...known.current, score: believableScore(gate) };
  return {
    ...known,
    gate,
    current,
    best: known.best.hash === current.hash ? { ...known.best, score: current.score } : known.best,
  };
}

/** All rollouts of a candidate: one of each item, or two, and those that cleared it of regressions. */
export const scoresOf = ({ evaluation, decision }: Judged) => [
  ...(evaluation?.scores ?? []),
  ...(decision?.confirmation ?? []),
  ...(decision?.veto?.candidate ?? []),
];

export function accept(state: RunState, scores: readonly ItemScore[]): GateEvidence {
  return isPaired(state) && state.config ? acceptEvidence(state.gate, scores, state.config) : state.gate;
}

export const isPaired = ({ config }: RunState) => config?.gate === 'paired';
