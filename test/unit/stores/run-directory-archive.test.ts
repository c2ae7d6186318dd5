import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { archiveRun, runDirectory } from '../../../src/stores/index.ts';
import { startChild, stepEnd, temporaryDirectory } from './run-directory.fixture.ts';

const lockTaker = new URL('./run-lock.child.ts', import.meta.url);

async function trainBriefly(path: string, step: number) {
  await using run = await runDirectory(path).open();
  await run.append(stepEnd(step));
  await run.caches.replies.set('key', `reply ${step}`);
  await run.caches.rollouts.set('key', `score ${step}`);
}

it('moves a run aside to the first free name, unlocked', async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'one');
  await trainBriefly(path, 1);
  expect(await archiveRun(`${path}/`)).toBe(`${path}.old-1`);
  await trainBriefly(path, 2);
  expect(await archiveRun(path)).toBe(`${path}.old-2`);
  expect((await readdir(folder.path)).sort()).toEqual(['one', 'one.old-1', 'one.old-2']);
  expect(await readdir(path)).toEqual(['cache']);
  expect(await runDirectory(`${path}.old-1`).read()).toEqual([stepEnd(1)]);
  await using _run = await runDirectory(`${path}.old-2`).open();
  expect(await runDirectory(`${path}.old-2`).read()).toEqual([stepEnd(2)]);
});

it('leaves the replies to a new run at the old place, but no score and no event', async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'one');
  await trainBriefly(path, 1);
  await archiveRun(path);
  await using run = await runDirectory(path).open();
  expect(await runDirectory(path).read()).toEqual([]);
  expect(await run.caches.replies.get('key')).toBe('reply 1');
  expect(await run.caches.rollouts.get('key')).toBeUndefined();
});

it.each([
  ['damaged', 'this is no database at all'],
  ['missing', undefined],
])('moves a run aside whose cache is %s', async (_name, text) => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'one');
  await trainBriefly(path, 1);
  await rm(join(path, 'cache'), { recursive: true });
  if (text !== undefined) {
    await mkdir(join(path, 'cache'));
    await writeFile(join(path, 'cache', 'cache.db'), text.repeat(100));
  }
  expect(await archiveRun(path)).toBe(`${path}.old-1`);
  expect(await readdir(folder.path)).toEqual(['one.old-1']);
});

it('leaves alone what is not there and what is no run', async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'notes');
  await mkdir(path);
  await writeFile(join(path, 'note.md'), 'mine');
  expect(await archiveRun(path)).toBeUndefined();
  expect(await archiveRun(join(folder.path, 'missing'))).toBeUndefined();
  expect(await readdir(folder.path)).toEqual(['notes']);
});

it('refuses while somebody writes the run, here or elsewhere', async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'one');
  await trainBriefly(path, 1);
  {
    await using _run = await runDirectory(path).open();
    await expect(archiveRun(path)).rejects.toMatchObject({ code: 'RUN_LOCKED' });
  }
  await using child = startChild(lockTaker);
  expect(await child.ask(path)).toBe('taken');
  await expect(archiveRun(path)).rejects.toMatchObject({ code: 'RUN_LOCKED' });
  expect(await readdir(folder.path)).toEqual(['one']);
  await child.kill();
  expect(await archiveRun(path)).toBe(`${path}.old-1`);
  expect(await readFile(join(`${path}.old-1`, 'events.jsonl'), 'utf8')).toContain('step-end');
});
