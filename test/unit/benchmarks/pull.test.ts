import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkData, pullData } from '../../../src/app/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

type Row = { key: string; question: string; answers: string[]; context?: string };

const rows = (count: number): Row[] =>
  Array.from({ length: count }, (_, index) => ({
    key: `q${index}`,
    question: `What is ${index}?`,
    answers: [`a${index}`],
  }));

function withData(data: readonly Row[]) {
  const folder = tempFolder();
  const from = join(folder.path, 'downloaded');
  mkdirSync(from);
  writeFileSync(join(from, 'rows.jsonl'), data.map((row) => JSON.stringify(row)).join('\n'));
  const pull = (more = {}) =>
    pullData('searchqa', { from, cwd: folder.path, ratio: '2:1:7', seed: 42, overrides: [], ...more }, {});
  const check = (more = {}) => checkData('searchqa', { cwd: folder.path, overrides: [], ...more }, {});
  return { folder, from, pull, check, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

const idsIn = (folder: string) =>
  ['train', 'val', 'test'].map((split) => {
    const path = join(folder, split, 'items.jsonl');
    return existsSync(path)
      ? readFileSync(path, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).id as string)
      : [];
  });

it('writes each item into one split, with a record of what was read, and gives the same again', async () => {
  using data = withData(rows(20));
  const pulled = await data.pull();
  expect(pulled.counts).toEqual({ train: 4, val: 2, test: 14 });
  const ids = idsIn(pulled.out);
  expect(ids.flat().sort()).toEqual(
    rows(20)
      .map(({ key }) => key)
      .sort(),
  );
  expect(JSON.parse(readFileSync(join(pulled.out, 'bench.json'), 'utf8'))).toMatchObject({
    benchmark: 'searchqa',
    root: '../../downloaded',
    files: { 'rows.jsonl': expect.stringMatching(/^[0-9a-f]{64}$/) },
    split: { by: 'document', ratio: '2:1:7', seed: 42 },
  });
  const again = await data.pull();
  expect([again.dataSha256, idsIn(again.out)]).toEqual([pulled.dataSha256, ids]);
  const checked = await data.check();
  expect(checked).toMatchObject({ tried: 20, unscorable: [], givenAway: [], leaks: [], contradictions: [] });
  expect(checked.card.dataSha256).toBe(pulled.dataSha256);
});

it('takes the splits that a list of ids names, and says what is missing and what is left', async () => {
  using data = withData(rows(10));
  const ids = join(data.folder.path, 'ids');
  for (const [split, keys] of Object.entries({ train: ['q1'], val: ['q2', 'gone'], test: ['q3', 'q4'] })) {
    mkdirSync(join(ids, split), { recursive: true });
    writeFileSync(join(ids, split, 'items.json'), JSON.stringify(keys.map((id) => ({ id }))));
  }
  const pulled = await data.pull({ ids });
  expect(idsIn(pulled.out)).toEqual([['q1'], ['q2'], ['q3', 'q4']]);
  expect(pulled).toMatchObject({ missing: ['gone'], unused: 6, split: { by: 'given' } });
  writeFileSync(join(ids, 'train', 'items.json'), '["x"]');
  writeFileSync(join(ids, 'val', 'items.json'), '["y"]');
  writeFileSync(join(ids, 'test', 'items.json'), '["z"]');
  await expect(data.pull({ ids })).rejects.toMatchObject({
    code: 'TASKS_INVALID',
    message: 'none of the 3 ids of the splits is in the data: x, y, z',
  });
});

it('names what leaks between splits, what contradicts itself and what cannot be scored', async () => {
  const data = [
    ...rows(6),
    { key: 'again', question: 'what is 1', answers: ['other'] },
    { key: 'blank', question: 'Nothing?', answers: ['the'] },
  ];
  using given = withData([]);
  for (const [split, part] of Object.entries({ train: data.slice(0, 4), val: data.slice(4, 6), test: data.slice(6) })) {
    mkdirSync(join(given.folder.path, 'splits', split), { recursive: true });
    writeFileSync(join(given.folder.path, 'splits', split, 'items.json'), JSON.stringify(part));
  }
  const found = await given.check({ data: 'splits' });
  expect(found.leaks).toEqual([{ split: 'test', from: 'train', what: 'question', ids: ['again'], of: 2 }]);
  expect(found.contradictions).toEqual([['q1', 'again']]);
  expect(found.givenAway).toEqual([{ id: 'blank', why: 'an empty answer scores 1' }]);
  const pulled = await pullData(
    'searchqa',
    { from: 'splits', cwd: given.folder.path, ratio: '2:1:7', seed: 42, overrides: [] },
    {},
  );
  expect(pulled.excluded).toEqual([{ id: 'blank', why: 'an empty answer scores 1' }]);
  expect(pulled.leaks).toHaveLength(1);
  const grouped = await pullData(
    'searchqa',
    {
      from: 'splits',
      cwd: given.folder.path,
      ratio: '1:1:1',
      seed: 42,
      overrides: [],
      splitBy: 'document',
      isAsPublished: true,
    },
    {},
  );
  expect([grouped.leaks, grouped.excluded]).toEqual([[], []]);
});

it('writes over nothing that it did not write, and leaves nothing behind when it fails', async () => {
  using data = withData(rows(5));
  const out = join(data.folder.path, 'mine');
  mkdirSync(out);
  writeFileSync(join(out, 'letter.txt'), 'dear');
  await expect(data.pull({ out: 'mine' })).rejects.toMatchObject({ code: 'USAGE' });
  expect(readFileSync(join(out, 'letter.txt'), 'utf8')).toBe('dear');
  writeFileSync(join(data.folder.path, 'notes.md'), 'mine');
  await expect(data.pull({ out: 'notes.md' })).rejects.toMatchObject({ code: 'USAGE' });
  expect(readFileSync(join(data.folder.path, 'notes.md'), 'utf8')).toBe('mine');
  await expect(data.pull({ out: 'downloaded/out' })).rejects.toMatchObject({ code: 'USAGE' });
  writeFileSync(join(data.from, 'rows.jsonl'), '{"key":"a"}\n{"key":"b","question":"x","answers":["y"]}');
  mkdirSync(join(data.folder.path, 'new.new'));
  await expect(data.pull({ out: 'new' })).rejects.toMatchObject({ code: 'TASKS_INVALID' });
  expect(readdirSync(data.folder.path).sort()).toEqual(['downloaded', 'mine', 'new.new', 'notes.md']);
});

it('never replaces a folder that holds anything else, or the data itself, under whatever name', async () => {
  using data = withData(rows(6));
  const { out } = await data.pull();
  const root = data.folder.path;
  writeFileSync(join(out, 'notes.md'), 'mine');
  await expect(data.pull()).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('holds notes.md, which bench pull did not write'),
  });
  expect(readFileSync(join(out, 'notes.md'), 'utf8')).toBe('mine');
  mkdirSync(join(root, 'bogus'));
  writeFileSync(join(root, 'bogus', 'bench.json'), '{"name":"of another program"}');
  await expect(data.pull({ out: 'bogus' })).rejects.toMatchObject({ code: 'USAGE' });
  symlinkSync(data.from, join(root, 'link'));
  await expect(data.pull({ out: 'link' })).rejects.toMatchObject({ code: 'USAGE' });
  await expect(data.pull({ out: 'link/inside' })).rejects.toMatchObject({ code: 'USAGE' });
  rmSync(join(out, 'notes.md'));
  writeFileSync(join(out, 'test', 'notes.md'), 'mine');
  await expect(data.pull()).rejects.toMatchObject({ message: expect.stringContaining('holds test/notes.md') });
  rmSync(join(out, 'test', 'notes.md'));
  appendFileSync(join(out, 'val', 'items.jsonl'), '\n');
  await expect(data.pull()).rejects.toMatchObject({ message: expect.stringContaining('holds val/items.jsonl') });
  const livemath = { cwd: root, from: 'downloaded', out, ratio: '2:1:7', seed: 42, overrides: [] };
  await expect(pullData('livemath', livemath, {})).rejects.toMatchObject({
    message: expect.stringContaining('holds the data of searchqa'),
  });
  await expect(data.pull({ from: 'bench/searchqa', out: 'bench' })).rejects.toMatchObject({ code: 'USAGE' });
  expect(readdirSync(data.from)).toEqual(['rows.jsonl']);
  expect(idsIn(out).flat()).toHaveLength(6);
});

