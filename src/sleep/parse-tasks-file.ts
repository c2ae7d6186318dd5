import { z } from 'zod';
import { whyTooMuch } from '../core/contracts/index.ts';
import { describeValue, nearDuplicateOf, toCamelCase, toSnakeCase } from '../core/text/index.ts';
import { tasksInvalid } from '../envs/index.ts';
import { anyChecks, type ValidateChecks } from './mine/mined-task.ts';
import { assignSplits, type SplitOptions } from './splits.ts';
import { TaskRecord, toTaskFields } from './task-record.ts';

export const TASKS_FORMAT = 'skillopt_sleep.tasks.v1';

/** More is no file that a person has read. */
const MOST_TASKS = 10_000;
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

export type TasksFile = Omit<z.infer<typeof Header>, 'format' | 'reviewed'> & {
  /** A person has read the tasks and said so. */
  readonly reviewed: boolean;
  readonly tasks: readonly TaskRecord[];
};

export type TasksFileOptions = SplitOptions & {
  /** What the rule judge thinks of a task's checks. */
  readonly validateChecks?: ValidateChecks | undefined;
};

/** A file as it was understood, and what a person should know about it. */
export type ReadTasksFile = { readonly file: TasksFile; readonly warnings: readonly string[] };

/**
 * Reads an object with a header and tasks, or a list of tasks. Without any task held out, splits are assigned; otherwise
 * they are the person's. Throws `TASKS_INVALID` that names each task, field, what was expected and what came.
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
    (error?.issues ?? []).map(
      (issue) => `tasks[${at}]${dotted(issue.path)}: ${describeValue(issue, toTaskFields(rows[at]))}`,
    ),
  );
  const problems = wrong.length > 0 ? wrong : repeatedIds(tasks);
  if (problems.length === 0) return tasks;
  const hint = 'Correct these tasks or delete them from the file.';
  throw tasksInvalid(
    problems.map((problem) => `${where}: ${problem}`),
    hint,
  );
}

function repeatedIds(tasks: readonly TaskRecord[]): string[] {
  const places = new Map(tasks.map(({ id }, at) => [id, at]));
  return tasks.flatMap(({ id }, at) => {
    const last = places.get(id)!;
    return last === at
      ? []
      : [`tasks[${last}].id: expected one of its own, got ${JSON.stringify(id)} as in tasks[${at}]`];
  });
}

const dotted = (path: readonly PropertyKey[]) => (path.length === 0 ? '' : `.${fileKey(path)}`);

/** As the file spells it. */
const fileKey = (path: readonly PropertyKey[]) =>
  path
    .map((key) => (typeof key === 'string' ? Object.keys(toSnakeCase({ [key]: 0 }) as object)[0]! : String(key)))
    .join('.');

function validateJudges(tasks: readonly TaskRecord[], where: string, validate: ValidateChecks): string[] {
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

function settleSplits(tasks: readonly TaskRecord[], options: SplitOptions) {
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

/** The splits are the person's; what they do to a measurement should be known. */
function straddling(tasks: readonly TaskRecord[]): string[] {
  const isLearned = nearDuplicateOf(tasks.filter(({ split }) => split === 'train').map(({ intent }) => intent));
  return tasks.flatMap(({ split, intent }, at) =>
    split !== 'train' && isLearned(intent)
      ? [`tasks[${at}].split: ${split}, but nearly the same intent is learned from; it does not count in the proof`]
      : [],
  );
}
