import { open, rename, rm, writeFile } from 'node:fs/promises';
import { SkillError } from '../core/errors.ts';
import { jsonText } from '../core/text/json-text.ts';
import { tasksInvalid } from '../envs/read/tasks-invalid.ts';
import { fileReason, isFileError } from '../stores/file-error.ts';
import { shownPath } from '../stores/shown-path.ts';
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

/** Writes tasks for a person to review, readable by nobody else. */
export async function writeTasksFile(path: string, file: Omit<TasksFile, 'reviewed'>): Promise<void> {
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
  try {
    await writePrivately(path, `${jsonText(content)}\n`);
  } catch (error) {
    const message = `${shownPath(path)} cannot be written: ${fileReason(error)}`;
    throw new SkillError('RUN_UNWRITABLE', message, { cause: error, hint: 'Choose another place for the tasks.' });
  }
}

/** Into a new file that takes the old one's place: the old one may be readable by others, or a link. */
async function writePrivately(path: string, text: string): Promise<void> {
  const draft = `${path}.tmp`;
  const write = () => writeFile(draft, text, { flag: 'wx', mode: 0o600 });
  await write().catch(async (error) => {
    if (!isFileError(error) || error.code !== 'EEXIST') throw error;
    await rm(draft); // left by a crash, or planted
    await write();
  });
  await rename(draft, path);
}

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
