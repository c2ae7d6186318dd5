import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { lstat, open, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { SkillError, whyTooMuch } from '../core/contracts/index.ts';
import { describeValue, jsonText, nearDuplicateOf, snakeName, toCamelCase } from '../core/text/index.ts';
import { tasksInvalid } from '../imports/index.ts';
import { fileReason, shownPath } from '../stores/index.ts';
import { anyChecks, type ValidateChecks } from './mine/model-miner.ts';
import { assignSplits, type SplitOptions } from './splits.ts';
import { TaskRecord, type Tasks, toTaskFields, toTaskJson } from './task-record.ts';

const TASKS_FORMAT = 'skillopt_sleep.tasks.v1';

/** Nobody reviews a larger file. */
const MOST_TASKS = 10_000;
const MOST_BYTES = 32 * 1024 * 1024;
const LIMITS = { maxDepth: 50, maxValues: 2_000_000 };

const text = z.string().default('');

const Header = z.object({
  format: z.literal(TASKS_FORMAT).optional(),
  project: text,
  transcriptSource: text,
  nSessions: z.number().int().nonnegative().default(0),
  targetSkillPath: text,
  reviewed: z.unknown().optional(),
});

type TasksFile = Omit<z.infer<typeof Header>, 'format' | 'reviewed'> & {
  readonly reviewed: boolean;
  readonly tasks: Tasks;
};

type TasksFileOptions = SplitOptions & { readonly validateChecks?: ValidateChecks | undefined };

type ReadTasksFile = { readonly file: TasksFile; readonly warnings: readonly string[] };

/**
 * Reads an object with a header and tasks, or a list of tasks. Assigns splits if no task is held out; otherwise they are
 * the person's. Throws `TASKS_INVALID` with a line per problem.
 */
export function parseTasksFile(json: string, where: string, options: TasksFileOptions = {}): ReadTasksFile {
  const root = parseRoot(json, where);
  const header = readHeader(root, where);
  const rows = rowsOf(root, where);
  const given = readTasks(rows, where);
  const judged = validateJudges(given, where, options.validateChecks ?? anyChecks);
  const { tasks, warnings } = settleSplits(given, options);
  const reviewed = header.reviewed === true;
  const strange = reviewed || header.reviewed === undefined || header.reviewed === false ? [] : [NOT_TRUE];
  const { format: _, ...facts } = header;
  return { file: { ...facts, reviewed, tasks }, warnings: [...strange, ...judged, ...warnings] };
}

const NOT_TRUE =
  'reviewed: only true, without quotes, says that a person has read the tasks; they count as not reviewed';
const EXAMPLE = `Expected { "format": "${TASKS_FORMAT}", "reviewed": false, "tasks": [{ "id": …, "project": …, "intent": … }] }.`;

function parseRoot(json: string, where: string): unknown {
  let root: unknown;
  try {
    root = JSON.parse(json);
  } catch (error) {
    throw tasksInvalid([`${where}: expected JSON: ${(error as Error).message.replace(/\s+/g, ' ')}`], EXAMPLE, error);
  }
  const problem = whyTooMuch(root, LIMITS);
  if (problem !== undefined) throw tasksInvalid([`${where}: ${problem}`], 'Split the file, or write it again.');
  return root;
}

function readHeader(root: unknown, where: string): z.infer<typeof Header> {
  if (Array.isArray(root)) return Header.parse({});
  const { tasks: _, ...fields } = (toCamelCase(root) ?? {}) as Record<string, unknown>;
  const { data, error } = Header.safeParse(fields);
  if (data) return data;
  const problems = error.issues.map((issue) => `${where}: ${fileKey(issue.path)}: ${describeValue(issue, fields)}`);
  throw tasksInvalid(problems, EXAMPLE);
}

function rowsOf(root: unknown, where: string): readonly unknown[] {
  const rows = Array.isArray(root) ? root : (root as { tasks?: unknown } | null)?.tasks;
  if (!Array.isArray(rows)) throw tasksInvalid([`${where}: tasks: expected a list, got ${kindOf(rows)}`], EXAMPLE);
  if (rows.length > 0 && rows.length <= MOST_TASKS) return rows;
  throw tasksInvalid([`${where}: tasks: expected 1 to ${MOST_TASKS} tasks, got ${rows.length}`], EXAMPLE);
}

const kindOf = (value: unknown) => (value === undefined || value === null ? 'nothing' : `a ${typeof value}`);

function readTasks(rows: readonly unknown[], where: string): TaskRecord[] {
  const read = rows.map((row) => TaskRecord.safeParse(row));
  const tasks = read.flatMap(({ data }) => data ?? []);
  const wrong = read.flatMap(({ error }, at) =>
    (error?.issues ?? []).map((issue) => {
      const key = issue.path.length === 0 ? '' : `.${fileKey(issue.path)}`;
      return `tasks[${at}]${key}: ${describeValue(issue, toTaskFields(rows[at]))}`;
    }),
  );
  const problems = wrong.length > 0 ? wrong : repeatedIds(tasks);
  if (problems.length === 0) return tasks;
  const lines = problems.map((problem) => `${where}: ${problem}`);
  throw tasksInvalid(lines, 'Correct these tasks or delete them from the file.');
}

function repeatedIds(tasks: Tasks): string[] {
  const lastAt = new Map(tasks.map(({ id }, at) => [id, at]));
  const problem = (id: string, at: number) =>
    `tasks[${lastAt.get(id)}].id: expected one of its own, got ${JSON.stringify(id)} as in tasks[${at}]`;
  return tasks.flatMap(({ id }, at) => (lastAt.get(id) === at ? [] : [problem(id, at)]));
}

/** As the file spells it. */
const fileKey = (path: readonly PropertyKey[]) => path.map((key) => snakeName(String(key))).join('.');

function validateJudges(tasks: Tasks, where: string, validate: ValidateChecks): string[] {
  const found = tasks.map((task) => (task.referenceKind === 'rule' ? validate(task.judge) : anyChecks(task.judge)));
  const named = (kind: 'errors' | 'warnings') =>
    found.flatMap((one, at) => one[kind].map((message) => `tasks[${at}].judge: ${message}`));
  const errors = named('errors').map((problem) => `${where}: ${problem}`);
  if (errors.length > 0) throw tasksInvalid(errors, 'Correct these checks or delete the tasks from the file.');
  const empty = tasks.flatMap(({ referenceKind, reference }, at) =>
    referenceKind === 'exact' && reference.trim() === ''
      ? [`tasks[${at}].reference: empty, so no answer can pass`]
      : [],
  );
  return [...named('warnings'), ...empty];
}

function settleSplits(tasks: Tasks, options: SplitOptions) {
  if (tasks.length >= 2 && tasks.every(({ split }) => split === 'train')) {
    const assigned = assignSplits(tasks, options);
    const missing = tasks.length - assigned.length;
    const between = `${missing} of the tasks left out: nearly the same as tasks of both sides of an earlier night`;
    return { tasks: assigned, warnings: missing > 0 ? [between] : [] };
  }
  const settled = tasks.map((task): TaskRecord => (task.origin === 'dream' ? { ...task, split: 'train' } : task));
  const moved = settled.flatMap((task, at) =>
    task.split === tasks[at]!.split ? [] : [`tasks[${at}].split: dreams are only learned from; it counts as train`],
  );
  return { tasks: settled, warnings: [...moved, ...straddling(settled)] };
}

/** Warns about held-out tasks that are nearly the same as training tasks. */
function straddling(tasks: Tasks): string[] {
  const isLearned = nearDuplicateOf(tasks.filter(({ split }) => split === 'train').map(({ intent }) => intent));
  return tasks.flatMap(({ split, intent }, at) =>
    split !== 'train' && isLearned(intent)
      ? [`tasks[${at}].split: ${split}, but nearly the same intent is learned from; it does not count in the proof`]
      : [],
  );
}

export async function readTasksFile(path: string, options: TasksFileOptions = {}): Promise<ReadTasksFile> {
  const where = shownPath(path);
  const bytes = await readBytes(path).catch((error) => {
    if (error instanceof SkillError) throw error;
    throw tasksInvalid([`${where} cannot be read: ${fileReason(error)}`], 'Give the path of a tasks file.', error);
  });
  if (!isUtf8(bytes)) throw tasksInvalid([`${where}: expected UTF-8, got other bytes`], 'Save the file as UTF-8.');
  return parseTasksFile(new TextDecoder().decode(bytes), where, options);
}

async function readBytes(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const found = await file.stat();
    if (!found.isFile()) throw tasksInvalid([`${shownPath(path)}: expected a file`], 'Give the path of a tasks file.');
    if (found.size <= MOST_BYTES) return await file.readFile();
    const sizes = `at most ${MOST_BYTES / 1024 / 1024} MB, got ${Math.ceil(found.size / 1024 / 1024)} MB`;
    throw tasksInvalid([`${shownPath(path)}: expected ${sizes}`], 'Split the file: nobody reviews this much.');
  } finally {
    await file.close();
  }
}