it('writes nothing when it is stopped, though all is read', async () => {
  using data = withData(rows(6));
  const { out } = await data.pull();
  const before = idsIn(out);
  const stop = new AbortController();
  const onProgress = (done: number) => done === 6 && stop.abort(new Error('stopped'));
  const again = { cwd: data.folder.path, from: data.from, ratio: '4:1:1', seed: 1, overrides: [] };
  await expect(pullData('searchqa', again, { onProgress, signal: stop.signal })).rejects.toThrow('stopped');
  expect(idsIn(out)).toEqual(before);
});

it('never replaces what appears while it reads', async () => {
  using data = withData(rows(6));
  const out = join(data.folder.path, 'fresh');
  const onProgress = (done: number) => {
    if (done !== 3) return;
    mkdirSync(out);
    writeFileSync(join(out, 'thesis.md'), 'mine');
  };
  const input = { cwd: data.folder.path, from: data.from, out, ratio: '4:1:1', seed: 1, overrides: [] };
  await expect(pullData('searchqa', input, { onProgress })).rejects.toMatchObject({ code: 'USAGE' });
  expect(readdirSync(data.folder.path).sort()).toEqual(['downloaded', 'fresh']);
  expect(readFileSync(join(out, 'thesis.md'), 'utf8')).toBe('mine');
});

