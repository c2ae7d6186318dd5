import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import { isObject } from '../core/run/index.ts';
import type { TaskRow } from './task-row.ts';

/** A line of a task file, as it is written and as it is read. Empty lines have no row. */
export type TaskLine = { readonly text: string; readonly row: TaskRow | undefined };

/** Whether a file has a task on each line. */
export const isLineFile = (path: string): boolean => ['.jsonl', '.ndjson'].includes(extname(path).toLowerCase());

/** The lines of a file with a task on each; none where there is no file. Throws for another format. */
export async function readTaskLines(path: string, shown = path): Promise<TaskLine[]> {
  if (!isLineFile(path)) throw notLines(shown, `ends in "${extname(path)}"`);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new SkillError('TASKS_INVALID', `${shown} cannot be read: ${error.message}`, { cause: error });
  });
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, index) => ({ text: line, row: parseLine(line, `${shown}:${index + 1}`, shown) }));
}

function parseLine(line: string, where: string, shown: string): TaskRow | undefined {
  if (line.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return value;
  } catch {} // the same complaint
  throw notLines(shown, `has something else at ${where}`);
}

function notLines(shown: string, problem: string): SkillError {
  const hint = 'Name a .jsonl file, or convert this one: one JSON object on each line.';
  return new SkillError('TASKS_INVALID', `expected a file with a JSON object per line; ${shown} ${problem}`, { hint });
}

export const lineOf = (row: TaskRow): TaskLine => ({ text: JSON.stringify(row), row });

/** Readers find the old lines or the new ones, whenever this is cut off. The file's mode stays. */
export async function writeTaskLines(path: string, lines: readonly TaskLine[]): Promise<void> {
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => 0o644,
  );
  const draft = `${path}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    await writeFile(draft, lines.map(({ text }) => `${text}\n`).join(''), { flag: 'wx', mode });
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true });
    const hint = 'Choose a place that you may write to.';
    throw new SkillError('RUN_UNWRITABLE', `${path} cannot be written: ${(cause as Error).message}`, { cause, hint });
  }
}

/** Adds rows behind what the file holds by now: a person may have reviewed it in the meantime. */
export async function appendRows(path: string, rows: readonly TaskRow[]): Promise<void> {
  await writeTaskLines(path, [...(await readTaskLines(path)), ...rows.map(lineOf)]);
}

/** Where tasks go that a person dropped: they can be taken back, and no draft brings them again. */
export const droppedPath = (path: string): string => path.replace(/(\.\w+)$/, '.dropped$1');
