import { readFile } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
import { elementLines } from '../read/element-lines.ts';
import type { Row } from '../read/row.ts';
import { tasksInvalid } from '../read/tasks-invalid.ts';
import { type EvalItem, isEvals, isTriggerSet, readEvals } from './evals.ts';
import { type LeftOut, reasonOf } from './left-out.ts';
import { importPromptfoo, isPromptfoo } from './promptfoo/import-promptfoo.ts';
import { parseData } from './promptfoo/source.ts';
import { readBelow } from './read-below.ts';

export type Imported = {
  /** Whose file it is. */
  readonly format: 'evals' | 'promptfoo';
  readonly rows: readonly Row[];
  readonly leftOut: readonly LeftOut[];
};

const HINT = 'Name a file of tasks, of evals (evals/evals.json), or a promptfoo config.';
/** A key that only a config of promptfoo has at the left edge; in quotes anywhere, since JSON is YAML too. */
const PROMPTFOO_KEY = /^(?:tests|scenarios)\s*:|(["'])(?:tests|scenarios)\1\s*:/m;

/** What another tool's file of tests becomes; `undefined` for a file that holds rows. */
export async function importTasks(path: string): Promise<Imported | undefined> {
  const ending = extname(path).toLowerCase();
  if (!['.json', '.yaml', '.yml'].includes(ending)) return undefined;
  const text = (await readFile(path, 'utf8').catch(() => '')).replace(/^\uFEFF/, '');
  if (ending !== '.json' && !PROMPTFOO_KEY.test(text)) return undefined; // a large file of rows is not read twice
  const root = parseQuietly(text, path, ending);
  try {
    if (isEvals(root)) return await importEvals(root, { text, path });
    if (!isPromptfoo(root)) return undefined;
    return requireTasks({ format: 'promptfoo', ...(await importPromptfoo(root, path)) }, path);
  } catch (error) {
    throw tasksInvalid([`${path}: ${reasonOf(error)}`], HINT, error);
  }
}

/** What cannot be read is for the reader of rows to complain about. */
function parseQuietly(text: string, path: string, ending: string): unknown {
  try {
    return ending === '.json' ? JSON.parse(text) : parseData(text, path);
  } catch {
    return undefined;
  }
}

function requireTasks(imported: Imported, path: string): Imported {
  if (imported.rows.length > 0) return imported;
  if (imported.leftOut.length === 0) throw tasksInvalid([`${path} holds no tasks`], 'Write at least one task into it.');
  const reasons = imported.leftOut.map(({ where, what, why }) => `${path}: ${where}: ${what} is left out: ${why}`);
  throw tasksInvalid([`${path}: none of its tests can be carried`, ...reasons], HINT);
}

type EvalsFile = { readonly text: string; readonly path: string };

async function importEvals(root: unknown, { text, path }: EvalsFile): Promise<Imported> {
  if (isTriggerSet(root)) {
    const problem = `${path}: these queries say when a skill is used, which is for its description; tasks were expected`;
    throw tasksInvalid([problem], HINT);
  }
  const { items, leftOut } = readEvals(root);
  const lines = elementLines(text, Array.isArray(root) ? undefined : 'evals');
  const rows: Row[] = [];
  const missing: LeftOut[] = [];
  for (const item of items) {
    const { context, ...lost } = await readInputs(item, { path, at: Array.isArray(root) ? '' : 'evals' });
    missing.push(...lost.leftOut);
    rows.push({ value: toTask(item, context), where: `${path}:${lines[item.index]}` });
  }
  return requireTasks({ format: 'evals', rows, leftOut: [...leftOut, ...missing] }, path);
}

function toTask({ id, prompt, criteria, expectedOutput }: EvalItem, context: string | undefined) {
  const rubric = `The answer fits this description of what should come out:\n${expectedOutput}`;
  const judge = criteria ? { kind: 'rubric', criteria } : { kind: 'rubric', rubric };
  return { ...(id === undefined ? {} : { id }), question: prompt, judge, ...(context ? { context } : {}) };
}

/** What a chat can take of all files of one eval. */
const MAX_INPUT_BYTES = 48_000;

/** Texts that an eval is about, for a model that cannot open files. */
async function readInputs(
  { files = [], index }: EvalItem,
  { path, at }: { readonly path: string; readonly at: string },
) {
  const folder = dirname(resolve(path));
  const skill = basename(folder) === 'evals' ? dirname(folder) : folder;
  const leftOut: LeftOut[] = [];
  const parts: string[] = [];
  for (const file of files) {
    try {
      const room = MAX_INPUT_BYTES - parts.join('').length;
      parts.push(`${file}:\n${await readBelow(skill, file, room)}`);
    } catch (error) {
      leftOut.push({ where: `${at}[${index}].files`, what: file, why: reasonOf(error) });
    }
  }
  return { context: parts.length === 0 ? undefined : parts.join('\n\n'), leftOut };
}
