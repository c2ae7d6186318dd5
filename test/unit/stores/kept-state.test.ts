import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeLongJournal } from '../../../bench/long-journal.ts';
import { reduce } from '../../../src/core/run/reduce/reduce.ts';
import { emptyRun } from '../../../src/core/run/run-state.ts';
import { loadRun } from '../../../src/runs/load-run.ts';
import { readKeptState } from '../../../src/stores/index.ts';
import { runDirectory } from '../../../src/stores/run/run-directory.ts';
import { stepEnd, temporaryDirectory } from './run-directory.fixture.ts';

const keptIn = (path: string) => readKeptState(path, 'events.jsonl');

async function longRun() {
  const folder = await temporaryDirectory();
  await writeLongJournal({
    path: join(folder.path, 'events.jsonl'),
    steps: 500,
    tasks: 20,
    batch: 8,
    isStateKept: true,
  });
  return folder;
}

describe('the state of a long run', () => {
  it('is kept at its end, and is what its journal folds to', async () => {
    await using run = await longRun();
    const events = await runDirectory(run.path).read();
    const folded = JSON.parse(JSON.stringify(events.reduce(reduce, emptyRun)));
    expect(await keptIn(run.path)).toEqual(folded);
    expect((await loadRun(run.path)).state).toEqual(folded);
  });

  it('is not used when the journal has gone on, or was cut', async () => {
    await using run = await longRun();
    {
      await using open = await runDirectory(run.path).open();
      await open.append(stepEnd(501));
    }
    expect(await keptIn(run.path)).toBeUndefined();
    expect((await loadRun(run.path)).state.stepsDone).toBe(501);
    const journal = await readFile(join(run.path, 'events.jsonl'));
    await writeFile(join(run.path, 'events.jsonl'), journal.subarray(0, -3));
    expect(await keptIn(run.path)).toBeUndefined();
    expect((await loadRun(run.path)).state.stepsDone).toBe(500);
  });

  it('is not used when it is damaged', async () => {
    await using run = await longRun();
    const path = join(run.path, 'state.json');
    const text = await readFile(path, 'utf8');
    for (const damaged of [text.replace('"stepsDone":500', '"stepsDone":501'), text.slice(0, 100), 'x', '']) {
      await writeFile(path, damaged);
      expect(await keptIn(run.path)).toBeUndefined();
    }
    expect((await loadRun(run.path)).state.stepsDone).toBe(500);
  });

  it('is not kept where the journal is short', async () => {
    await using folder = await temporaryDirectory();
    await using open = await runDirectory(folder.path).open();
    await open.append(stepEnd(1));
    await open.keepState?.();
    await expect(stat(join(folder.path, 'state.json'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
