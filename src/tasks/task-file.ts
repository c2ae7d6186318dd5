import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import type { TaskJudgeInput } from '../core/judge/index.ts';
import { isObject, jaccard, splitWords, type Words, wordsOf } from '../core/text/index.ts';
import { draftMarksOf, QaItem } from '../envs/index.ts';

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

/** A task as a model drafted it: a row of the task file, whose last columns the reader of tasks leaves alone. */
export type DraftRow = {
  readonly question: string;
  readonly answers?: readonly string[];
  readonly judge?: TaskJudgeInput;
  readonly taskType: string;
  readonly split?: string;
  /** What it tests. */
  readonly why: string;
  readonly drafted: true;
  readonly reviewed: false;
  /** Independent solutions neither agree with its reference nor with each other. */
  readonly doubtful?: true;
};

/** A row of a task file, whoever wrote it. */
export type TaskRow = Readonly<Record<string, unknown>>;

/** Tasks that the skill should not change are of this kind. */
export const CONTROL = 'control';

/** A model drafted it, and nobody has looked at it. */
const isUnreviewed = (row: TaskRow) => draftMarksOf(row)?.isReviewed === false;

/** What a row asks, as far as it is text. */
export const questionOf = ({ question }: TaskRow): string => (typeof question === 'string' ? question : '');

/** What a question asks, made for comparing it with others. */
export type Asked = {
  /** Its words in their order: equal for questions that differ in case and punctuation alone. */
  readonly key: string;
  readonly words: Words;
  /** Words with a digit: what the question is about, where tasks follow one pattern. */
  readonly facts: Words;
};

export function readAsked(question: string): Asked {
  const facts = splitWords(question).filter((word) => /\p{N}/u.test(word));
  return { key: splitWords(question).join(' '), words: wordsOf(question), facts: new Set(facts) };
}

/** So many shared words make two questions one, where no figure tells them apart; and where all figures are the same. */
const SAME_WORDS = 0.7;
const SAME_FACTS = 0.5;
/** Or one says nearly all that the other says, and something around it. */
const CONTAINED = 0.8;

/**
 * Whether two questions are the same task, also in other words. Tasks of one pattern differ in a few words of many, mostly in
 * figures: with other figures they are other tasks. With the same ones, more of the wording may differ.
 */
export function isSameTask(a: Asked, b: Asked): boolean {
  if (a.key === b.key) return a.key !== '';
  const [few, many] = a.facts.size <= b.facts.size ? [a.facts, b.facts] : [b.facts, a.facts];
  if (few.size === 0) return many.size === 0 && jaccard(a.words, b.words) >= SAME_WORDS;
  if (![...few].every((fact) => many.has(fact))) return false;
  return jaccard(a.words, b.words) >= SAME_FACTS || contained(a.words, b.words) >= CONTAINED;
}

function contained(a: Words, b: Words): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  return [...small].filter((word) => large.has(word)).length / Math.max(1, small.size);
}

/** What a person says of a drafted task: a row is the task in their words. */
export type Decision = 'keep' | 'drop' | { readonly edited: TaskRow };

/** Lines that a model drafted and nobody reviewed; those with a doubtful reference first. */
export function unreviewedLines(lines: readonly TaskLine[]): TaskLine[] {
  const open = lines.filter(({ row }) => row !== undefined && isUnreviewed(row));
  const isDoubtful = ({ row }: TaskLine) => row?.doubtful === true;
  return [...open.filter(isDoubtful), ...open.filter((line) => !isDoubtful(line))];
}

/** The lines after a decision about one of them. All others stay byte for byte. */
export function decideLine(lines: readonly TaskLine[], about: string, decision: Decision): TaskLine[] {
  return lines.flatMap((line) => {
    if (line.text !== about || line.row === undefined) return [line];
    if (decision === 'drop') return [];
    return [lineOf(reviewed(decision === 'keep' ? line.row : decision.edited))];
  });
}

function reviewed({ doubtful: _doubtful, ...row }: TaskRow): TaskRow {
  return { ...row, drafted: true, reviewed: true };
}

/** Saves one decision: the file is read again, since a draft may have added to it. What is dropped is kept beside it. */
export async function saveDecision(path: string, line: TaskLine, decision: Decision): Promise<void> {
  const lines = await readTaskLines(path);
  if (!lines.some(({ text }) => text === line.text)) throw gone(path);
  if (decision === 'drop') await appendRows(droppedPath(path), [line.row!]);
  await writeTaskLines(path, decideLine(lines, line.text, decision));
}

function gone(path: string): SkillError {
  return new SkillError('TASKS_INVALID', `this task is no longer in ${path}: it was changed or deleted meanwhile`, {
    hint: 'Nothing was written; what you decided before is kept. Start the review again.',
  });
}

/** What of a row a person may change. */
export function editable({ drafted: _d, reviewed: _r, doubtful: _u, why: _w, ...row }: TaskRow): string {
  return JSON.stringify(row, null, 2);
}

/** The row that a person wrote, or what is wrong with it. */
export function readEdited(text: string, before: TaskRow): { readonly row: TaskRow } | { readonly problem: string } {
  try {
    const { why } = before;
    const row = { ...JSON.parse(text), ...(why === undefined ? {} : { why }) };
    const { success, error } = QaItem.safeParse({ id: 'task', ...row });
    const [issue] = error?.issues ?? [];
    return success ? { row } : { problem: `"${issue?.path.join('.')}" ${issue?.message}` };
  } catch (error) {
    return { problem: `expected JSON: ${(error as Error).message}` };
  }
}