const HOW_TO_REVIEW =
  'Read every task below: models will see it, and a skill will be trained and measured with it. Correct or delete what is wrong or private. Then set "reviewed" to true.';

export function tasksFileText(file: Omit<TasksFile, 'reviewed'>): string {
  const content = {
    format: TASKS_FORMAT,
    how_to_review: HOW_TO_REVIEW,
    reviewed: false, // only a person sets it
    project: file.project,
    transcript_source: file.transcriptSource,
    n_sessions: file.nSessions,
    target_skill_path: file.targetSkillPath,
    tasks: file.tasks.map(toTaskJson),
  };
  return `${jsonText(content)}\n`;
}

/** Writes a file that nobody else can read. Call `requireReplaceable` first. */
export async function writeTasksFile(path: string, file: Omit<TasksFile, 'reviewed'>): Promise<void> {
  const draft = `${path}.${randomUUID().slice(0, 8)}.tmp`; // a new file: others may be able to read the old one
  try {
    await writeFile(draft, tasksFileText(file), { flag: 'wx', mode: 0o600 });
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined);
    const message = `${shownPath(path)} cannot be written: ${fileReason(cause)}`;
    throw new SkillError('RUN_UNWRITABLE', message, { cause, hint: 'Choose another place for the tasks.' });
  }
}

