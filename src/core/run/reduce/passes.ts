import { selectGateScore } from '../../gate/gate.ts';
import type { RunState, ScoredSkill } from '../run-state.ts';

type Pass = { readonly hard: number; readonly soft: number };

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

/** Of two passes under one hash the last counts. */
export function recordPass(state: RunState, hash: string, { hard, soft }: Pass): RunState {
  return { ...state, evaluations: [...state.evaluations, { hash, hard, soft }] };
}

export function recordPasses(state: RunState, table: Readonly<Record<string, Pass>>): RunState {
  const passes = Object.entries(table).map(([hash, { hard, soft }]) => ({ hash, hard, soft }));
  return { ...state, evaluations: [...state.evaluations, ...passes] };
}
