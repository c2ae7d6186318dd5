import type { RunEvent } from '../event.ts';
import type { RunState } from '../run-state.ts';
import { acceptedScore, addMeasurement, evidenceAfterAccept, isAccepted, isNewBest, scoresOf } from './acceptance.ts';

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

/** Guidance is a candidate like any other. */
export function takeGuidance(state: RunState, event: Event<'slow-update-end'>): RunState {
  const { epoch, action, candidateSkill: skill, candidateHash: hash, leakReason: reason, leakKind: kind } = event;
  const known = addMeasurement(state, hash, event);
  const gate = isAccepted(action) ? evidenceAfterAccept(known, scoresOf(event), action) : known.gate;
  const origin = `slow_update_epoch_${String(epoch).padStart(2, '0')}`;
  const score = acceptedScore(known, gate, action, event.score);
  const candidate = { skill, hash, score, step: state.stepsDone, origin };
  const current = isAccepted(action) ? candidate : known.current;
  const best = isNewBest(action, candidate, known) ? candidate : known.best;
  const refused = { stage: 'slow_update' as const, at: epoch, ...(kind === undefined ? {} : { kind }) };
  const leak = reason === undefined ? [] : [{ ...refused, reason }];
  return { ...known, gate, current, best, leaks: [...known.leaks, ...leak], slowUpdateEpoch: epoch };
}

/** A comparison that taught nothing does not take away what was learned before. */
export function takeNotes(state: RunState, { epoch, action, content }: Event<'meta-skill-end'>): RunState {
  return { ...state, metaSkill: action === 'no_content' ? state.metaSkill : content, metaSkillEpoch: epoch };
}

export function endEpoch(state: RunState, { epoch }: Event<'epoch-end'>): RunState {
  const stepBuffer = state.config?.stepBufferScope === 'run' ? state.stepBuffer : [];
  const isIdle = state.rollouts === state.lastEpoch?.rollouts;
  const lastEpoch = { epoch, skill: state.current.skill, rollouts: state.rollouts, isIdle };
  return { ...state, lastEpoch, stepBuffer };
}
