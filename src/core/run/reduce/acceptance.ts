import { knowsNoise } from '../../gate/gate.ts';
import type { GateDecision } from '../../gate/gate-decision.ts';
import { acceptEvidence, addRefreshed, type GateEvidence, shrunkScore } from '../../gate/gate-evidence.ts';
import type { Evaluation, ItemScore } from '../../score.ts';
import type { RunState, ScoredSkill } from '../run-state.ts';
import { hasPass, passScore, recordPass } from './passes.ts';

export function isAccepted(action: string): boolean {
  return action === 'accept' || action === 'accept_new_best' || action === 'force_accept';
}

/** What is taken for another reason than beating the best is the best only if it measures best. */
export function isNewBest(action: string, candidate: ScoredSkill, state: RunState): boolean {
  if (action === 'accept_new_best') return true;
  const isOpen = action === 'force_accept' || (action === 'accept' && isPaired(state)); // the strict gate has said it
  if (isPaired(state) && !hasPass(state, state.best)) return false; // the end of the search measures both
  return isOpen && passScore(state, candidate) > passScore(state, state.best);
}

type Judged = {
  readonly evaluation: Evaluation | null;
  readonly isPartial?: boolean;
  readonly decision?: GateDecision;
};

/** What a judgement adds to the state: a whole pass is a score, and refreshed items are evidence. */
export function addMeasurement(
  state: RunState,
  hash: string,
  { evaluation, isPartial = false, decision }: Judged,
): RunState {
  const known = evaluation && !isPartial ? recordPass(state, hash, evaluation) : state;
  if (!decision || !state.config) return known;
  const isSeed = state.current.origin === 'initial';
  const drawn = [...decision.refreshed, ...(decision.veto?.incumbent ?? [])];
  const gate = drawn.length === 0 ? state.gate : addRefreshed(state.gate, drawn, { ...state.config, isSeed });
  const current = { ...known.current, score: shrunkScore(gate) };
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

/** What is known after a candidate was taken. One that no gate chose needs no shrinking, since it was not selected for a lucky score. */
export function evidenceAfterAccept(state: RunState, scores: readonly ItemScore[], action: string): GateEvidence {
  const { gate, config } = state;
  return isPaired(state) && config
    ? acceptEvidence(gate, scores, { ...config, isChosen: action !== 'force_accept' })
    : gate;
}

/** The score of an accepted candidate: shrunk where the gate knows the noise, else as measured. */
export function acceptedScore(state: RunState, gate: GateEvidence, action: string, measured: number): number {
  return isPaired(state) && isAccepted(action) && action !== 'force_accept' ? shrunkScore(gate) : measured;
}

const isPaired = ({ config }: RunState) => knowsNoise(config?.gate);
