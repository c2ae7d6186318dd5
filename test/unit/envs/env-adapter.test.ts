import type { RawPatch } from 'skillopt';
import {
  type AdapterContext,
  adapterEnv,
  BaseDataLoader,
  type BatchSpec,
  type BuildOptions,
  EnvAdapter,
  type Episode,
  type RolloutDict,
  SplitDataLoader,
} from 'skillopt/envs';
import { describe, expect, it } from 'vitest';
import {
  type Item,
  parseConfig,
  type ReflectContext,
  type RolloutManyContext,
} from '../../../src/core/contracts/index.ts';
import { scripted } from '../../../src/models/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const config = parseConfig({ batchSize: 4, seed: 42 });
const target = scripted('target', () => 'up');
const base = { skill: '# S', target, extras: {}, signal: new AbortController().signal, sampleIndex: 0 };
const many = <I extends Item>(items: readonly I[], phase: 'train' | 'eval' = 'train') =>
  ({ ...base, items, phase }) as RolloutManyContext<Item>;

type Games = { readonly seed: number; readonly count: number };

/** Game k of seed s is won when s + k is even. */
class Simulator extends EnvAdapter<Games> {
  override readonly name: string = 'games';
  override readonly episodes = { train: 10, val: 3, test: 2 };
  readonly built: string[] = [];
  rows = ({ seed, count }: Games): readonly unknown[] =>
    Array.from({ length: count }, (_, index) => ({ id: index + 1, hard: (seed + index + 1) % 2, soft: 0.5 }));

  buildTrainEnv(count: number, seed: number) {
    this.built.push(`train ${seed} ${count}`);
    return { seed, count };
  }
  buildEvalEnv(count: number, split: string, seed: number) {
    this.built.push(`${split} ${seed} ${count}`);
    return { seed, count };
  }
  async rollout(games: Games, _skill: string, _context: AdapterContext): Promise<readonly RolloutDict[]> {
    return this.rows(games) as readonly RolloutDict[];
  }
  getTaskTypes() {
    return ['game'];
  }
}

async function ready<Manager>(adapter: EnvAdapter<Manager>) {
  const env = adapterEnv(adapter, { name: 'adapter' });
  await env.setup(config);
  return env;
}

describe('a simulator', () => {
  it('has episodes for items: train in whole batches of base seeds, the rest of the run’s seed', async () => {
    const env = await ready(new Simulator());
    const train = (await env.getItems('train')) as readonly Episode[];
    expect(train.map((item) => item.id)).toEqual(
      [43, 44, 45].flatMap((seed) => [0, 1, 2, 3].map((index) => `train-${seed}-${index}`)),
    );
    expect(train[5]).toEqual({ id: 'train-44-1', split: 'train', seed: 44, index: 1, batchSize: 4 });
    expect(await env.getItems('valid_seen')).toEqual(
      [0, 1, 2].map((index) => ({ id: `val-42-${index}`, split: 'val', seed: 42, index, batchSize: 3 })),
    );
  });

  it('can be measured on all splits at once, which crashed the reference', async () => {
    const adapter = new Simulator();
    const env = await ready(adapter);
    const all = [...(await env.getItems('val')), ...(await env.getItems('test'))];
    const results = await env.rolloutMany(many(all, 'eval'));
    expect(results.map((result) => result.id)).toEqual(all.map((item) => item.id));
    expect(adapter.built).toEqual(['val 42 3', 'test 42 2']);
  });

  it('refuses an unknown split', async () => {
    const env = await ready(new Simulator());
    expect(() => env.getItems('dev')).toThrow('expected one of the splits');
  });

  it('builds one environment per seed, and gives each episode its result by position', async () => {
    const adapter = new Simulator();
    const env = await ready(adapter);
    const train = await env.getItems('train');
    const wanted = [train[6]!, train[1]!, train[4]!];
    const results = await env.rolloutMany(many(wanted));
    expect(adapter.built).toEqual(['train 44 4', 'train 43 4']);
    expect(results).toEqual([
      { id: 'train-44-2', hard: 1, soft: 0.5, extras: { episodeId: '3' } },
      { id: 'train-43-1', hard: 1, soft: 0.5, extras: { episodeId: '2' } },
      { id: 'train-44-0', hard: 1, soft: 0.5, extras: { episodeId: '1' } },
    ]);
  });

  it('may name its results by the ids that it was told, in any order', async () => {
    class Named extends Simulator {
      override async rollout(_games: Games, _skill: string, context: AdapterContext) {
        const ids = context.batch.metadata.ids as string[];
        return ids.map((id) => ({ id, hard: Number(id.endsWith('0')), soft: 0 })).reverse();
      }
    }
    const env = await ready(new Named());
    const val = await env.getItems('val');
    expect((await env.rolloutMany(many(val, 'eval'))).map((result) => result.hard)).toEqual([1, 0, 0]);
  });

  it('plans an epoch by shuffling base seeds, whose episodes stay together', async () => {
    const env = await ready(new Simulator());
    const plan = env.planTrainEpoch({ epoch: 1, batches: 6, batchSize: 4, seed: 42 });
    const seeds = plan.map((batch) => [...new Set((batch as readonly Episode[]).map((item) => item.seed))]);
    expect(seeds).toEqual([[46], [47], [43], [45], [48], [44]]);
    expect(plan[2]).toEqual((await env.getItems('train')).slice(0, 4));
  });

  it('attempts one item as one of its batch', async () => {
    const env = await ready(new Simulator());
    const [item] = await env.getItems('test');
    expect(await env.rolloutOne({ ...base, item: item! })).toMatchObject({ id: 'test-42-0', hard: 1 });
  });

  it('must say how many episodes it has, and be set up', async () => {
    const adapter = Object.assign(new Simulator(), { episodes: undefined });
    await expect(ready(adapter as unknown as Simulator)).rejects.toMatchObject({
      code: 'ENV_INVALID',
      message: expect.stringContaining('how many episodes each split has, got nothing'),
    });
    expect(() => adapterEnv(new Simulator()).getItems('train')).toThrow('games was used before it was set up');
  });
});

