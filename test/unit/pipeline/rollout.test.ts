import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  type ChatModel,
  type Item,
  ModelCallError,
  type RolloutOutput,
  type SkillEnv,
} from '../../../src/core/contracts/index.ts';
import { scripted } from '../../../src/models/index.ts';
import { createStageDeps, createStop, runRollout } from '../../../src/pipeline/index.ts';

type RolloutOne = SkillEnv['rolloutOne'];
const items = (...ids: string[]): Item[] => ids.map((id) => ({ id }));
const envOf = (rolloutOne: RolloutOne, more: Partial<SkillEnv> = {}): SkillEnv => {
  return { name: 'env', getItems: () => [], rolloutOne, ...more };
};
const depsOf = (options: Partial<Parameters<typeof createStageDeps>[0]> = {}) =>
  createStageDeps({ target: scripted('target', () => 'ok'), optimizer: scripted('optimizer', () => ''), ...options });

const messages = [{ role: 'user' as const, content: 'hi' }];
const success = { hard: 1, soft: 1 };
/** An environment that takes every error for a wrong answer. */
const swallowing: RolloutOne = ({ target, signal }) =>
  target.complete({ messages, signal }).then(
    () => success,
    () => ({ hard: 0, soft: 0 }),
  );
const outage = () => new ModelCallError('target: 401 key refused', { status: 401 });

/** Rollouts that wait to be let go, by item. */
function createGates() {
  const started: string[] = [];
  const open: Record<string, (output: RolloutOutput | Error) => void> = {};
  const rolloutOne: RolloutOne = ({ item }) =>
    new Promise((resolve, reject) => {
      started.push(item.id);
      open[item.id] = (output) => (output instanceof Error ? reject(output) : resolve(output));
    });
  return { started, open, rolloutOne };
}

function memoryCache() {
  const entries = new Map<string, string>();
  const cache = {
    get: async (key: string) => entries.get(key),
    set: async (key: string, value: string) => void entries.set(key, value),
  };
  return { ...cache, ids: () => [...entries.values()].map((value) => JSON.parse(value).id as string) };
}

/** A cache that lets texts wait for others until somebody says that he waits. */
function gatheringCache() {
  const { promise: isFlushed, resolve: flush } = withResolve();
  const saved: string[] = [];
  const set = async (_key: string, value: string) => {
    await isFlushed;
    saved.push(JSON.parse(value).id);
  };
  return { saved, get: async () => undefined, set, flush };
}

function withResolve() {
  let resolve = () => {};
  const promise = new Promise<void>((yes) => {
    resolve = yes;
  });
  return { promise, resolve };
}

/** A model that never answers, but gives up when it is told to. */
const silent = (onAbort: () => void = () => {}): ChatModel => ({
  id: 'silent',
  complete: ({ signal }) =>
    new Promise((_, reject) => {
      signal?.addEventListener('abort', () => {
        onAbort();
        reject(signal.reason);
      });
    }),
});

