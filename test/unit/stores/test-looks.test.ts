import { appendFile, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { countTestLook, listRuns, runDirectory } from '../../../src/stores/index.ts';
import type { LookEntry } from '../../../src/stores/run/test-looks.ts';
import { asNobody } from '../../support/machine.ts';
import { startChild, temporaryDirectory } from './run-directory.fixture.ts';

const look = (run: string, tasks = 't'): LookEntry => ({ at: 'now', by: 'eval', run, tasks, subjects: { a: 'hash' } });
const ledgerOf = (directory: string) => join(directory, 'test_looks.jsonl');
const linesOf = async (directory: string) => (await readFile(ledgerOf(directory), 'utf8')).trimEnd().split('\n');
const counter = new URL('./test-looks.child.ts', import.meta.url);

describe('the ledger of looks at test tasks', () => {
  it('counts the looks at the same tasks, and those at others apart', async () => {
    await using folder = await temporaryDirectory();
    const runs = join(folder.path, 'runs');
    expect(await countTestLook(runs, look('a'))).toEqual({ place: 1, total: 1 });
    expect(await countTestLook(runs, look('b'))).toEqual({ place: 2, total: 2 });
    expect(await countTestLook(runs, look('c', 'other tasks'))).toEqual({ place: 1, total: 1 });
    expect((await linesOf(runs)).map((line) => JSON.parse(line))).toEqual([
      look('a'),
      look('b'),
      look('c', 'other tasks'),
    ]);
  });

  it('counts the same look once, and it keeps its number when others have come', async () => {
    await using folder = await temporaryDirectory();
    for (const run of ['a', 'b', 'c']) await countTestLook(folder.path, look(run));
    expect(await countTestLook(folder.path, look('b'))).toEqual({ place: 2, total: 3 });
    expect(await linesOf(folder.path)).toHaveLength(3);
  });

  it('does not count a line that a crash tore, and glues nothing to it', async () => {
    await using folder = await temporaryDirectory();
    await countTestLook(folder.path, look('a'));
    await appendFile(ledgerOf(folder.path), JSON.stringify(look('b')).slice(0, -20));
    expect(await countTestLook(folder.path, look('b'))).toEqual({ place: 2, total: 2 });
    expect(await countTestLook(folder.path, look('c'))).toEqual({ place: 3, total: 3 });
    expect(await linesOf(folder.path)).toHaveLength(4);
  });

  it('loses nothing of eight looks at once, and counts one that was written twice once', async () => {
    await using folder = await temporaryDirectory();
    const runs = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'g'];
    const counted = await Promise.all(runs.map((run) => countTestLook(folder.path, look(run))));
    expect(new Set(counted.map(({ place }) => place)).size).toBe(7);
    expect(await countTestLook(folder.path, look('a'))).toMatchObject({ total: 7 });
  });

  it('loses nothing of processes that look at the same time', async () => {
    await using folder = await temporaryDirectory();
    await using one = startChild(counter, folder.path);
    await using two = startChild(counter, folder.path);
    await Promise.all([one.ask('warm'), two.ask('warm')]);
    const asked = [0, 1, 2, 3].flatMap((index) => [one.ask(`one ${index}`), two.ask(`two ${index}`)]);
    const places = (await Promise.all(asked)).map(Number);
    expect(places.toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('says where it cannot be written', async () => {
    await using folder = await temporaryDirectory();
    await writeFile(join(folder.path, 'file'), '');
    await expect(countTestLook(join(folder.path, 'file'), look('a'))).rejects.toMatchObject({ code: 'RUN_UNWRITABLE' });
  });

  it('is not taken for a run', async () => {
    await using folder = await temporaryDirectory();
    await countTestLook(folder.path, look('a'));
    expect(await listRuns(folder.path)).toEqual([]);
  });
});

describe('the look of a run in a folder', () => {
  const mine = { measurement: 'm', tasks: 't', subjects: { best: 'hash' } };

  it('stands beside the run, under its name and what it measures', async () => {
    await using folder = await temporaryDirectory();
    for (const [name, number] of [
      ['one', 1],
      ['two', 2],
      ['one', 1],
    ] as const) {
      await using run = await runDirectory(join(folder.path, name)).open();
      expect(await run.lookAtTest!(mine)).toBe(number);
    }
    expect((await linesOf(folder.path)).map((line) => JSON.parse(line))).toMatchObject([
      { by: 'train', run: 'one m', tasks: 't', subjects: { best: 'hash' } },
      { by: 'train', run: 'two m' },
    ]);
  });

  it('stands in the run where nothing may be written beside it', () =>
    asNobody(async () => {
      await using folder = await temporaryDirectory();
      await mkdir(join(folder.path, 'run'));
      await using run = await runDirectory(join(folder.path, 'run')).open();
      await chmod(folder.path, 0o555);
      try {
        expect(await run.lookAtTest!(mine)).toBe(1);
        expect(await linesOf(join(folder.path, 'run'))).toHaveLength(1);
      } finally {
        await chmod(folder.path, 0o755);
      }
    }));
});
