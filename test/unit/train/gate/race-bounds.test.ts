import { type AcceptanceRule, emptyRun, type Item, type SkillEnv, type SkillOptConfigInput } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { createStageDeps, judgeSkill, pruneSkill } from '../../../../src/pipeline/index.ts';
import { appends, ofStage, ofType, scriptedRun, type Task } from '../../../support/scripted-run.ts';

const VAL = 12;
const sizes = { train: 3, val: VAL, test: 0 };
const CONFIG = { numEpochs: 1, batchSize: 3, proposalsPerBatch: 1, tryRemovals: false, tryShorter: false } as const;

describe('a race of many rounds', () => {
  type Rounds = {
    readonly rounds: number;
    /** Tasks of each round. */
    readonly asked: number;
    /** How many of them give no result, in every round but the first. */
    readonly missing: number;
    readonly how?: 'errored' | 'unjudged';
    readonly maxErroredShare?: number;
  };

  /** The first round meets all tasks, and each later one the first few again. The candidate solves all that gives a result. */
  async function race({ rounds, asked, missing, how = 'errored', maxErroredShare = 0.2 }: Rounds) {
    const gate: AcceptanceRule = (evidence, { ids }) => {
      if (evidence.rounds.length === rounds) return { verdict: 'accept', reason: 'all rounds are made' };
      return {
        verdict: 'continue',
        reason: 'more',
        candidate: evidence.rounds.length === 0 ? ids : ids.slice(0, asked),
      };
    };
    const met = new Map<string, number>();
    const rolloutOne: SkillEnv<Task>['rolloutOne'] = async ({ item: { id, k }, skill }) => {
      if (!skill.includes('GAIN') || !id.startsWith('val-')) return { hard: 0, soft: 0, failReason: 'wrong: as said' };
      met.set(id, (met.get(id) ?? 0) + 1);
      return met.get(id)! > 1 && k < missing ? { hard: 0, soft: 0, [how]: true } : { hard: 1, soft: 1 };
    };
    const { facts } = await scriptedRun({
      solves: () => false,
      sizes,
      hooks: { rolloutOne },
      script: { analyst: () => appends('GAIN') },
      config: { ...CONFIG, gate: 'paired', evalTest: false, maxErroredShare },
      options: { gate },
    });
    const { action, decision } = ofStage(facts, 'evaluate')[0]!;
    return { action, verdict: decision!.verdict, reason: decision!.reason, again: decision!.confirmation!.length };
  }

  it.each(['errored', 'unjudged'] as const)(
    'bears a few tasks that were %s in each, however many it has',
    async (how) => {
      const whole = { rounds: 9, asked: VAL, missing: 2, how }; // 16 of 96: more than there are tasks
      expect(await race(whole)).toMatchObject({ action: 'accept_new_best', verdict: 'accept', again: 96 });
      const small = { rounds: 9, asked: 6, missing: 1, how }; // 8 of 48
      expect(await race(small)).toMatchObject({ action: 'accept_new_best', verdict: 'accept', again: 48 });
    },
  );

  it('is called off when those of all rounds together are too many, though those of one are not', async () => {
    const much = { rounds: 9, asked: 6, missing: 2, how: 'unjudged' } as const;
    expect(await race(much)).toEqual({
      action: 'reject',
      verdict: 'invalid',
      reason: '4 of 12 items gave no result (4 could not be judged); at most a fifth may be missing',
      again: 12,
    });
    expect(await race({ ...much, how: 'errored' })).toMatchObject({ action: 'reject', verdict: 'invalid', again: 12 });
    const allowed = { ...much, how: 'errored', maxErroredShare: 0.4 } as const;
    expect(await race(allowed)).toMatchObject({ action: 'accept_new_best', verdict: 'accept', again: 48 });
  });
});

describe.each(['exact', 'off'] as const)('under the strict gate (racing: %s), where nothing comes back', (racing) => {
  type Fate = 'errored' | 'unjudged';

  /** The seed solves nothing, and no attempt of the candidate has a result. */
  async function play(fate: Fate, config: SkillOptConfigInput) {
    let attempts = 0;
    const { facts, summary } = await scriptedRun({
      solves: () => false,
      sizes,
      hooks: {
        rolloutOne: async ({ item: { id }, skill }) => {
          const isLost = skill.includes('GAIN') && id.startsWith('val-');
          if (isLost) attempts += 1;
          return { hard: 0, soft: 0, failReason: 'wrong: as said', ...(isLost ? { [fate]: true } : {}) };
        },
      },
      script: { analyst: () => appends('GAIN') },
      config: { ...CONFIG, gate: 'strict', racing, evalTest: false, ...config },
    });
    return { facts, summary, attempts };
  }

  it.each<Fate>(['errored', 'unjudged'])(
    'a race ends, and a candidate that is %s on every task is not taken',
    async (fate) => {
      const { facts, summary, attempts } = await play(fate, { maxErroredShare: 1 });
      expect(attempts, 'one pass at most').toBeLessThanOrEqual(VAL);
      expect(ofType(facts, 'step-end')).toMatchObject([{ action: 'reject' }]);
      expect(summary.bestSkill).toBe('# Skill\n');
    },
  );

  it('a race ends the run where no outage is borne', async () => {
    await expect(play('errored', {})).rejects.toThrow(/of 12 tasks got no score/);
  });

  const items: readonly Item[] = Array.from({ length: VAL }, (_, k) => ({ id: `val-${k}` }));
  const skill = '# Skill\n\nGAIN\n\nIdle.\n';
  const state = {
    ...emptyRun,
    current: { ...emptyRun.current, skill, score: 0.5 },
    best: { ...emptyRun.best, skill, score: 0.5 },
  };
  const config = { gate: 'strict', racing, useGate: true, gateMetric: 'hard', gateMixedWeight: 0.5 } as const;
  const env = { name: 'silent', getItems: () => [...items], rolloutOne: async () => ({ hard: 1, soft: 1 }) };

  /** Its attempts are lost: it answers none of what it is asked. */
  function silent() {
    const asked: number[] = [];
    const model = scripted('nobody', () => '');
    const deps = createStageDeps({ target: model, optimizer: model });
    const map: typeof deps.limit.map = async (tasks) => {
      asked.push(tasks.length);
      if (asked.length > 1000) throw new Error('it goes on for ever');
      return [];
    };
    return { deps: { ...deps, limit: { ...deps.limit, map } }, asked };
  }
  const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

  it('a race asks for twenty attempts a task at most, and takes nobody', async () => {
    const { deps, asked } = silent();
    const judged = await judgeSkill(
      { candidateSkill: 'other', candidateHash: 'other' },
      { env, state, items, config },
      deps,
    );
    expect(judged).toMatchObject({ action: 'reject', isPartial: true, results: [] });
    expect(sumOf(asked)).toBeLessThanOrEqual(20 * VAL);
    expect(sumOf(asked)).toBeGreaterThan(19 * VAL - 8);
  });

  it('pruning ends, and takes nothing out', async () => {
    const { deps, asked } = silent();
    const pruned = await pruneSkill({ env, state, items, config, passages: ['GAIN', 'Idle.'] }, deps);
    expect(pruned).toMatchObject({ removed: [], tries: 2, skill, evaluations: {} });
    expect(sumOf(asked)).toBeLessThanOrEqual(3 * 20 * VAL);
  });
});