describe('runRollout', () => {
  it('weakness 10: gives one result per item in their order, whatever finishes first', async () => {
    const { open, rolloutOne } = createGates();
    const results = runRollout({ env: envOf(rolloutOne), skill: '', items: items('a', 'b', 'c') }, depsOf());
    await tick();
    for (const id of ['c', 'a', 'b']) open[id]!({ ...success, question: id });
    expect((await results).map(({ id, question }) => [id, question])).toEqual([
      ['a', 'a'],
      ['b', 'b'],
      ['c', 'c'],
    ]);
  });

  it('never runs more at once than there are workers', async () => {
    let [now, most] = [0, 0];
    const rolloutOne = async () => {
      most = Math.max(most, ++now);
      await tick();
      now--;
      return success;
    };
    await runRollout({ env: envOf(rolloutOne), skill: '', items: items(...'abcdefgh') }, depsOf({ workers: 3 }));
    expect(most).toBe(3);
  });

  it('hands the environment item, skill, target and signal, and keeps all of its result', async () => {
    const rolloutOne: RolloutOne = async ({ item, skill, target, signal }) => {
      const { text } = await target.complete({ messages, signal, temperature: 0 });
      const notes = { question: skill, predictedAnswer: text, taskType: 'dates', nTurns: 1 };
      return { id: 'not the id', ...success, ...notes, conversation: [item], extras: { k: [1] } };
    };
    const target = scripted('target', () => 'four');
    const [result] = await runRollout({ env: envOf(rolloutOne), skill: '# S', items: items('a') }, depsOf({ target }));
    const notes = { question: '# S', predictedAnswer: 'four', taskType: 'dates', nTurns: 1 };
    expect(result).toEqual({ id: 'a', ...success, ...notes, conversation: [{ id: 'a' }], extras: { k: [1] } });
    expect(target.requests[0]).toMatchObject({ messages, temperature: 0, stage: 'rollout', sampleIndex: 0 });
  });

  it('tells about every result as it comes in', async () => {
    const progress: unknown[] = [];
    const onProgress = (done: number, total: number, result?: { id: string }) =>
      progress.push([done, total, result?.id]);
    const deps = depsOf({ workers: 1, onProgress });
    await runRollout({ env: envOf(async () => success), skill: '', items: items('a', 'b') }, deps);
    expect(progress).toEqual([
      [1, 2, 'a'],
      [2, 2, 'b'],
    ]);
  });

  it('numbers the draws of each sample apart', async () => {
    const target = scripted('target', () => 'ok');
    const rolloutOne: RolloutOne = async ({ target }) => {
      await target.complete({ messages });
      await target.complete({ messages, sampleIndex: 1 });
      return success;
    };
    const deps = depsOf({ target });
    await runRollout({ env: envOf(rolloutOne), skill: '', items: items('a') }, deps);
    await runRollout({ env: envOf(rolloutOne), skill: '', items: items('a'), sampleIndex: 2 }, deps);
    expect(target.requests.map((request) => request.sampleIndex)).toEqual([0, 1, 2000, 2001]);
  });
});

describe('an environment that fails on one item', () => {
  it.each<[string, RolloutOne, string]>([
    ['rejects', async () => Promise.reject(new Error('no such file')), 'no such file'],
    ['rejects with something that is no error', async () => Promise.reject('plain words'), 'plain words'],
    [
      'throws at once',
      () => {
        throw new TypeError('item.answers is undefined');
      },
      'item.answers is undefined',
    ],
  ])('and %s has failed that item; the run continues', async (_, fail, failReason) => {
    const env = envOf((context) => (context.item.id === 'b' ? fail(context) : Promise.resolve(success)));
    expect(await runRollout({ env, skill: '', items: items('a', 'b', 'c') }, depsOf())).toEqual([
      { id: 'a', ...success },
      { id: 'b', hard: 0, soft: 0, failReason, threw: true },
      { id: 'c', ...success },
    ]);
  });

  const cycle: unknown[] = [];
  cycle.push(cycle);
  it.each<[string, unknown, RegExp]>([
    ['a hard score that is no number', { hard: Number.NaN, soft: 0 }, /hard/],
    ['an endless soft score', { hard: 0, soft: Number.POSITIVE_INFINITY }, /soft/],
    ['a score below 0', { hard: -0.1, soft: 0 }, />=0/],
    ['a score above 1', { hard: 0, soft: 1.5 }, /<=1/],
    ['a score in words', { hard: '1', soft: 1 }, /expected number/],
    ['no soft score', { hard: 1 }, /soft/],
    ['nothing', undefined, /hard/],
    ['a conversation that cannot be written down', { ...success, conversation: cycle }, /circular/],
  ])('by %s has failed that item, and the reason says so', async (_, output, reason) => {
    const env = envOf(async () => output as RolloutOutput);
    const [result] = await runRollout({ env, skill: '', items: items('a') }, depsOf({ rollouts: memoryCache() }));
    expect(result).toMatchObject({ id: 'a', hard: 0, soft: 0, failReason: expect.stringMatching(reason) });
  });
});