it('believes no record that is broken, or whose root holds the data itself, and says where else files are read', async () => {
  using data = withData(rows(6));
  const { out } = await data.pull();
  const record = join(out, 'bench.json');
  const before = JSON.parse(readFileSync(record, 'utf8'));
  const write = (more: object) => writeFileSync(record, JSON.stringify({ ...before, ...more }));
  write({ root: '../../../../../../../..' });
  await expect(data.check()).rejects.toMatchObject({ message: expect.stringContaining('the root / holds the data') });
  write({ root: '/etc' });
  expect((await data.check()).warnings).toEqual([`files that items name are read from /etc, as ${record} says`]);
  writeFileSync(record, '{');
  expect((await data.check()).changed).toContain('bench.json cannot be read');
});

it('runs no code of a folder that is named as data, also from within', async () => {
  using data = withData(rows(6));
  writeFileSync(join(data.from, 'skillopt.config.mjs'), "throw new Error('this code ran');");
  const inside = { cwd: data.from, ratio: '2:1:7', seed: 42, overrides: [] };
  const { out } = await pullData('searchqa', { ...inside, from: '.', out: '../bench' }, {});
  writeFileSync(join(out, 'skillopt.config.mjs'), "throw new Error('this code ran');");
  expect((await checkData('searchqa', { cwd: out, data: '.', overrides: [] }, {})).tried).toBe(6);
});

it('does not guess which of several files holds a split', async () => {
  using data = withData([]);
  const folder = join(data.folder.path, 'splits', 'test');
  mkdirSync(folder, { recursive: true });
  for (const [index, name] of ['a.json', 'b.json'].entries())
    writeFileSync(join(folder, name), JSON.stringify(rows(4).slice(index * 2, index * 2 + 2)));
  await expect(data.check({ data: 'splits' })).rejects.toMatchObject({
    message: expect.stringContaining('expected one task file, got a.json, b.json'),
  });
  expect((await data.pull({ from: 'splits' })).counts).toEqual({ train: 0, val: 0, test: 4 });
  expect((await data.check()).counts).toEqual({ train: 0, val: 0, test: 4 });
  expect((await data.check({ overrides: ['env.limit=3'] })).warnings).toEqual([
    'a limit takes part of the items, so they were not compared with those that were pulled',
  ]);
});

it('refuses what contradicts itself: splits that are given and are not, or are listed and drawn, or an id twice', async () => {
  using data = withData(rows(6));
  await expect(data.pull({ splitBy: 'given' })).rejects.toMatchObject({
    code: 'TASKS_INVALID',
    message: 'the data names no splits: no row says its own, and no folder is called train, val or test',
  });
  const ids = join(data.folder.path, 'ids');
  for (const [split, list] of Object.entries({ train: ['q1'], val: ['q2'], test: ['q1'] })) {
    mkdirSync(join(ids, split), { recursive: true });
    writeFileSync(join(ids, split, 'items.json'), JSON.stringify(list));
  }
  await expect(data.pull({ ids, splitBy: 'document' })).rejects.toMatchObject({ code: 'USAGE' });
  await expect(data.pull({ ids })).rejects.toMatchObject({ message: 'ids are named twice: q1' });
  await expect(data.pull({ from: 'downloaded/rows.jsonl' })).rejects.toMatchObject({
    message: expect.stringMatching(/expected a folder; .*rows.jsonl is a file/),
  });
});

