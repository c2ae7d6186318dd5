/*
 * How tasks are imported, in order, by `env` (`loadEnv`). All of it is before the first model call.
 * qa (`loadTasks` in envs): a .json file, and YAML with `tests` or `scenarios`, is first tried as one of another tool, by its keys, in
 * the order of `importers`. What fits none is rows (`loadItems`), as are CSV, JSONL and Parquet: our own tasks files are rows too. A
 * folder, another ending, or an object that holds no tasks is TASKS_INVALID, as is a file that `sleep harvest` wrote.
 * workspace (`loadWorkspaceTasks`): the same with `toWork`, then rows, of which `requireOwnRows` refuses SWE-bench; qa does not look
 * for it. A folder: Harbor tasks, evals of a skill, or folders with a task.yaml; otherwise TASKS_INVALID. trigger
 * (`loadTriggerQueries`) reads rows with `should_trigger`; `evals.ts` refuses such rows for the others. A file with `stimuli` is known
 * by `isDotnet`, after evals and before promptfoo: workspace refuses it, and reads only the older form, with `scenarios`. For qa it is
 * no list of tasks.
 * Left out or refused: what cannot be carried throws `NotCarried`. It is caught where it stands and named in `leftOut`: a check, then
 * the test if no check is left, a prompt, a file of tests. A `file://` that leads out of the folder, is missing, over 10 MB, no text
 * or a program (never run) is such a case: in a variable it costs the test, in a check the check. The import ends (TASKS_INVALID) if
 * that happens inside `defaultTest`, if the file as a whole is not what its keys say, or if no task is left. A Harbor task with
 * compose, two FROM or a test.sh that downloads is left out alone.
 * How many: a config of promptfoo makes at most 100,000 tasks, and Parquet holds at most 1 GB unpacked; other files may have any length.
 * Code in checks is not run: an expression in JavaScript is walked through (`readCode` in core/judge), other code is `NotCarried`.
 * That no sandbox can show /app ends the run in its setup (SANDBOX_UNAVAILABLE). What is left out becomes a finding
 * (`tasks/check-content.ts`).
 * Splits (`splitItems`) come last, after copies are left out: named for all rows or for none (only some: TASKS_INVALID), else drawn by
 * `splitRatio`. When a run begins, an empty train or val is TASKS_INVALID, and any other number than `trainSize` CONFIG_INVALID.
 */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { importDotnet, isDotnet } from './dotnet.ts';
import { importEvalQuestions, importEvalWork, isEvals } from './evals.ts';
import { isHarborTask, readHarborTask } from './harbor/harbor-task.ts';
import { type ForeignFile, type Imported, type ImportedWork, type LeftOut, reasonOf, withOwnIds } from './left-out.ts';
import { readText } from './load-items.ts';
import { importPromptfoo, importPromptfooWork, isPromptfoo } from './promptfoo/import-promptfoo.ts';
import { type Fields, parseData } from './promptfoo/source.ts';
import { type Row, tasksInvalid } from './rows.ts';

/** A tool whose files of tests are read: how to know one, and what it becomes for a chat model or for an agent. */
type Importer = {
  readonly detect: (root: unknown) => boolean;
  readonly toQuestions?: Convert<Imported>;
  readonly toWork: Convert<ImportedWork>;
};

/** Files are tried in this order. Another tool is another row. */
const importers: readonly Importer[] = [
  { detect: isEvals, toQuestions: importEvalQuestions, toWork: importEvalWork },
  { detect: isDotnet, toWork: (root, { path }) => importDotnet(root, path) },
  {
    detect: isPromptfoo,
    toQuestions: async (root, { path }) => ({ format: 'promptfoo', ...(await importPromptfoo(root, path)) }),
    toWork: (root, { path }) => importPromptfooWork(root, path),
  },
];

const QUESTIONS_HINT = 'Name a file of tasks, of evals (evals/evals.json), or a promptfoo config.';
const WORK_HINT =
  'Name tasks of ours, evals of a skill (evals/evals.json), a promptfoo config, tests/eval.yaml, or a folder of Harbor tasks: docs/agents-import.md.';

/** A key that only a config of promptfoo has at the left edge; in quotes anywhere, since JSON is YAML too. */
const PROMPTFOO_KEY = /^(?:tests|scenarios)\s*:|(["'])(?:tests|scenarios)\1\s*:/m;

/** The questions in another tool's file of tests; `undefined` for a file that holds rows. */
export async function importTasks(path: string): Promise<Imported | undefined> {
  const file = await readForeign(path);
  // A large file of rows is not parsed twice.
  if (!file || (extname(path).toLowerCase() !== '.json' && !PROMPTFOO_KEY.test(file.text))) return undefined;
  return importFile(file, ({ toQuestions }) => toQuestions, QUESTIONS_HINT);
}

/** The tasks for agents in another tool's file; `undefined` for a file of rows. */
export async function importWorkFile(path: string): Promise<ImportedWork | undefined> {
  const file = await readForeign(path);
  return file && importFile(file, ({ toWork }) => toWork, WORK_HINT);
}

async function readForeign(path: string): Promise<ForeignFile | undefined> {
  if (!['.json', '.yaml', '.yml'].includes(extname(path).toLowerCase())) return undefined;
  const told: LeftOut[] = [];
  return { path, told, text: await readText(path, told).catch(() => '') }; // the reader of rows complains
}

type Convert<Result> = (root: Fields, file: ForeignFile) => Promise<Result>;

async function importFile<Result extends Imported<unknown, string>>(
  file: ForeignFile,
  convertOf: (importer: Importer) => Convert<Result> | undefined,
  hint: string,
) {
  const root = parseQuietly(file);
  const importer = importers.find((one) => convertOf(one) !== undefined && one.detect(root));
  if (!importer) return undefined;
  try {
    const imported = requireTasks(await convertOf(importer)!(root as Fields, file), file.path, hint);
    return { ...imported, leftOut: [...file.told, ...imported.leftOut] };
  } catch (error) {
    throw tasksInvalid([`${file.path}: ${reasonOf(error)}`], hint, error);
  }
}

/** The reader of rows complains about what cannot be read. */
function parseQuietly({ text, path }: ForeignFile): unknown {
  try {
    return extname(path).toLowerCase() === '.json' ? JSON.parse(text) : parseData(text, path);
  } catch {
    return undefined;
  }
}

function requireTasks<Result extends Imported<unknown, string>>(imported: Result, path: string, hint: string): Result {
  if (imported.rows.length > 0) return imported;
  if (imported.leftOut.length === 0) throw tasksInvalid([`${path} holds no tasks`], 'Write at least one task into it.');
  const reasons = imported.leftOut.map(({ where, what, why }) => `${path}: ${where}: ${what} is left out: ${why}`);
  throw tasksInvalid([`${path}: none of its tests can be carried`, ...reasons], hint);
}

const IN_A_SKILL = ['evals/evals.json', 'tests/eval.yaml'];

/** What a folder of Harbor tasks becomes, or one of them, or the evals of a skill; `undefined` for any other folder. */
export async function importWorkFolder(path: string): Promise<ImportedWork | undefined> {
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
  const folders = isHarborTask(path) ? [path] : names.sort().filter(isHarborTask);
  if (folders.length > 0) return requireTasks(await importHarbor(folders), path, WORK_HINT);
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