/** Throws if a file would be lost at `path`, other than tasks that nobody has reviewed. `isForced`: any file may go. */
export async function requireReplaceable(path: string, { isForced = false } = {}): Promise<void> {
  const found = await lstat(path).catch(() => undefined); // writing reports what is wrong with the path
  if (found === undefined) return;
  if (!found.isFile()) {
    const kind = found.isSymbolicLink() ? 'a link' : found.isDirectory() ? 'a folder' : 'a device';
    throw inTheWay(path, `is ${kind}, and a file was expected`, 'Name a file that is not there yet, or - for stdout.');
  }
  const what = isForced ? undefined : whatIsLost(await readBytes(path).catch(() => undefined));
  if (what !== undefined) throw inTheWay(path, what, 'Choose another name, or force it to be overwritten.');
}

function whatIsLost(bytes: Buffer | undefined): string | undefined {
  try {
    const { format, reviewed } = JSON.parse(String(bytes));
    if (format === TASKS_FORMAT) return reviewed === true ? 'holds tasks that you have reviewed' : undefined;
  } catch {} // it is something else
  return 'is no file of tasks, and would be lost';
}

const inTheWay = (path: string, what: string, hint: string) =>
  new SkillError('USAGE', `${shownPath(path)} ${what}`, { hint });

/** Throws unless a person has reviewed the tasks, or all models are free: simulated and scripted ones send nothing. */
export function requireReviewed(
  { reviewed }: Pick<TasksFile, 'reviewed'>,
  roles: Readonly<Record<string, { readonly id: string; readonly isFree?: true | undefined } | undefined>>,
): void {
  const real = Object.entries(roles).flatMap(([role, model]) =>
    model && !model.isFree ? [`${role} ${model.id}`] : [],
  );
  if (reviewed === true || real.length === 0) return;
  const message = `expected reviewed tasks for real models (${real.join(', ')}), got unreviewed ones`;
  const hint = 'Read the tasks file, delete what must not be sent or learned, and set "reviewed": true in it.';
  throw new SkillError('TASKS_INVALID', message, { hint });
}
