import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateGate, parseConfig } from '../../src/core/contracts/index.ts';
import {
  emptyRun,
  noStageUsage,
  type RunEvent,
  type RunFact,
  type RunState,
  reduce,
  summarize,
} from '../../src/core/run/index.ts';
import { skillHash } from '../../src/core/text/index.ts';
import { STRICT } from '../support/strict-gate.ts';

/** A step as dice see it: which text comes out, how it scores, how long it took and what it cost. */
const dice = fc.record({ skill: fc.constantFrom('a', 'b', 'c', 'd'), ms: fc.nat(1_000), replies: fc.nat(9) });
const scores = fc.record({ a: fc.nat(4), b: fc.nat(4), c: fc.nat(4), d: fc.nat(4), seed: fc.nat(4) });
type Dice = { readonly skill: string; readonly ms: number; readonly replies: number };

const stamp = ({ ms, replies }: Omit<Dice, 'skill'>) => {
  const usage = { ...noStageUsage, input: replies, output: replies, replies };
  return { at: '2026-01-01T00:00:00.000Z', ms, usage: replies === 0 ? {} : { rollout: usage } };
};
const evaluation = (hard: number) => ({ hard, soft: hard, scores: [{ id: 'v', hard, soft: hard }] });

/** The journal of a run in which every step makes the text that the dice say, decided by the real gate. */
function journalOf(steps: readonly Dice[], points: Record<string, number>): RunEvent[] {
  const scoreOf = (skill: string) => points[skill]! / 4;
  const events: RunEvent[] = [];
  let state = emptyRun;
  const commit = (fact: RunFact, die: Omit<Dice, 'skill'> = { ms: 1, replies: 0 }) => {
    const event = { ...fact, ...stamp(die) };
    events.push(event);
    state = reduce(state, event);
  };
  const run = { format: 1, identity: {}, config: parseConfig(STRICT), env: 'e', target: 't', optimizer: 'o' } as const;
  commit({
    type: 'run-start',
    ...run,
    initialSkill: 'seed',
    totalSteps: steps.length,
    items: { train: 1, val: 1, test: 1 },
  });
  commit({ type: 'baseline-end', evaluation: evaluation(scoreOf('seed')), score: scoreOf('seed') });
  for (const [index, die] of steps.entries()) takeStep(index + 1, die);
  for (const subject of ['baseline', 'best'] as const) {
    commit({ type: 'test-end', subject, evaluation: evaluation(0.5), taskTypes: [] });
  }
  commit({ type: 'run-end' });
  return events;

  function takeStep(step: number, die: Dice): void {
    const [stage, { skill }] = [{ type: 'stage-end', step } as const, die];
    const [hash, score, patch] = [skillHash(skill), scoreOf(skill), { edits: [], reasoning: '' }];
    const { current, best, evaluations } = state;
    const gate = {
      currentSkill: current.skill,
      currentScore: current.score,
      bestSkill: best.skill,
      bestScore: best.score,
    };
    const input = { ...gate, bestStep: best.step, candidateSkill: skill, candHard: score, globalStep: step };
    const action = hash === current.hash ? 'unchanged' : evaluateGate(input).action;
    commit({
      type: 'step-start',
      step,
      epoch: Math.ceil(step / 2),
      stepInEpoch: 1,
      editBudget: 4,
      seed: 1,
      itemIds: ['t'],
    });
    commit({ ...stage, stage: 'rollout', evaluation: evaluation(0.5) }, die);
    commit({ ...stage, stage: 'reflect', patches: [{ patch, sourceType: 'failure', batchSize: 1 }] }, die);
    commit({ ...stage, stage: 'aggregate', patch });
    commit({ ...stage, stage: 'select', patch });
    commit({ ...stage, stage: 'update', candidateSkill: skill, candidateHash: hash, report: [] });
    const measured =
      evaluations.some((pass) => pass.hash === hash) || action === 'unchanged' ? null : evaluation(score);
    commit({ ...stage, stage: 'evaluate', evaluation: measured, score, action }, die);
    commit({ type: 'step-end', step, action });
  }
}

const journal = fc.tuple(fc.array(dice, { maxLength: 6 }), scores).map(([steps, points]) => journalOf(steps, points));
const fold = (events: readonly RunEvent[], state: RunState = emptyRun) => events.reduce(reduce, state);

describe('reduce', () => {
  it('of any prefix and then the rest equals the whole, also when the state in between was written down', () => {
    fc.assert(
      fc.property(journal, fc.nat(), (events, cut) => {
        const at = cut % (events.length + 1);
        const between = JSON.parse(JSON.stringify(fold(events.slice(0, at))));
        expect(fold(events.slice(at), between)).toEqual(fold(events));
        expect(fold(events.slice(at), fold(events.slice(0, at)))).toStrictEqual(fold(events));
      }),
    );
  });

  it('changes neither the state nor the event it is given', () => {
    const freeze = <T>(value: T): T => {
      if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
        Object.freeze(value);
        Object.values(value).forEach(freeze);
      }
      return value;
    };
    fc.assert(
      fc.property(journal, (events) => {
        expect(() =>
          freeze(events).reduce((state, event) => freeze(reduce(state, event)), freeze(emptyRun)),
        ).not.toThrow();
      }),
    );
  });

  it('keeps the invariants of a run under the strict gate', () => {
    fc.assert(
      fc.property(journal, (events) => {
        let before = emptyRun;
        for (const event of events) {
          const state = reduce(before, event);
          if (event.type === 'step-end') {
            expect(state.current.score).toBeGreaterThanOrEqual(before.current.score);
            expect(state.best.score).toBeGreaterThanOrEqual(state.current.score);
          }
          before = state;
        }
        const summary = summarize(before);
        const { totalAccepts, totalRejects, totalSkips } = summary;
        expect(totalAccepts + totalRejects + totalSkips).toBe(summary.totalSteps);
        expect(summary.epochStats.reduce((sum, { steps }) => sum + steps, 0)).toBe(summary.totalSteps);
        expect(before.wallTimeMs).toBe(events.reduce((sum, { ms }) => sum + ms, 0));
      }),
    );
  });
});
