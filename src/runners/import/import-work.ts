import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { isEvals, isPromptfoo, NotCarried, parseData, type Row, reasonOf, tasksInvalid } from '../../envs/index.ts';
import { importDotnet, isDotnet } from './dotnet.ts';
import { importEvals } from './evals.ts';
import { isHarborTask, readHarborTask } from './harbor/harbor-task.ts';
import { type ImportedWork, withOwnIds } from './imported-work.ts';
import { importPromptfooWork } from './promptfoo/import-promptfoo.ts';

const HINT =
  'Name tasks of ours, evals of a skill (evals/evals.json), a promptfoo config, tests/eval.yaml, or a folder of Harbor tasks: docs/agents-import.md.';

/** What another tool's file becomes, for agents; `undefined` for a file of rows. */
export async function importWorkFile(path: string): Promise<ImportedWork | undefined> {
  const ending = extname(path).toLowerCase();
  if (!['.json', '.yaml', '.yml'].includes(ending)) return undefined;
  const text = (await readFile(path, 'utf8').catch(() => '')).replace(/^\uFEFF/, '');
  const root = parseQuietly(text, path);
  try {
    const imported = await importRoot(root, { text, path });
    return imported && requireTasks(imported, path);
  } catch (error) {
    throw tasksInvalid([`${path}: ${reasonOf(error)}`], HINT, error);
  }
}

async function importRoot(root: unknown, file: { readonly text: string; readonly path: string }) {
  if (isEvals(root)) return importEvals(root, file);
  if (isDotnet(root)) return importDotnet(root, file.path);
  return isPromptfoo(root) ? importPromptfooWork(root, file.path) : undefined;
}

/** What cannot be read is for the reader of rows to complain about. */
function parseQuietly(text: string, path: string): unknown {
  try {
    return parseData(text, path);
  } catch (error) {
    if (!(error instanceof NotCarried)) throw error;
    return undefined;
  }
}

function requireTasks(imported: ImportedWork, path: string): ImportedWork {
  if (imported.rows.length > 0) return imported;
  const reasons = imported.leftOut.map(({ where, what, why }) => `${path}: ${where}: ${what} is left out: ${why}`);
  throw tasksInvalid([`${path}: none of its tasks can be carried`, ...reasons], HINT);
}

const IN_A_SKILL = ['evals/evals.json', 'tests/eval.yaml'];

/** What a folder of Harbor tasks becomes, or one of them, or the evals of a skill; `undefined` for any other folder. */
export async function importWorkFolder(path: string): Promise<ImportedWork | undefined> {
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const folders = isHarborTask(path)
    ? [path]
    : names
        .sort()
        .map((name) => join(path, name))
        .filter(isHarborTask);
  if (folders.length > 0) return requireTasks(await importHarbor(folders), path);
  const file = existsSync(join(path, 'SKILL.md')) ? IN_A_SKILL.find((one) => existsSync(join(path, one))) : undefined;
  return file === undefined ? undefined : importWorkFile(join(path, file));
}

/** Whole tasks that are left out are named before what others lack. */
async function importHarbor(folders: readonly string[]): Promise<ImportedWork> {
  const tasks = await Promise.all(folders.map(readHarborTask));
  const leftOut = tasks.flatMap((task) => task.leftOut);
  const isWhole = (what: string) => what === 'the task';
  return {
    format: 'harbor',
    rows: withOwnIds(tasks.flatMap(({ rows }) => rows)),
    leftOut: [...leftOut.filter(({ what }) => isWhole(what)), ...leftOut.filter(({ what }) => !isWhole(what))],
  };
}

/** Throws for rows of a benchmark that need a container with a repository and its tests each. */
export function requireOwnRows(rows: readonly Row[], path: string): void {
  const swe = rows.find(({ value }) => {
    const fields = (value ?? {}) as object;
    return 'instance_id' in fields && ('base_commit' in fields || 'FAIL_TO_PASS' in fields);
  });
  if (swe === undefined) return;
  const problem = `${swe.where}: a task in the style of SWE-bench needs docker: an image with the repository at its base_commit, and its tests`;
  const hint =
    'Check the repository out into a folder, name it as from, and write the tests as verify: docs/agents-import.md.';
  throw tasksInvalid([problem, `${path} holds ${rows.length} such rows, and none of them is carried`], hint);
}