describe('a model that cannot be reached', () => {
  const asking: RolloutOne = async ({ item, target }) => {
    await target.complete({ messages: [{ role: 'user', content: item.id }] });
    return success;
  };

  it('weakness 27: stops the run; nothing is scored', async () => {
    const error = outage();
    const target = scripted('target', () => Promise.reject(error));
    const rollouts = memoryCache();
    const run = runRollout({ env: envOf(asking), skill: '', items: items('a', 'b') }, depsOf({ target, rollouts }));
    await expect(run).rejects.toBe(error);
    expect(rollouts.ids()).toEqual([]);
  });

  it('lets what is in flight finish and keeps it, and starts nothing new', async () => {
    const [{ started, open, rolloutOne }, rollouts] = [createGates(), memoryCache()];
    const run = runRollout(
      { env: envOf(rolloutOne), skill: '', items: items('a', 'b', 'c', 'd') },
      depsOf({ rollouts, workers: 2 }),
    );
    const settled = run.catch((error) => error);
    await tick();
    const error = outage();
    open.b!(error);
    await tick();
    open.a!(success);
    expect(await settled).toBe(error);
    expect([started, rollouts.ids()]).toEqual([['a', 'b'], ['a']]);
  });

  it('weakness 27: an environment that swallows the error cannot make a score of it', async () => {
    const error = outage();
    const target = scripted('target', () => Promise.reject(error));
    const rollouts = memoryCache();
    const run = runRollout({ env: envOf(swallowing), skill: '', items: items('a') }, depsOf({ target, rollouts }));
    await expect(run).rejects.toBe(error);
    expect(rollouts.ids()).toEqual([]);
  });

  it('weakness 27: nor of a call that was refused because the run stops', async () => {
    const [{ open, rolloutOne }, rollouts, error] = [createGates(), memoryCache(), outage()];
    const env = envOf((context) => rolloutOne(context).then(() => swallowing(context)));
    const run = runRollout({ env, skill: '', items: items('a', 'b') }, depsOf({ rollouts }));
    const settled = run.catch((reason) => reason);
    await tick();
    open.a!(error);
    await tick();
    open.b!(success); // b now wants to make another call
    expect(await settled).toBe(error);
    expect(rollouts.ids()).toEqual([]);
  });

  it('weakness 27: nor of a call that was ended because the run stops', async () => {
    using stop = createStop();
    const rollouts = memoryCache();
    const target: ChatModel = {
      id: 'waiting to try again',
      complete: () =>
        new Promise((_, reject) => stop.signal.addEventListener('abort', () => reject(stop.signal.reason))),
    };
    const deps = depsOf({ stop, rollouts, target });
    const run = runRollout({ env: envOf(swallowing), skill: '', items: items('a') }, deps);
    const settled = run.catch((reason) => reason);
    await tick();
    stop.halt('interrupted');
    expect(await settled).toBe('interrupted');
    expect(rollouts.ids()).toEqual([]);
  });

  it('weakness 27: stops the run also when it is another model that the environment asks, such as a judge', async () => {
    const error = new ModelCallError('judge: 503', { status: 503 });
    const run = runRollout({ env: envOf(() => Promise.reject(error)), skill: '', items: items('a') }, depsOf());
    await expect(run).rejects.toMatchObject({
      code: 'MODEL_CALL_FAILED',
      message: expect.stringContaining('judge: 503'),
    });
  });

  it('does not start a rollout when the run stopped while the cache was asked', async () => {
    const stop = createStop();
    const { started, rolloutOne } = createGates();
    const rollouts = { ...memoryCache(), get: async () => void stop.halt(new Error('stopped')) };
    const run = runRollout({ env: envOf(rolloutOne), skill: '', items: items('a') }, depsOf({ stop, rollouts }));
    await expect(run).rejects.toThrow('stopped');
    expect(started).toEqual([]);
  });
});

