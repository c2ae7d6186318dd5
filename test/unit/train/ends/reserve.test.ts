import {
  type ChatModel,
  type ChatRequest,
  ModelCallError,
  memoryRun,
  type RunFact,
  type SkillEnv,
  type SkillOptConfigInput,
  SkillOptTrainer,
  toFact,
} from 'skillopt';
import { scripted } from 'skillopt/testing';
import { describe, expect, it, vi } from 'vitest';
import { emptyRun, noStageUsage, reduce } from '../../../../src/core/run/index.ts';
import { skillHash } from '../../../../src/core/text/index.ts';
import { reserveFor } from '../../../../src/train/budget/rollouts-left.ts';
import { levelsEnv, levelsOptimizer, levelsTarget } from '../../../support/levels.ts';
import { appends, ofType, type Script, scriptedRun, type Task } from '../../../support/scripted-run.ts';
import { EPOCH_ENDS } from '../../../support/strict-gate.ts';

type Store = ReturnType<typeof memoryRun>;
type Start = { config?: SkillOptConfigInput; store?: Store; size?: number; target?: ChatModel; signal?: AbortSignal };

const SMALL = { gate: 'strict', numEpochs: 2, batchSize: 2, finalPasses: 2, maxRetries: 0 } as const;

/** One start of a run in the world of levels: how it ended, and what it asked. */
async function start({ config, store = memoryRun(), size = 4, target, signal }: Start = {}) {
  const models = { target: levelsTarget(), optimizer: levelsOptimizer() };
  const trainer = new SkillOptTrainer({
    env: levelsEnv({ size }),
    ...models,
    ...(target ? { target } : {}),
    ...(signal ? { signal } : {}),
    config: { ...SMALL, ...config },
    store,
  });
  const error = await trainer.train().then(
    () => undefined,
    (reason) => reason,
  );
  const state = store.events.reduce(reduce, emptyRun);
  const asked = [...models.target.requests, ...models.optimizer.requests].map((request) => {
    const { messages, sampleIndex, stage } = request;
    return JSON.stringify({ messages, sampleIndex, stage });
  });
  return { error, state, store, asked, facts: store.events.map(toFact) };
}

const isWon = ({ best, initialSkill }: typeof emptyRun) => best.hash !== skillHash(initialSkill);
const isMeasured = ({ best, finalMeasurement }: typeof emptyRun) => finalMeasurement?.hash === best.hash;

/** But for when the winner was measured, and how many calls there might be. */
const comparable = (facts: readonly RunFact[]) =>
  facts.filter(({ type }) => type !== 'final-measurement-end' && type !== 'run-start');

describe.each([
  ['strict', 3, 1, 3],
  ['strict', 4, 5, 17],
  ['paired', 6, 4, 41],
] as const)(
  'a run (%s gate, %i tasks, %i workers) that stops at its limit of calls, whatever that is',
  async (...row) => {
    const [gate, size, workers, every] = row;
    const settings = { gate, workers };
    const whole = await start({ config: settings, size });
    const need = whole.asked.length;
    const limits = Array.from({ length: Math.floor((need - 1) / every) }, (_, index) => (index + 1) * every);

    it('measures what it has found, continues to the same end, and pays for nothing twice', async () => {
      let won = 0;
      for (const maxCalls of limits) {
        const told = `${maxCalls} calls`;
        const first = await start({ config: { ...settings, maxCalls }, size });
        expect(first.error, told).toMatchObject({ code: 'BUDGET_EXHAUSTED' });
        expect(first.asked.length, told).toBeLessThanOrEqual(maxCalls);
        expect(isMeasured(first.state), told).toBe(isWon(first.state));
        won += Number(isWon(first.state));

        const { facts, state, asked } = await start({ config: settings, store: first.store, size });
        expect(comparable(facts), told).toEqual(comparable(whole.facts));
        expect(state.finalMeasurement, told).toEqual(whole.state.finalMeasurement);
        const hashes = ofType(facts, 'final-measurement-end').map(({ hash }) => hash);
        expect(new Set(hashes).size, told).toBe(hashes.length);
        const paid = [...first.asked, ...asked];
        expect(new Set(paid).size, told).toBe(paid.length);
      }
      expect(won).toBeGreaterThan(0);
    });

    it('comes to the same end in many small helpings', async () => {
      const store = memoryRun();
      for (let maxCalls = 7; ; maxCalls += 6 * size) {
        const { error, state } = await start({ config: { ...settings, maxCalls }, store, size });
        if (error === undefined) break;
        expect(error, `${maxCalls} calls`).toMatchObject({ code: 'BUDGET_EXHAUSTED' });
        expect(isMeasured(state), `${maxCalls} calls`).toBe(isWon(state));
      }
      expect(comparable(store.events.map(toFact))).toEqual(comparable(whole.facts));
    });

    it('needs no more than it would without a limit', async () => {
      expect((await start({ config: { ...settings, maxCalls: need }, size })).error).toBeUndefined();
    });
  },
);

