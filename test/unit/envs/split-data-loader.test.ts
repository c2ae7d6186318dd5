import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { planItems, planSeeds, SplitDataLoader, type SplitLoaderOptions } from 'skillopt/envs';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';

const itemsUpTo = (count: number) => Array.from({ length: count }, (_, id) => ({ id }));
const idsOf = (items: unknown) => (items as readonly { id: string }[]).map((item) => Number(item.id));

async function loaderFor(options: SplitLoaderOptions, extras: Record<string, unknown> = {}) {
  const loader = new SplitDataLoader(options);
  await loader.setup({ extras });
  return loader;
}

const splitFiles = {
  'train/items.json': '[{"id": 1}, {"id": "b"}]',
  'val/items.json': '[{"id": "c"}]',
  'test/items.json': '[{"id": "d"}]',
};

describe('the order of an epoch', () => {
  it('is that of the reference: consecutive slices of a shuffle by seed and epoch', () => {
    const batches = planItems([...Array(10).keys()], { epoch: 1, batches: 3, batchSize: 4, seed: 42 });
    expect(batches).toEqual([
      { seed: 1043, items: [6, 4, 1, 9] },
      { seed: 1044, items: [7, 8, 0, 5] },
      { seed: 1045, items: [2, 3] },
    ]);
  });

  it('refills a trailing batch that would be empty', () => {
    const [first, second] = planItems([0, 1, 2], { epoch: 1, batches: 2, batchSize: 4, seed: 42 });
    expect(first!.items.toSorted()).toEqual([0, 1, 2]);
    expect(second!.items.toSorted()).toEqual([0, 1, 2]);
    expect(second!.seed).toBe(1044);
  });

  it('is one of base seeds where there are no items', () => {
    expect(planSeeds({ epoch: 1, batches: 6, batchSize: 4, seed: 42 })).toEqual([46, 47, 43, 45, 48, 44]);
  });
});

describe('folders that are split already', () => {
  it('give their items in file order, a number as id becoming text', async () => {
    using folder = tempFolder(splitFiles);
    const loader = await loaderFor({ splitDir: folder.path });
    expect(loader.getItems('train')).toEqual([{ id: '1' }, { id: 'b' }]);
    expect(loader.getItems('valid_seen')).toBe(loader.getItems('val'));
    expect(loader.getItems('selection')).toEqual([{ id: 'c' }]);
    expect(loader.getItems('valid_unseen')).toEqual([{ id: 'd' }]);
  });

  it('are read from the first .json file by name, else from another format', async () => {
    using folder = tempFolder({
      'train/b.json': '[{"id": "second"}]',
      'train/a.json': '{"id": "first", "question": "one item, not its values"}',
      'train/0.jsonl': '{"id": "other"}',
      'val/rows.jsonl': '{"id": "one line"}\n',
      'test/rows.csv': 'id,question\nrow,why?\n',
    });
    const loader = await loaderFor({ splitMode: 'split_dir', splitDir: folder.path });
    expect(loader.getItems('train')).toEqual([{ id: 'first', question: 'one item, not its values' }]);
    expect(loader.getItems('val')).toEqual([{ id: 'one line' }]);
    expect(loader.getItems('test')).toEqual([{ id: 'row', question: 'why?' }]);
  });

  it('may lack a split until it is asked for', async () => {
    using folder = tempFolder({ 'train/items.json': '[{"id": "a"}]' });
    const loader = await loaderFor({ splitDir: folder.path });
    expect(loader.getItems('train')).toHaveLength(1);
    expect(() => loader.getItems('test')).toThrow('no test split');
  });

  it.each([
    [{ 'train/items.json': '[{"id": "a"}, {"id": []}]' }, 'items.json:1: "id" must be non-empty text or a number'],
    [{ 'train/items.json': '[{"q": 1}]', 'test/items.json': '[{"q": 1}]' }, 'share the id "t-'],
    [{ 'train/items.json': '[{"id": "a"}]', 'val/items.json': '[{"id": "a"}]' }, 'share the id "a"'],
    [{ 'train/notes.txt': 'x' }, 'expected a file ending in .json'],
    [{ 'dev/items.json': '[]' }, 'expected the folders train, val and test'],
  ])('with a mistake are refused: %j', async (files, message) => {
    using folder = tempFolder(files as unknown as Record<string, string>);
    const problem = { code: 'TASKS_INVALID', message: expect.stringContaining(message) };
    await expect(loaderFor({ splitDir: folder.path })).rejects.toMatchObject(problem);
  });

  it('need no ids: they come from the content, and equal ones are one', async () => {
    using folder = tempFolder({ 'all.jsonl': '{"q": 1}\n{"q": 1}\n{"q": 2}\n{"id": "own", "q": 1}\n' });
    const loader = await loaderFor({ dataPath: join(folder.path, 'all.jsonl') });
    const items = ['train', 'val', 'test'].flatMap((split) => loader.getItems(split));
    expect(items.map(({ id, q }) => [String(id).slice(0, 2), q]).toSorted()).toEqual([
      ['ow', 1],
      ['t-', 1],
      ['t-', 2],
    ]);
    const again = await loaderFor({ dataPath: join(folder.path, 'all.jsonl') });
    expect(['train', 'val', 'test'].flatMap((split) => again.getItems(split))).toEqual(items);
  });

  it('may be in a format of somebody’s own, also for a split by ratio', async () => {
    class Lines extends SplitDataLoader {
      override async loadSplitItems(path: string) {
        return readFileSync(path, 'utf8')
          .split(' ')
          .map((id) => ({ id }));
      }
    }
    using folder = tempFolder({ 'all.txt': 'a b c d' });
    const loader = new Lines({ dataPath: join(folder.path, 'all.txt'), splitOutputDir: join(folder.path, 'out') });
    await loader.setup({ extras: {} });
    expect(
      ['train', 'val', 'test']
        .flatMap((split) => loader.getItems(split))
        .map((item) => item.id)
        .toSorted(),
    ).toEqual([...'abcd']);
  });
});