describe('a task that takes too long', () => {
  it('has failed, is told by its signal, and the run continues', async () => {
    let signal: AbortSignal | undefined;
    const env = envOf((context) => {
      if (context.item.id === 'b') return Promise.resolve(success);
      signal = context.signal;
      return new Promise(() => {});
    });
    const deps = depsOf({ rolloutTimeoutMs: 5, workers: 1 });
    const results = await runRollout({ env, skill: '', items: items('a', 'b') }, deps);
    expect(results).toEqual([
      { id: 'a', hard: 0, soft: 0, failReason: 'timed out after 0.005 s', threw: true },
      { id: 'b', ...success },
    ]);
    expect(signal!.aborted).toBe(true);
  });

  it('weakness 34: no call outlives its task, and none starts after it', async () => {
    let aborted = 0;
    let zombie: Promise<unknown> | undefined;
    const env = envOf(({ target }) => {
      const call = () => target.complete({ messages }); // no signal passed on
      zombie = call().catch(call);
      return new Promise(() => {});
    });
    const deps = depsOf({ target: silent(() => aborted++), rolloutTimeoutMs: 5 });
    await runRollout({ env, skill: '', items: items('a') }, deps);
    await expect(zombie).rejects.toThrow('timed out');
    expect(aborted).toBe(1);
  });

  it('ends a call that carries a signal of its own too', async () => {
    let aborted = 0;
    const env = envOf(async ({ target }) => {
      await target.complete({ messages, signal: new AbortController().signal });
      return success;
    });
    const deps = depsOf({ target: silent(() => aborted++), rolloutTimeoutMs: 5 });
    const [result] = await runRollout({ env, skill: '', items: items('a') }, deps);
    expect([aborted, result!.failReason]).toEqual([1, 'timed out after 0.005 s']);
  });

  it.each<[string, RolloutOne]>([
    ['waits for the call', ({ target }) => target.complete({ messages }).then(() => success)],
    ['passes the signal on', ({ target, signal }) => target.complete({ messages, signal }).then(() => success)],
    ['swallows the error', swallowing],
    [
      'asks several things at once',
      ({ target }) => Promise.all([target.complete({ messages }), Promise.resolve()]).then(() => success),
    ],
  ])('because the model did not answer in its own time has not failed: the run stops (%s)', async (_, rolloutOne) => {
    const deps = depsOf({ target: silent(), rolloutTimeoutMs: 20, callTimeoutMs: 5 });
    const run = runRollout({ env: envOf(rolloutOne), skill: '', items: items('a') }, deps);
    await expect(run).rejects.toThrow(ModelCallError);
    await expect(run).rejects.toThrow('silent has not answered for 0 s');
  });

  it('is seen through other calls that were answered meanwhile', async () => {
    const answering = scripted('quick', () => 'ok');
    const target: ChatModel = {
      id: 'mixed',
      complete: (request) => (request.sampleIndex === 1 ? answering.complete(request) : new Promise(() => {})),
    };
    const rolloutOne: RolloutOne = async ({ target }) => {
      await Promise.all([target.complete({ messages }), target.complete({ messages, sampleIndex: 1 })]);
      return success;
    };
    const deps = depsOf({ target, rolloutTimeoutMs: 20, callTimeoutMs: 5 });
    const run = runRollout({ env: envOf(rolloutOne), skill: '', items: items('a') }, deps);
    await expect(run).rejects.toThrow('mixed has not answered');
  });
});

describe('the rollout cache', () => {
  type Case = {
    env?: Partial<SkillEnv>;
    skill?: string;
    item?: object;
    sampleIndex?: number;
    target?: string;
    extras?: object;
  };

  /** How many rollouts are really made when `second` follows on a plain one. */
  async function countRollouts(second: Case) {
    const rollouts = memoryCache();
    let count = 0;
    for (const { env, skill = 'S', item, sampleIndex = 0, target = 't', extras } of [{} as Case, second]) {
      const deps = depsOf({ rollouts, target: scripted(target, () => ''), extras: { ...extras } });
      const rolloutOne = async () => ({ hard: 1, soft: ++count });
      const input = { skill, items: [{ id: 'a', ...item }], sampleIndex };
      await runRollout(
        { ...input, env: envOf(() => rolloutOne().then(() => success), { version: '1', ...env }) },
        deps,
      );
    }
    return count;
  }

  it('answers for the same skill, environment, item, sample and target', async () => {
    expect(await countRollouts({})).toBe(1);
  });

  it.each<[string, Case]>([
    ['skill (weakness 2)', { skill: 'S2' }],
    ['environment', { env: { name: 'other' } }],
    ['version of the environment', { env: { version: '2' } }],
    ['content of the item', { item: { question: 'why?' } }],
    ['sample', { sampleIndex: 1 }],
    ['target', { target: 't2' }],
    ['extras', { extras: { k: 1 } }],
  ])('never answers for another %s', async (_, second) => {
    expect(await countRollouts(second)).toBe(2);
  });

  it('gives back what it was given, and the first run saw no more', async () => {
    const [rollouts, at] = [memoryCache(), new Date(0)];
    const env = envOf(async () => ({ ...success, conversation: [{ action: at, left: undefined }] }));
    const once = () => runRollout({ env, skill: '', items: items('a') }, depsOf({ rollouts }));
    const [first, second] = [await once(), await once()];
    expect(second).toStrictEqual(first);
  });

  it('keeps a failed item, but none without a score', async () => {
    const rollouts = memoryCache();
    const env = envOf(async ({ item }) => {
      if (item.id === 'a') throw new Error('no');
      return { hard: 0, soft: 0, errored: true };
    });
    const results = await runRollout(
      { env, skill: '', items: items('a', 'b') },
      depsOf({ rollouts, maxErroredShare: 1 }),
    );
    expect(results[1]).toEqual({ id: 'b', hard: 0, soft: 0, errored: true });
    expect(rollouts.ids()).toEqual(['a']);
  });
});

