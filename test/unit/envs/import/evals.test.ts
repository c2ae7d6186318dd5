import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadTasks } from 'skillopt/envs';
import { expect, test } from 'vitest';
import { isEvals, readEvals } from '../../../../src/imports/evals.ts';
import type { LeftOut } from '../../../../src/imports/index.ts';
import { evalsExpectations, importFiles, importPath } from '../../../support/imports/import-corpus.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const read = (file: string): unknown => JSON.parse(readFileSync(importPath('evals', file), 'utf8'));

/** What stands at a path such as `evals[0].expectations[1]`. */
const at = (root: unknown, path: string): unknown =>
  path
    .split(/[.[\]]+/)
    .filter((key) => key !== '')
    .reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], root);

const names = (leftOut: readonly LeftOut[]) => leftOut.map(({ where }) => where);

/** Where nothing names a path, its value must stand in what is carried. */
function isCarried(root: unknown, path: string, carried: string): boolean {
  const value = at(root, path);
  const texts = typeof value === 'object' && value !== null ? [(value as { prompt: string }).prompt] : [String(value)];
  return texts.every((text) => carried.includes(JSON.stringify(text.trim()).slice(1, -1)));
}

test.each(evalsExpectations())('evals $file', async ({ file, refused, items, triggers, ...rest }) => {
  const root = read(file);
  expect(isEvals(root)).toBe(true);
  if (refused !== undefined) {
    await expect(loadTasks(importPath('evals', file))).rejects.toMatchObject({
      code: 'TASKS_INVALID',
      message: expect.stringContaining(refused),
    });
    return;
  }
  if (triggers !== undefined) {
    await expect(loadTasks(importPath('evals', file))).rejects.toMatchObject({ code: 'TASKS_INVALID' });
    return;
  }
  const found = readEvals(root);
  const carried = found.items.map(({ index: _, ...item }) => item);
  const wanted = carried.filter((item) => items!.some(({ prompt }) => prompt === item.prompt));
  expect(wanted).toEqual(items!.map((item) => (item.id === undefined ? expect.objectContaining(item) : item)));
  expect(names(found.leftOut)).toEqual(expect.arrayContaining([...(rest.named ?? [])]));
  const lost = (rest.carriedOrNamed ?? []).filter(
    (path) => !names(found.leftOut).includes(path) && !isCarried(root, path, JSON.stringify(carried)),
  );
  expect(lost).toEqual([]);
});

test('every file has an expectation', () => {
  expect(importFiles('evals')).toEqual(
    evalsExpectations()
      .map(({ file }) => file)
      .sort(),
  );
});

test('an eval becomes a task that a model judges by its statements, or by its expected output', async () => {
  using folder = tempFolder({ 'evals/evals.json': readFileSync(importPath('evals', 'plain.json'), 'utf8') });
  const path = join(folder.path, 'evals/evals.json');
  await expect(loadTasks(path)).rejects.toThrow('the eval 1 is left out: evals/files/recipes.csv does not exist');
  mkdirSync(join(folder.path, 'evals/files'));
  writeFileSync(join(folder.path, 'evals/files/recipes.csv'), 'dish,minutes\nsoup,20\n');
  const { rows } = await loadTasks(path);
  expect(rows[0]!.value).toMatchObject({ id: '1', judge: { kind: 'rubric', criteria: { length: 3 } }, answers: [] });
  expect(rows[0]!.value.context).toContain('soup,20');
  writeFileSync(path, JSON.stringify({ evals: [{ id: 1, prompt: 'How far?', expected_output: 'About 2 km' }] }));
  const [bare] = (await loadTasks(path)).rows;
  expect(bare!.value.judge).toMatchObject({ rubric: expect.stringContaining('About 2 km') });
});

test('a file without evals holds no tasks', async () => {
  await expect(loadTasks(importPath('evals', 'no-evals.json'))).rejects.toThrow('holds no tasks');
});
