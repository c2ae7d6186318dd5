import { randomUUID } from 'node:crypto';
import { lstat, open, rename, rm, writeFile } from 'node:fs/promises';
import { SkillError } from '../core/contracts/index.ts';
import { jsonText } from '../core/text/index.ts';
import { tasksInvalid } from '../envs/index.ts';
import { fileReason, shownPath } from '../stores/index.ts';
import {
  parseTasksFile,
  type ReadTasksFile,
  TASKS_FORMAT,
  type TasksFile,
  type TasksFileOptions,
} from './parse-tasks-file.ts';
import { toTaskJson } from './task-record.ts';

const MOST_BYTES = 32 * 1024 * 1024;

/** Reads tasks that a person may have reviewed. Says nothing about transcripts: which sessions are still unread does not change. */
export async function readTasksFile(path: string, options: TasksFileOptions = {}): Promise<ReadTasksFile> {
  const where = shownPath(path);
  const bytes = await readBytes(path).catch((error) => {
    if (error instanceof SkillError) throw error;
    throw tasksInvalid([`${where} cannot be read: ${fileReason(error)}`], 'Give the path of a tasks file.', error);
  });
  return parseTasksFile(decode(bytes, where), where, options);
}

async function readBytes(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const found = await file.stat();
    if (!found.isFile()) throw tasksInvalid([`${shownPath(path)}: expected a file`], 'Give the path of a tasks file.');
    if (found.size <= MOST_BYTES) return await file.readFile();
    const sizes = `at most ${MOST_BYTES / 1024 / 1024} MB, got ${Math.ceil(found.size / 1024 / 1024)} MB`;
    throw tasksInvalid([`${shownPath(path)}: expected ${sizes}`], 'Split the file: so much nobody has reviewed.');
  } finally {
    await file.close();
  }
}

function decode(bytes: Buffer, where: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw tasksInvalid([`${where}: expected UTF-8, got other bytes`], 'Save the file as UTF-8.', error);
  }
}

const HOW_TO_REVIEW =
  'Read every task below: models will see it, and a skill will be trained and measured with it. Correct or delete what is wrong or private. Then set "reviewed" to true.';

/** The text of a file of tasks for a person to review. */
export function tasksFileText(file: Omit<TasksFile, 'reviewed'>): string {
  const content = {
    format: TASKS_FORMAT,
    how_to_review: HOW_TO_REVIEW,
    reviewed: false, // a person says so, nobody else
    project: file.project,
    transcript_source: file.transcriptSource,
    n_sessions: file.nSessions,
    target_skill_path: file.targetSkillPath,
    tasks: file.tasks.map(toTaskJson),
  };
  return `${jsonText(content)}\n`;
}

/** Writes such a file, readable by nobody else. What must not be lost is checked first: `requireReplaceable`. */
export async function writeTasksFile(path: string, file: Omit<TasksFile, 'reviewed'>): Promise<void> {
  try {
    await writePrivately(path, tasksFileText(file));
  } catch (error) {
    const message = `${shownPath(path)} cannot be written: ${fileReason(error)}`;
    throw new SkillError('RUN_UNWRITABLE', message, { cause: error, hint: 'Choose another place for the tasks.' });
  }
}

/** Into a new file that takes the old one's place: the old one may be readable by others. */
async function writePrivately(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID().slice(0, 8)}.tmp`;
  await writeFile(draft, text, { flag: 'wx', mode: 0o600 });
  await rename(draft, path).catch(async (error) => {
    await rm(draft, { force: true });
    throw error;
  });
}

/** Throws unless nothing would be lost at `path`: nothing stands there, or tasks that nobody has reviewed. `isForced`: any file may go. */
export async function requireReplaceable(path: string, { isForced = false } = {}): Promise<void> {
  const found = await lstat(path).catch(() => undefined); // What cannot be looked at cannot be written either, which is said then.
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
  } catch {} // Then it is something else.
  return 'is no file of tasks, and would be lost';
}

const inTheWay = (path: string, what: string, hint: string) =>
  new SkillError('USAGE', `${shownPath(path)} ${what}`, { hint });

/** A model in a role, as far as it matters here. Simulated and scripted ones are free and see nothing of the outside world. */
type Role = { readonly id: string; readonly isFree?: true | undefined };

/** Throws unless a person has reviewed the tasks, or no role is played by a real model. Every role counts. */
export function requireReviewed(
  { reviewed }: Pick<TasksFile, 'reviewed'>,
  roles: Readonly<Record<string, Role | undefined>>,
): void {
  const real = Object.entries(roles).flatMap(([role, model]) =>
    model && !model.isFree ? [`${role} ${model.id}`] : [],
  );
  if (reviewed === true || real.length === 0) return;
  throw new SkillError(
    'TASKS_INVALID',
    `expected reviewed tasks for real models (${real.join(', ')}), got unreviewed ones`,
    {
      hint: 'Read the tasks file, delete what must not be sent or learned, and set "reviewed": true in it.',
    },
  );
}