it('warns of folders that are missing, of settings without effect, and of links that it does not follow', async () => {
  using data = withData(rows(6));
  symlinkSync('/etc/hostname', join(data.from, 'more.jsonl'));
  const pulled = await data.pull({ overrides: ['env.maxContexChars=5', 'env.dataRoot=gone'] });
  expect(pulled.warnings).toEqual([
    'extras.maxContexChars has no effect: did you mean maxContextChars?',
    `the folder ${join(data.folder.path, 'gone')} does not exist, so no file is found there`,
  ]);
  expect(pulled.links).toEqual(['more.jsonl']);
  rmSync(join(data.from, 'rows.jsonl'));
  await expect(data.pull()).rejects.toMatchObject({
    message: expect.stringContaining('1 link to other files is left out'),
    hint: expect.stringContaining('cp -RL'),
  });
});

it('checks what was pulled in a project that is of something else', async () => {
  using data = withData(rows(6));
  await data.pull();
  writeFileSync(join(data.folder.path, 'skillopt.config.yaml'), 'env: docvqa\nsplitDir: nowhere\n');
  expect((await data.check()).tried).toBe(6);
});

it('says what to do where splits hold ids alone', async () => {
  using data = withData([]);
  const splits = join(data.folder.path, 'ids');
  for (const split of ['train', 'val', 'test']) {
    mkdirSync(join(splits, split), { recursive: true });
    writeFileSync(join(splits, split, 'items.json'), JSON.stringify([{ id: split }]));
  }
  await expect(data.check({ data: 'ids' })).rejects.toMatchObject({
    hint: expect.stringContaining('ids without questions'),
  });
});

it('follows no link out of the folder', async () => {
  using data = withData(rows(3));
  using other = tempFolder();
  writeFileSync(join(other.path, 'secret.jsonl'), JSON.stringify({ key: 's', question: 'secret?', answers: ['x'] }));
  symlinkSync(join(other.path, 'secret.jsonl'), join(data.from, 'link.jsonl'));
  symlinkSync(other.path, join(data.from, 'folder'));
  expect((await data.pull()).counts).toEqual({ train: 1, val: 0, test: 2 });
});

it('never divides items that ask the same, whatever the seed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 25 }),
      fc.nat(),
      async (kinds, seed) => {
        using data = withData(
          kinds.map((kind, index) => ({ key: `q${index}`, question: `What is ${kind}?`, answers: [`a${kind}`] })),
        );
        const pulled = await data.pull({ seed, ratio: '1:1:1' });
        const kindsOf = idsIn(pulled.out).map((ids) => new Set(ids.map((id) => kinds[Number(id.slice(1))])));
        expect(new Set(kindsOf.flatMap((set) => [...set])).size).toBe(kindsOf.reduce((sum, { size }) => sum + size, 0));
        expect(idsIn(pulled.out).flat()).toHaveLength(kinds.length);
      },
    ),
    { numRuns: 30 },
  );
});

it('reads what it wrote as it was', async () => {
  using data = withData(rows(8));
  const first = await data.pull();
  cpSync(first.out, join(data.folder.path, 'copy'), { recursive: true });
  const second = await data.pull({ from: 'copy', out: 'again' });
  expect(second.dataSha256).toBe(first.dataSha256);
});

it('leaves what was pulled before alone if no item is left', async () => {
  using data = withData(rows(6));
  const { out } = await data.pull();
  const before = idsIn(out);
  writeFileSync(join(data.from, 'rows.jsonl'), JSON.stringify({ key: 'a', question: 'Nothing?', answers: ['the'] }));
  await expect(data.pull()).rejects.toMatchObject({
    code: 'TASKS_INVALID',
    message: 'none of 1 items can be scored; the first, a: an empty answer scores 1',
  });
  expect(idsIn(out)).toEqual(before);
});

it('says so when items were changed after they were pulled', async () => {
  using data = withData(rows(6));
  const { out } = await data.pull();
  expect((await data.check()).changed).toBeUndefined();
  const path = join(out, 'test', 'items.jsonl');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/"a(\d)"/, '"b$1"'));
  expect((await data.check()).changed).toContain('the items are not those that were pulled');
});

it('names a setting that is spelt nearly as one that there is, and refuses a wrong value with what is expected', async () => {
  using data = withData(rows(6));
  await data.pull();
  const check = (override: string) => data.check({ overrides: [override] });
  expect((await check('env.maxContexChars=5')).warnings).toEqual([
    'extras.maxContexChars has no effect: did you mean maxContextChars?',
  ]);
  expect((await check('env.max_turns=5')).warnings).toEqual([]);
  await expect(check('env.leave_out_flawed=perhaps')).rejects.toMatchObject({
    message: expect.stringContaining('leaveOutFlawed: expected true or false, got "perhaps"'),
    hint: 'extras may have: maxCompletionTokens, maxContextChars, dataRoot, dataDirs, docsDirs, leaveOutFlawed.',
  });
});
