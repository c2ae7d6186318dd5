import { fileURLToPath } from 'node:url';
import { loadWorkspaceTasks } from '../../../../src/public/runners.ts';

export const fixture = (path: string) =>
  fileURLToPath(new URL(`../../../fixtures/work-imports/${path}`, import.meta.url));

/** The tasks of a fixture by id, and what is left out by its place. */
export async function loadFixture(path: string) {
  const { rows, leftOut, folder } = await loadWorkspaceTasks(fixture(path));
  const tasks = Object.fromEntries(rows.map(({ value }) => [value.id, value]));
  return { tasks, rows, folder, leftOut, named: leftOut.map(({ where, what, why }) => `${where} | ${what} | ${why}`) };
}
