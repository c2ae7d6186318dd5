import { appendFile, cp, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeLongJournal } from '../../../bench/long-journal.ts';
import { loadRun } from '../../../src/app/index.ts';
import { emptyRun, type RunState, reduce } from '../../../src/core/run/index.ts';
import { readKeptState, runDirectory } from '../../../src/stores/index.ts';
import { stepEnd, temporaryDirectory } from './run-directory.fixture.ts';

const keptIn = (path: string) => readKeptState(path, 'events.jsonl');

let [around, state, count] = ['', emptyRun, 0];

/** A run of 400 steps whose state was kept after 380, and what its journal folds to. */
beforeAll(async () => {
  around = await mkdtemp(join(tmpdir(), 'skillopt-long-'));
  await writeLongJournal({ path: join(around, 'events.jsonl'), steps: 400, tasks: 20, batch: 8, keptAt: 0.95 });
  const events = await runDirectory(around).read();
  state = events.reduce(reduce, emptyRun);
  count = events.length;
  return () => rm(around, { recursive: true });
});

async function longRun() {
  const folder = await temporaryDirectory();
  await cp(around, folder.path, { recursive: true });
  return { ...folder, journal: join(folder.path, 'events.jsonl') };
}

/** Lines of the journal up to the kept state are replaced, so that reading them fails. */
async function spoilBefore(journal: string, size: number) {
  const bytes = await readFile(journal);
  bytes.fill('x', 0, size - 100);
  await writeFile(journal, bytes);
}

describe('the state of a long run', () => {
  it('is where folding begins', async () => {
    await using run = await longRun();
    const kept = (await keptIn(run.path))!;
    expect(kept.state.stepsDone).toBe(380);
    await spoilBefore(run.journal, kept.place.size);
    expect((await loadRun(run.path)).state).toEqual(state);
  });

  it('is all there is to read when the journal ends there', async () => {
    await using run = await longRun();
    const kept = (await keptIn(run.path))!;
    await truncate(run.journal, kept.place.size);
    expect((await loadRun(run.path)).state).toEqual(kept.state);
    const events = await runDirectory(run.path).read();
    expect(events.reduce(reduce, emptyRun)).toEqual(kept.state);
  });

  it('leaves out a last line that a crash tore', async () => {
    await using run = await longRun();
    await truncate(run.journal, (await stat(run.journal)).size - 3);
    expect((await loadRun(run.path)).state.stepsDone).toBe(399);
  });

  it('lets no damage behind it pass, and the line has the number that it has in the file', async () => {
    await using run = await longRun();
    const whole = await readFile(run.journal);
    const last = { code: 'JOURNAL_CORRUPT', message: expect.stringContaining(`events.jsonl:${count} `) };
    const damaged = Buffer.from(whole);
    damaged[whole.length - 40]! ^= 1;
    await writeFile(run.journal, damaged);
    await expect(loadRun(run.path)).rejects.toMatchObject(last);
    const { place } = (await keptIn(run.path))!;
    const next = whole.indexOf('\n', place.size) + 1;
    await writeFile(run.journal, Buffer.concat([whole.subarray(0, place.size), whole.subarray(next)]));
    await expect(loadRun(run.path)).rejects.toThrow(`events.jsonl:${place.count + 1} is damaged`);
  });

  it.each([
    ['was cut before it', (path: string, size: number) => truncate(path, size - 1)],
    [
      'has another line there',
      async (path: string, size: number) => {
        const bytes = await readFile(path);
        await writeFile(path, Buffer.concat([bytes.subarray(0, size - 3), bytes.subarray(size - 2)]));
      },
    ],
  ])('is not used when the journal %s', async (_, harm) => {
    await using run = await longRun();
    await harm(run.journal, (await keptIn(run.path))!.place.size);
    expect(await keptIn(run.path)).toBeUndefined();
    const read = runDirectory(run.path).read();
    const loaded = loadRun(run.path);
    const outcomes = await Promise.allSettled([read, loaded]);
    expect(outcomes[0].status).toBe(outcomes[1].status);
  });

  it('is not used when it is damaged', async () => {
    await using run = await longRun();
    const path = join(run.path, 'state.json');
    const text = await readFile(path, 'utf8');
    const changed = [text.replace('"stepsDone":380', '"stepsDone":381'), text.replace('"count":', '"count":1')];
    for (const damaged of [...changed, text.replace('"format":', '"format":1'), text.slice(0, 100), 'x', '']) {
      await writeFile(path, damaged);
      expect(await keptIn(run.path)).toBeUndefined();
    }
    expect((await loadRun(run.path)).state.stepsDone).toBe(400);
  });
});

describe('a state that is offered to a run directory', () => {
  const MB = 2 ** 20;
  const offered: RunState = { ...emptyRun, stepsDone: 1 };
  const keptAfter = async (path: string) => (await keptIn(path))?.place.count;

  async function openRun() {
    const folder = await temporaryDirectory();
    const run = await runDirectory(folder.path).open();
    const grow = (megabytes: number) => run.append({ ...stepEnd(1), at: 'x'.repeat(megabytes * MB) });
    const dispose = async () => {
      await run[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    };
    return { path: folder.path, grow, keep: run.keepState!, [Symbol.asyncDispose]: dispose };
  }

  it('is kept when the journal has grown by 4 MB since the last one', async () => {
    await using run = await openRun();
    await run.grow(3);
    await run.keep(offered);
    await run.keep(offered, { isLast: true });
    expect(await keptAfter(run.path)).toBeUndefined();
    for (const [megabytes, lines] of [
      [1, 2],
      [3, 2],
      [1, 4],
    ] as const) {
      await run.grow(megabytes);
      await run.keep(offered);
      expect(await keptAfter(run.path)).toBe(lines);
    }
  });

  it('is kept when the journal has grown by a tenth, once that is more', async () => {
    await using run = await openRun();
    for (const [megabytes, lines] of [
      [45, 1],
      [4, 1],
      [1, 3],
    ] as const) {
      await run.grow(megabytes);
      await run.keep(offered);
      expect(await keptAfter(run.path)).toBe(lines);
    }
  });

  it('is kept at the end of a run if the journal has grown at all', async () => {
    await using run = await openRun();
    await run.grow(4);
    await run.keep(offered);
    const written = await stat(join(run.path, 'state.json'));
    await run.keep(offered, { isLast: true });
    expect((await stat(join(run.path, 'state.json'))).ino).toBe(written.ino);
    await run.grow(0);
    await run.keep(offered);
    expect(await keptAfter(run.path)).toBe(1);
    await run.keep(offered, { isLast: true });
    expect(await keptAfter(run.path)).toBe(2);
  });
});

it('a journal that continues after lines without checks is folded from its beginning until it has one', async () => {
  await using folder = await temporaryDirectory();
  const large = { ...stepEnd(1), at: 'x'.repeat(5 * 2 ** 20) };
  await appendFile(join(folder.path, 'events.jsonl'), `${JSON.stringify(large)}\n`);
  await using run = await runDirectory(folder.path).open();
  await run.keepState?.(emptyRun);
  expect(await keptIn(folder.path)).toBeUndefined();
  await run.append(stepEnd(2));
  await run.keepState?.(emptyRun, { isLast: true });
  expect((await keptIn(folder.path))?.place.count).toBe(2);
});
