import { selectGateScore } from '../../gate/gate.ts';
import type { GateDecision } from '../../gate/gate-decision.ts';
import { acceptEvidence, addRefreshed, believableScore, type GateEvidence } from '../../gate/gate-evidence.ts';
import type { Evaluation, ItemScore } from '../../score.ts';
import type { RunState, ScoredSkill } from '../run-state.ts';

/** What is taken for another reason than beating the best is the best only if it measures best. */
export function isNewBest(action: string, candidate: ScoredSkill, state: RunState): boolean {
  if (action === 'accept_new_best') return true;
  const isOpen = action === 'force_accept' || (action === 'accept' && isPaired(state)); // the strict gate has said it
  if (isPaired(state) && !hasPass(state, state.best)) return false; // the end of the search measures both
  return isOpen && passScore(state, candidate) > passScore(state, state.best);
}

/** A skill by its whole pass, if it had one: what is believed of skills that never met is on no common scale. */
export function passScore(state: RunState, { hash, score }: ScoredSkill): number {
  const { config } = state;
  const pass = passOf(state, hash);
  return pass && config ? selectGateScore(pass.hard, pass.soft, config.gateMetric, config.gateMixedWeight) : score;
}

/** Whether a skill has met all items in one pass. One that was accepted early has not. */
export const hasPass = (state: RunState, { hash }: ScoredSkill) => passOf(state, hash) !== undefined;

/** The last pass of a text, if it had one. */
export const passOf = ({ evaluations }: Pick<RunState, 'evaluations'>, hash: string) =>
  evaluations.findLast((pass) => pass.hash === hash);

export function isAccepted(action: string): boolean {
  return action === 'accept' || action === 'accept_new_best' || action === 'force_accept';
}

export function remember(state: RunState, hash: string, { hard, soft }: Evaluation): RunState {
  return { ...state, evaluations: [...state.evaluations, { hash, hard, soft }] };
}

type PassTable = Readonly<Record<string, { readonly hard: number; readonly soft: number }>>;

export function rememberAll(state: RunState, table: PassTable): RunState {
  const passes = Object.entries(table).map(([hash, { hard, soft }]) => ({ hash, hard, soft }));
  return { ...state, evaluations: [...state.evaluations, ...passes] };
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
  const gate = drawn.length === 0 ? state.gate : addRefreshed(state.gate, drawn, { ...state.config, isSeed });
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

/** What is known after a candidate was taken. One that nobody chose has no lucky lead to be made believable. */
export function accept(state: RunState, scores: readonly ItemScore[], action: string): GateEvidence {
  const { gate, config } = state;
  return isPaired(state) && config
    ? acceptEvidence(gate, scores, { ...config, isChosen: action !== 'force_accept' })
    : gate;
}

/** The score of a candidate that was taken: as far as it is believable, where that is known. */
export function scoreTaken(state: RunState, gate: GateEvidence, action: string, measured: number): number {
  return isPaired(state) && isAccepted(action) && action !== 'force_accept' ? believableScore(gate) : measured;
}

const isPaired = ({ config }: RunState) => config?.gate === 'paired';
