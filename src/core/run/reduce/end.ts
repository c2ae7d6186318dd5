import { toObservations, toTable } from '../../gate/gate-evidence.ts';
import { bucketScores } from '../../score.ts';
import { skillHash } from '../../skill/skill-hash.ts';
import { addObservations, noEvidence } from '../../stats/evidence.ts';
import { type RunEvent, type Stamp, toFact } from '../event.ts';
import { type RunState, unscored } from '../run-state.ts';
import { noteEffect } from './edit-effect.ts';
import { passOf, recordPass, recordPasses } from './passes.ts';

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

export function prune(state: RunState, event: Event<'prune-end'>): RunState {
  const { removed, skill, hash, score, evaluations, measured = [] } = event;
  const history = measured.reduce<RunState['history']>(
    (records, one) => noteEffect(records, { ...one, measuredBy: 'prune' }),
    state.history,
  );
  const best = removed.length > 0 ? { ...state.best, skill, hash, score, origin: 'prune' } : state.best;
  return { ...recordPasses(state, evaluations), best, history, isPruned: true };
}

/** The last skill has its chance to be the best. */
export function selectFinal(state: RunState, event: Event<'final-selection-end'>): RunState {
  const { evaluation, score, isPromoted } = event;
  const known = evaluation ? recordPass(state, state.current.hash, evaluation) : state;
  const { hard = 0, soft = 0 } = passOf(known, state.current.hash) ?? {};
  const best = isPromoted ? { ...state.current, score } : state.best;
  return { ...known, best, final: { hard, soft, score } };
}

export function measureFinal(state: RunState, event: Event<'final-measurement-end'>): RunState {
  const { type: _type, ...finalMeasurement } = toFact(event) as Omit<typeof event, keyof Stamp>;
  const measured = { ...state, finalMeasurement };
  const isOver = state.final !== undefined; // a run that stopped at its budget is resumed with what it has
  return event.isSeedBetter && isOver ? { ...measured, best: seedSkill(state) } : measured;
}

/** What the run began with, which ships if the winner measures worse. */
function seedSkill({ initialSkill, baseline }: RunState): RunState['best'] {
  return { ...unscored, skill: initialSkill, hash: skillHash(initialSkill), score: baseline?.score ?? 0 };
}

export function endTest(state: RunState, { evaluation, subject, taskTypes }: Event<'test-end'>): RunState {
  const buckets = bucketScores(evaluation.scores, taskTypes);
  const report = { hard: evaluation.hard, soft: evaluation.soft, n: evaluation.scores.length, buckets };
  const observed = toObservations(evaluation.scores, { gateMetric: 'hard', gateMixedWeight: 0.5, ...state.config });
  const evidence = toTable(addObservations(noEvidence, observed));
  const testEvidence = { ...state.testEvidence, [subject]: evidence };
  return { ...state, tests: { ...state.tests, [subject]: report }, testEvidence };
}