describe('a run with everything on that stops at its limit', async () => {
  const solves = (skill: string, { k }: Task) => skill.includes(`GOOD${k}`);
  const script: Script = {
    analyst: ({ step, epoch }) => appends(epoch === 2 ? `idle ${step}` : `GOOD${step}`),
    slow_update: () => ({ slow_update_content: 'GOOD2' }),
    meta_skill: () => ({ meta_skill_content: 'notes' }),
  };
  const play = async (config: SkillOptConfigInput, store = memoryRun()) => {
    const everything = {
      ...EPOCH_ENDS,
      numEpochs: 3,
      batchSize: 4,
      finalPasses: 1,
      salvage: true,
      prune: true,
      slowUpdateSamples: 2,
    };
    const sizes = { train: 4, val: 4, test: 2 };
    const ending = await scriptedRun({ solves, script, store, sizes, config: { ...everything, ...config } }).then(
      () => 'done',
      (error) => error.code,
    );
    return { ending, state: store.events.reduce(reduce, emptyRun), facts: store.events.map(toFact), store };
  };

  it('measures also what guidance made, and continues to the same end', async () => {
    const whole = await play({});
    const origins = new Set<string>();
    for (let maxCalls = 6; ; maxCalls += 8) {
      const { ending, state, store } = await play({ maxCalls });
      if (ending === 'done') break;
      expect(isMeasured(state), `${maxCalls} calls`).toBe(isWon(state));
      origins.add(state.best.origin);
      const { facts } = await play({}, store);
      expect(comparable(facts), `${maxCalls} calls`).toEqual(comparable(whole.facts));
    }
    expect([...origins]).toContain('slow_update_epoch_02');
  });
});

/** Fresh draws are numbered from here on. */
const isFresh = ({ sampleIndex = 0 }: ChatRequest) => sampleIndex >= 500_000;

/** Answers like the others, and says what it costs. */
const priced = (onRequest: (request: ChatRequest) => void = () => {}): ChatModel => {
  const inner = levelsTarget();
  return {
    id: 'priced',
    async complete(request) {
      onRequest(request);
      const reply = await inner.complete(request);
      return { ...reply, usage: { ...reply.usage, input: 100, output: 2_900 } };
    },
  };
};