describe('an unknown split', () => {
  it('is an error that names the known ones, where the reference silently took val', async () => {
    using folder = tempFolder(splitFiles);
    const loader = await loaderFor({ splitDir: folder.path });
    const message = 'expected one of the splits train, val, test, selection, valid_seen, valid_unseen, got "dev"';
    expect(() => loader.getItems('dev')).toThrow(message);
    expect(() => loader.buildEvalBatch(1, 'dev', 42)).toThrow(message);
  });
});

describe('batches', () => {
  it('for training are seeded, for evaluation the first in file order', async () => {
    using folder = tempFolder({ 'train/items.json': JSON.stringify(itemsUpTo(10)) });
    const loader = await loaderFor({ splitDir: folder.path });
    expect(idsOf(loader.buildTrainBatch(3, 42).payload)).toEqual([7, 3, 2]);
    expect(loader.buildEvalBatch(2, 'train', 42)).toEqual({
      phase: 'eval',
      split: 'train',
      seed: 42,
      batchSize: 2,
      payload: [{ id: '0' }, { id: '1' }],
      metadata: {},
    });
    expect(loader.buildEvalBatch(0, 'train', 42).batchSize).toBe(10);
    const plan = loader.planTrainEpoch({ epoch: 1, batches: 3, batchSize: 4, seed: 42 });
    expect(plan.map((batch) => [batch.seed, idsOf(batch.payload)])).toEqual([
      [1043, [6, 4, 1, 9]],
      [1044, [7, 8, 0, 5]],
      [1045, [2, 3]],
    ]);
  });

  it('before setup say what to do', () => {
    expect(() => new SplitDataLoader({ splitDir: 'x' }).buildTrainBatch(1, 1)).toThrow('before setup');
  });
});

describe('settings', () => {
  it('may stand in the extras of a run, in the spelling of a SkillOpt config; what code fixed stays', async () => {
    using folder = tempFolder(splitFiles);
    const extras = { split_mode: 'split_dir', split_dir: folder.path, limit: 1, data_path: '', workers: 3 };
    const loader = await loaderFor({}, extras);
    expect(loader.getItems('train')).toEqual([{ id: '1' }]);
    expect((await loaderFor({ limit: 2 }, extras)).getItems('train')).toHaveLength(2);
  });

  it.each([
    [{}, 'in ratio mode needs dataPath'],
    [{ dataPath: '' }, 'in ratio mode needs dataPath'],
    [{ splitMode: 'split_dir' as const }, 'in split_dir mode needs splitDir'],
    [{ dataPath: 'x', limit: -1 }, 'limit: '],
  ])('that do not suffice are refused: %j', async (options, message) => {
    const problem = { code: 'CONFIG_INVALID', message: expect.stringContaining(message) };
    await expect(loaderFor(options)).rejects.toMatchObject(problem);
  });
});