describe('a result', () => {
  const resultOf = async (row: unknown) => {
    const env = await ready(Object.assign(new Simulator(), { rows: () => [row, row] }));
    return (await env.rolloutMany(many(await env.getItems('test'), 'eval')))[0];
  };

  it('may be written as Python writes it; what is unknown is kept under extras', async () => {
    const row = { id: 7, hard: true, soft: 0, n_turns: 3, fail_reason: null, task_type: 'put', won_by: { my_key: 1 } };
    expect(await resultOf(row)).toEqual({
      id: 'test-42-0',
      hard: 1,
      soft: 0,
      nTurns: 3,
      taskType: 'put',
      extras: { episodeId: '7', won_by: { my_key: 1 } },
    });
  });

  it.each([
    [{ id: 'a', hard: 1 }, '"soft": expected number, received undefined, in {"id":"a","hard":1}'],
    [{ hard: 1, soft: 1 }, '"id": expected string'],
    [{ id: 'a', hard: 2, soft: 1 }, '"hard": Too big'],
    ['won', 'it is no object, in "won"'],
    [undefined, 'it is no object, in undefined'],
  ])('that is malformed is named: %j', async (row, message) => {
    await expect(resultOf(row)).rejects.toMatchObject({
      code: 'ENV_INVALID',
      message: expect.stringMatching(/^adapter: result 1 is malformed: /),
    });
    await expect(resultOf(row)).rejects.toThrow(message);
  });

  it('must come for every episode', async () => {
    const giving = async (rows: unknown) => {
      const env = await ready(Object.assign(new Simulator(), { rows: () => rows }));
      return env.rolloutMany(many(await env.getItems('test'), 'eval'));
    };
    const [one, other] = [
      { id: 'test-42-0', hard: 0, soft: 0 },
      { id: 'x', hard: 0, soft: 0 },
    ];
    await expect(giving([one])).rejects.toThrow('expected 2 results, got 1');
    await expect(giving([one, one])).rejects.toThrow('none for "test-42-1"');
    await expect(giving([one, other])).rejects.toThrow('no item of the batch has the id "x"');
    await expect(giving('none')).rejects.toThrow('rollout must give a list of results, got string');
  });
});

type Question = { readonly id: string; readonly answer: string };

class Quiz extends EnvAdapter<readonly Question[]> {
  readonly #loader: BaseDataLoader;
  closed = 0;
  constructor(loader: BaseDataLoader) {
    super();
    this.#loader = loader;
  }
  override getDataloader() {
    return this.#loader;
  }
  buildTrainEnv(_size: number, _seed: number, { payload }: BuildOptions) {
    return payload as readonly Question[];
  }
  buildEvalEnv(_count: number, _split: string, _seed: number, { payload }: BuildOptions) {
    return payload as readonly Question[];
  }
  async rollout(questions: readonly Question[], _skill: string, { target: model, batch, phase }: AdapterContext) {
    const { text } = await model.complete({ messages: [{ role: 'user', content: 'all' }] });
    const said = `${batch.phase} ${batch.split} ${phase}`;
    return questions.map(({ id, answer }) => ({ id, hard: Number(answer === text), soft: 0, said })).reverse();
  }
  getTaskTypes() {
    return ['direction'];
  }
  override close() {
    this.closed++;
  }
}

const twoSingles = { epoch: 1, batches: 2, batchSize: 1, seed: 42 };
const sortedIds = (items: readonly Item[]) => items.map((item) => item.id).toSorted();