describe('a run that is aborted', () => {
  it('rejects with the reason of the signal, keeps what arrives, and counts nothing as failed', async () => {
    const [{ started, open, rolloutOne }, rollouts, controller] = [createGates(), memoryCache(), new AbortController()];
    using stop = createStop(controller.signal);
    const run = runRollout(
      { env: envOf(rolloutOne), skill: '', items: items('a', 'b', 'c') },
      depsOf({ stop, rollouts, workers: 2 }),
    );
    const settled = run.catch((reason) => reason);
    await tick();
    const reason = new Error('interrupted');
    controller.abort(reason);
    open.a!(success);
    open.b!(new Error('b noticed that something is wrong'));
    expect(await settled).toBe(reason);
    expect([started, rollouts.ids()]).toEqual([['a', 'b'], ['a']]);
  });

  it('does not wait longer than the drain for a task that never ends', async () => {
    using stop = createStop(undefined, 1);
    let signal: AbortSignal | undefined;
    const env = envOf((context) => {
      signal = context.signal;
      return new Promise(() => {});
    });
    const rollouts = memoryCache();
    const run = runRollout({ env, skill: '', items: items('a') }, depsOf({ stop, rollouts }));
    const settled = run.catch((reason) => reason);
    await tick();
    stop.halt('interrupted');
    expect(await settled).toBe('interrupted');
    expect([signal!.reason, rollouts.ids()]).toEqual(['interrupted', []]);
  });

  it.each<[string, RolloutOne]>([
    ['swallows the end of its call', swallowing],
    [
      'answers to the signal',
      ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve({ hard: 0, soft: 0 }))),
    ],
  ])('makes no score of a task that %s', async (_, rolloutOne) => {
    using stop = createStop(undefined, 1);
    const rollouts = memoryCache();
    const deps = depsOf({ stop, rollouts, target: silent() });
    const settled = runRollout({ env: envOf(rolloutOne), skill: '', items: items('a') }, deps).catch(
      (reason) => reason,
    );
    await tick();
    stop.halt('interrupted');
    expect(await settled).toBe('interrupted');
    expect(rollouts.ids()).toEqual([]);
  });
});

describe('a judge', () => {
  const judged: RolloutOne = async ({ target, judge, extras, signal }) => {
    const { text } = await target.complete({ messages, signal });
    const verdict = await judge!.complete({ messages: [{ role: 'user', content: text }], signal });
    return verdict.text === extras.pass ? success : { hard: 0, soft: 0 };
  };

  it('is handed to the environment with the extras of the run, and asked under its own stage', async () => {
    const judge = scripted('judge', () => 'good');
    const deps = depsOf({ judge, extras: { pass: 'good' } });
    const [result] = await runRollout({ env: envOf(judged), skill: '', items: items('a') }, deps);
    expect(result).toMatchObject({ hard: 1 });
    expect(judge.requests).toMatchObject([{ stage: 'judge' }]);
  });

  it('that fails is an outage, also when the environment swallows it', async () => {
    const judge = scripted('judge', () => {
      throw outage();
    });
    const swallowed: RolloutOne = async (context) => {
      const zero = { hard: 0, soft: 0 };
      return judged(context).catch(() => zero);
    };
    const run = runRollout({ env: envOf(swallowed), skill: '', items: items('a') }, depsOf({ judge }));
    await expect(run).rejects.toThrow('401');
  });

  it('that is another one scores again', async () => {
    const cache = memoryCache();
    const judge = (id: string) => scripted(id, () => id);
    const roll = (id: string) =>
      runRollout(
        { env: envOf(judged), skill: '', items: items('a') },
        depsOf({ judge: judge(id), extras: { pass: 'two' }, rollouts: cache }),
      );
    expect((await roll('one'))[0]).toMatchObject({ hard: 0 });
    expect((await roll('two'))[0]).toMatchObject({ hard: 1 });
  });
});

it.each(['one by one', 'together'])(
  'rollouts (%s) are safe when they end, and nobody waits for company',
  async (how) => {
    const cache = gatheringCache();
    const rolloutMany = async (context: { items: readonly Item[] }) => context.items.map(() => success);
    const env = envOf(async () => success, how === 'together' ? { rolloutMany } : {});
    await runRollout({ env, skill: '', items: items('a', 'b', 'c') }, depsOf({ rollouts: cache }));
    expect(cache.saved.sort()).toEqual(['a', 'b', 'c']);
  },
);