describe('a split by ratio', () => {
  const tenItems = { 'data/all.json': JSON.stringify(itemsUpTo(10)) };
  const ratio = (folder: string) => ({ dataPath: join(folder, 'data/all.json'), splitOutputDir: join(folder, 'out') });

  it('takes 2:1:7 of Python’s shuffle with seed 42', async () => {
    using folder = tempFolder(tenItems);
    const loader = await loaderFor({ dataPath: join(folder.path, 'data') }); // a folder will do
    expect(idsOf(loader.getItems('train'))).toEqual([7, 3]);
    expect(idsOf(loader.getItems('val'))).toEqual([2]);
    expect(idsOf(loader.getItems('test'))).toEqual([8, 5, 6, 9, 4, 0, 1]);
  });

  it('is written with a manifest, and what is written can be loaded as folders', async () => {
    using folder = tempFolder(tenItems);
    const drawn = await loaderFor(ratio(folder.path));
    const manifest = JSON.parse(readFileSync(join(folder.path, 'out/split_manifest.json'), 'utf8'));
    expect(manifest).toEqual({
      version: 1,
      counts: { train: 2, val: 1, test: 7 },
      split_ratio: '2:1:7',
      split_seed: 42,
      source: join(folder.path, 'data/all.json'),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const read = await loaderFor({ splitDir: join(folder.path, 'out') });
    for (const split of ['train', 'val', 'test']) expect(read.getItems(split)).toEqual(drawn.getItems(split));
  });

  it('is left alone while it fits, and made again when data, seed or files change', async () => {
    using folder = tempFolder(tenItems);
    const trainFile = join(folder.path, 'out/train/items.json');
    const longAgo = new Date(0);
    const isRewritten = async (options: SplitLoaderOptions = {}) => {
      utimesSync(trainFile, longAgo, longAgo);
      await loaderFor({ ...ratio(folder.path), ...options });
      return statSync(trainFile).mtimeMs !== 0;
    };
    await loaderFor(ratio(folder.path));
    expect(await isRewritten()).toBe(false);
    expect(await isRewritten({ limit: 1 })).toBe(false);
    expect(await isRewritten({ splitSeed: 7 })).toBe(true);
    expect(await isRewritten()).toBe(true);
    writeFileSync(join(folder.path, 'out/split_manifest.json'), '{"sha256": "of something else"}');
    expect(await isRewritten()).toBe(true);
    writeFileSync(join(folder.path, 'out/val/items.json'), '[{"id": "planted"}]');
    expect(await isRewritten()).toBe(true);
    expect(readFileSync(join(folder.path, 'out/val/items.json'), 'utf8')).not.toContain('planted');
    writeFileSync(join(folder.path, 'data/all.json'), JSON.stringify(itemsUpTo(11)));
    expect(await isRewritten()).toBe(true);
    rmSync(join(folder.path, 'out/split_manifest.json'));
    await expect(isRewritten()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('never overwrites splits that somebody else made', async () => {
    using folder = tempFolder({ ...tenItems, 'out/train/items.json': '[{"id": "mine"}]' });
    await expect(loaderFor(ratio(folder.path))).rejects.toThrow('holds splits without a split_manifest.json');
    expect(readFileSync(join(folder.path, 'out/train/items.json'), 'utf8')).toBe('[{"id": "mine"}]');
  });

  it('that cannot be written says so', async () => {
    using folder = tempFolder({ ...tenItems, out: 'a file in the way' });
    await expect(loaderFor(ratio(folder.path))).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    mkdirSync(join(folder.path, 'empty'));
    await expect(loaderFor({ dataPath: join(folder.path, 'empty') })).rejects.toThrow('got an empty folder');
  });
});