describe('an adapter with a loader', () => {
  const files = {
    'train/items.json': JSON.stringify([
      { id: 1, answer: 'up', task_type: 'direction', reference_text: 'It is up.' },
      { id: 2, answer: 'down' },
    ]),
    'val/items.json': '[{"id": 3, "answer": "up"}]',
  };

  it('has the loader’s items, and matches results by id', async () => {
    using folder = tempFolder(files);
    const env = await ready(new Quiz(new SplitDataLoader({ splitDir: folder.path })));
    const [train, val] = [await env.getItems('train'), await env.getItems('valid_seen')];
    const results = await env.rolloutMany(many([...train, ...val]));
    expect(results).toEqual([
      {
        id: '1',
        hard: 1,
        soft: 0,
        taskType: 'direction',
        referenceText: 'It is up.',
        extras: { said: 'train train train' },
      },
      { id: '2', hard: 0, soft: 0, extras: { said: 'train train train' } },
      { id: '3', hard: 1, soft: 0, extras: { said: 'eval valid_seen train' } },
    ]);
    expect(await env.rolloutOne({ ...base, item: val[0]! })).toMatchObject({
      hard: 1,
      extras: { said: 'eval valid_seen eval' },
    });
  });

  it('plans an epoch as its loader does', async () => {
    using folder = tempFolder(files);
    const env = await ready(new Quiz(new SplitDataLoader({ splitDir: folder.path })));
    const plan = env.planTrainEpoch(twoSingles);
    expect(sortedIds(plan.flat())).toEqual(['1', '2']);
  });

  it('may have a loader that only builds batches', async () => {
    class Fixed extends BaseDataLoader {
      buildTrainBatch(batchSize: number, seed: number): BatchSpec {
        return { phase: 'train', split: 'train', seed, batchSize, payload: [{ id: `drawn-${seed}` }], metadata: {} };
      }
      buildEvalBatch(_count: number, split: string, seed: number): BatchSpec {
        const payload = split === 'val' ? { no: 'list' } : [{ id: split }];
        return { phase: 'eval', split, seed, batchSize: 1, payload, metadata: {} };
      }
    }
    const env = await ready(new Quiz(new Fixed()));
    expect(await env.getItems('train')).toEqual([{ id: 'train' }]);
    expect(() => env.getItems('val')).toThrow('must hold a list of items');
    const plan = env.planTrainEpoch(twoSingles);
    expect(sortedIds(plan.flat())).toEqual(['drawn-43', 'drawn-44']);
  });

  it('is closed with its environment', async () => {
    const quiz = new Quiz(new SplitDataLoader({ splitDir: 'x' }));
    await adapterEnv(quiz, { name: 'quiz' }).close();
    expect(quiz.closed).toBe(1);
    expect(() => adapterEnv(quiz)).toThrow('an adapter needs a name');
  });

  it('stops between environments when the run must stop', async () => {
    const env = await ready(new Simulator());
    const context = { ...many(await env.getItems('train')), signal: AbortSignal.abort(new Error('stopped')) };
    await expect(env.rolloutMany(context)).rejects.toThrow('stopped');
  });
});

describe('reflect', () => {
  const shared: RawPatch = {
    patch: { edits: [{ op: 'append', content: 'Look up.', target: '' }], reasoning: '' },
    sourceType: 'failure',
    batchSize: 3,
  };
  const context = {
    ...base,
    results: [],
    editBudget: 2,
    seed: 1,
    optimizer: target,
    reflectByDefault: async () => [shared],
  };

  it('asks the shared analysts unless it is overridden', async () => {
    const env = await ready(new Simulator());
    expect(await env.reflect(context)).toEqual([shared]);
  });

  const proposing = async (proposals: unknown) => {
    class Own extends Simulator {
      override async reflect(_context: ReflectContext) {
        return proposals as readonly RolloutDict[];
      }
    }
    return (await ready(new Own())).reflect(context);
  };

  it('may give dicts as the reference does, and nothing', async () => {
    const edit = { op: 'append', content: 'x', support_count: 2 };
    expect(await proposing([{ patch: { edits: [edit] }, source_type: 'success' }, null])).toEqual([
      {
        patch: { edits: [{ op: 'append', content: 'x', target: '', supportCount: 2 }], reasoning: '' },
        sourceType: 'success',
        batchSize: 1,
      },
      null,
    ]);
  });

  it('that is malformed is named', async () => {
    await expect(proposing([null, { patch: {} }])).rejects.toMatchObject({
      code: 'ENV_INVALID',
      message: expect.stringContaining('adapter: proposal 2 is malformed'),
    });
  });
});

describe('results that stand for the rest', () => {
  const result = (id: string, hard: number, taskType: string) => ({ id, hard, soft: hard, taskType });
  const results = [
    ...['a', 'b', 'c', 'd'].map((id) => result(`${id}-often`, 0, 'often')),
    result('rare', 0, 'rare'),
    result('won', 1, 'often'),
    { ...result('lost', 0, 'outage'), errored: true },
  ];

  it('are of as many types as there is room for, failures first, by seed', () => {
    const pick = (seed: number) =>
      new Simulator().selectRepresentativeItems(results, { failures: 2, successes: 3, seed }).map((one) => one.id);
    for (let seed = 0; seed < 8; seed++) {
      const ids = pick(seed);
      expect(ids).toHaveLength(3);
      expect(ids).toContain('rare');
      expect(ids.at(-1)).toBe('won');
      expect(pick(seed)).toEqual(ids);
    }
    expect(new Set([0, 1, 2, 3, 4, 5].map((seed) => pick(seed).join())).size).toBeGreaterThan(1);
  });
});
