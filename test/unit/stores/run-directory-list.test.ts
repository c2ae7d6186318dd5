import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listRuns } from '../../../src/stores/index.ts';
import { temporaryDirectory } from './run-directory.fixture.ts';

async function makeRun(root: string, name: string, modifiedAt: Date) {
  await mkdir(join(root, name));
  await writeFile(join(root, name, 'events.jsonl'), 'never parsed');
  await utimes(join(root, name, 'events.jsonl'), modifiedAt, modifiedAt);
}

it('lists folders with a journal, newest first', async () => {
  await using folder = await temporaryDirectory();
  const [older, newer] = [new Date('2026-01-01T10:00:00Z'), new Date('2026-01-02T10:00:00Z')];
  await makeRun(folder.path, 'b', older);
  await makeRun(folder.path, 'a', older);
  await makeRun(folder.path, 'c', newer);
  await mkdir(join(folder.path, 'no-run'));
  await mkdir(join(folder.path, 'odd', 'events.jsonl'), { recursive: true });
  await writeFile(join(folder.path, 'file'), '');
  expect(await listRuns(folder.path)).toEqual([
    { name: 'c', path: join(folder.path, 'c'), modifiedAt: newer },
    { name: 'a', path: join(folder.path, 'a'), modifiedAt: older },
    { name: 'b', path: join(folder.path, 'b'), modifiedAt: older },
  ]);
});

it('is empty where there is no folder', async () => {
  await using folder = await temporaryDirectory();
  expect(await listRuns(join(folder.path, 'missing'))).toEqual([]);
});