describe('a reserve', () => {
  it.each([
    ['maxTotalTokens', 20_000],
    ['maxCostUsd', 0.02],
  ] as const)('is kept of %s', async (limit, share) => {
    const prices = {
      priced: { input: 1, cachedInput: 1, output: 1 },
      'levels-optimizer': { input: 1, cachedInput: 1, output: 1 },
    };
    let won = 0;
    for (let parts = 2; parts <= 12; parts += 2) {
      const target = priced();
      const { state, error } = await start({ target, config: { prices, [limit]: parts * share } });
      expect(isMeasured(state), `${parts} parts`).toBe(isWon(state));
      won += Number(isWon(state) && error !== undefined);
    }
    expect(won).toBeGreaterThan(0);
  });

  it('is kept of minutes', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    try {
      let won = 0;
      for (let maxMinutes = 6; maxMinutes <= 60; maxMinutes += 12) {
        const target = priced(() => vi.advanceTimersByTime(60_000));
        const { state, error } = await start({ target, config: { maxMinutes, workers: 1 } });
        expect(isMeasured(state), `${maxMinutes} minutes`).toBe(isWon(state));
        won += Number(isWon(state) && error !== undefined);
      }
      expect(won).toBeGreaterThan(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([1, 3])('is no larger when the baseline was cut off after %d replies, and resumed', async (replies) => {
    const afterBaseline = ({ events }: Store) => {
      const end = events.findIndex(({ type }) => type === 'baseline-end');
      return reserveFor({ ...events.slice(0, end + 1).reduce(reduce, emptyRun), rolloutMs: undefined }, 8);
    };
    const config = { workers: 1, maxCalls: 40 };
    const whole = await start({ config, target: priced() });
    const controller = new AbortController();
    let left = replies;
    const cut = priced(() => {
      left -= 1;
      if (left < 0) controller.abort(new Error('Ctrl-C'));
    });
    const { store } = await start({ config, target: cut, signal: controller.signal });
    expect(store.events.map(({ type }) => type)).toEqual(['run-start']);
    await start({ config, target: priced(), store });
    expect(afterBaseline(store)).toEqual(afterBaseline(whole.store));
  });

  it('that leaves nothing for a search says so', async () => {
    const { error, state } = await start({ config: { maxCalls: 11 } });
    expect(error).toMatchObject({
      code: 'BUDGET_EXHAUSTED',
      message:
        'maxCalls leaves nothing for the search: 4 of 11 calls were spent before it, and the final measurement needs 8',
    });
    expect(state.stepsDone).toBe(0);
  });

  it('is named when the search has used up its part', async () => {
    const { error } = await start({ config: { maxCalls: 16 } });
    expect(error.message).toBe(
      'maxCalls is reached: 8 of 16 calls are spent, and 8 are kept for the final measurement',
    );
  });

  it('is not kept when nobody wants fresh passes', async () => {
    const { asked, state } = await start({ config: { maxCalls: 11, finalPasses: 0 } });
    expect(asked).toHaveLength(11);
    expect(state.finalMeasurement).toBeUndefined();
  });
});

describe('a reserve in a second run whose baseline comes from the cache', () => {
  type Caches = Awaited<ReturnType<Store['open']>>['caches'];
  type Agent = { readonly caches: Caches; readonly config?: SkillOptConfigInput; readonly onCall?: () => void };

  /** GAIN solves nine of ten tasks instead of two. A rollout takes five calls. */
  const env: SkillEnv<Task> = {
    name: 'agent',
    getItems: (split) => Array.from({ length: split === 'test' ? 0 : 10 }, (_, k) => ({ id: `${split}-${k}`, k })),
    getInitialSkill: () => '# Skill\n',
    async rolloutOne({ item, skill, target }) {
      for (let turn = 0; turn < 5; turn++) {
        await target.complete({ messages: [{ role: 'user', content: `${skill} ${item.id} turn ${turn}` }] });
      }
      const hard = Number(item.k < (skill.includes('GAIN') ? 9 : 2));
      return { hard, soft: hard };
    },
  };

  const withCaches = (store: Store, caches: Caches): Store => ({
    ...store,
    get events() {
      return store.events;
    },
    async open() {
      const opened = await store.open();
      return { ...opened, caches, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
    },
  });

  async function search({ caches, config, onCall }: Agent) {
    const store = memoryRun();
    const target = scripted('agent', () => {
      onCall?.();
      return 'x';
    });
    const gain = { patch: { edits: [{ op: 'append', content: 'GAIN' }] } };
    const optimizer = scripted('optimizer', ({ stage }) => JSON.stringify(stage === 'analyst' ? gain : {}));
    const settings = { numEpochs: 2, batchSize: 5, finalPasses: 2, evalTest: false, leakCritic: false, workers: 1 };
    const models = { target, optimizer, store: withCaches(store, caches) };
    const trainer = new SkillOptTrainer({ env, ...models, config: { maxRetries: 0, ...settings, ...config } });
    const error = await trainer.train().then(
      () => undefined,
      (reason) => reason,
    );
    return { error, state: store.events.reduce(reduce, emptyRun), asked: target.requests.length };
  }

  /** The baseline and nothing else is known. */
  async function baselineKept(): Promise<Caches> {
    const { caches } = await memoryRun().open();
    expect((await search({ caches, config: { maxCalls: 100 } })).asked).toBe(100);
    return caches;
  }

  it('is kept of calls, as many as rollouts take', async () => {
    let won = 0;
    for (let maxCalls = 105; maxCalls <= 305; maxCalls += 50) {
      const { error, state } = await search({ caches: await baselineKept(), config: { maxCalls } });
      expect(isMeasured(state), `${maxCalls} calls: ${error?.message}`).toBe(isWon(state));
      won += Number(isWon(state) && error !== undefined);
    }
    expect(won).toBeGreaterThan(0);
  });

  it('is kept of minutes', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    try {
      let won = 0;
      for (let maxMinutes = 30; maxMinutes <= 330; maxMinutes += 75) {
        const onCall = () => vi.advanceTimersByTime(60_000);
        const { error, state } = await search({ caches: await baselineKept(), config: { maxMinutes }, onCall });
        expect(isMeasured(state), `${maxMinutes} minutes: ${error?.message}`).toBe(isWon(state));
        won += Number(isWon(state) && error !== undefined);
      }
      expect(won).toBeGreaterThan(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('while the winner so far is measured', () => {
  const limit = { maxCalls: 40 };

  it('Ctrl-C stops at once, and the next start measures it', async () => {
    const [controller, reason] = [new AbortController(), new Error('Ctrl-C')];
    const target = priced((request) => isFresh(request) && controller.abort(reason));
    const stopped = await start({ target, config: { ...limit, workers: 1 }, signal: controller.signal });
    expect(stopped.error).toBe(reason);
    expect(isWon(stopped.state) && !isMeasured(stopped.state)).toBe(true);
    const again = await start({ target: priced(), config: limit, store: stopped.store });
    expect(again.error).toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    expect(isMeasured(again.state)).toBe(true);
  });

  it('an outage is told as one', async () => {
    const target = priced((request) => {
      if (isFresh(request)) throw new ModelCallError('no such key', { status: 401 });
    });
    const { error, state } = await start({ target, config: limit });
    expect(error).toMatchObject({ code: 'MODEL_CALL_FAILED' });
    expect(isMeasured(state)).toBe(false);
  });
});

describe('what a reserve holds', () => {
  const usage = { ...noStageUsage, rollouts: 10, replies: 25, cacheHits: 5, input: 1_000, output: 1_000, costUsd: 2 };
  const judge = { ...noStageUsage, replies: 10, input: 100, output: 100 };
  const run = { ...emptyRun, rolloutMs: 6_000 };

  it('is what rollouts cost in the mean, judges and remembered replies among them, and a margin', () => {
    const held = reserveFor({ ...run, usage: { rollout: usage, judge } }, 100);
    expect(held.calls).toBe(Math.ceil(1.1 * 350));
    expect(held.minutes).toBeCloseTo(11);
    expect(held.totalTokens).toBe(Math.ceil((1.1 * 100 * 35 * (2_200 / 30)) / 10));
    expect(held.costUsd).toBeCloseTo((1.1 * 100 * 35 * (2 / 30)) / 10);
  });

  it('has no margin where every rollout takes as many calls as any other', () => {
    const even = { ...usage, replies: 20 };
    expect(reserveFor({ ...run, usage: { rollout: even } }, 100).calls).toBe(200);
  });

  it('follows a skill that has grown', () => {
    const grown = { ...usage, input: 9_000 };
    const history = [{ tokens: { rollout: grown } }] as unknown as (typeof emptyRun)['history'];
    const held = reserveFor({ ...run, usage: { rollout: usage }, history }, 100);
    expect(held.totalTokens).toBe(reserveFor({ ...run, usage: { rollout: grown } }, 100).totalTokens);
  });

  it('takes a call for a rollout where an earlier version has counted no rollouts', () => {
    const { rollouts: _rollouts, ...before } = usage;
    expect(reserveFor({ ...emptyRun, usage: { rollout: { ...before, retries: 0 } } }, 100).calls).toBe(100);
  });

  it('is a call for each rollout before anything is known', () => {
    expect(reserveFor(emptyRun, 100)).toMatchObject({ calls: 100, totalTokens: 0, costUsd: 0, minutes: 0 });
  });
});
