import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import type { TaskJudgeInput } from '../core/judge/index.ts';
import { askedKey, isObject, jaccard, splitWords, type Words, wordsOf } from '../core/text/index.ts';
import { draftMarksOf, QaItem } from '../envs/index.ts';
import { readText } from '../imports/index.ts';

/** A line of a task file. Empty lines have no row. */
export type TaskLine = { readonly text: string; readonly row: TaskRow | undefined };

export const isLineFile = (path: string): boolean => ['.jsonl', '.ndjson'].includes(extname(path).toLowerCase());

/** The lines of a file with a task per line. None if there is no file. Throws for other formats. */
export async function readTaskLines(path: string, shown = path): Promise<TaskLine[]> {
  if (!isLineFile(path)) throw notLines(shown, `ends in "${extname(path)}"`);
  const lines = (existsSync(path) ? await readText(path) : '').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, index) => ({ text: line, row: parseLine(line, `${shown}:${index + 1}`, shown) }));
}

function parseLine(line: string, where: string, shown: string): TaskRow | undefined {
  if (line.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return value;
  } catch {} // the same error
  throw notLines(shown, `has something else at ${where}`);
}

function notLines(shown: string, problem: string): SkillError {
  const hint = 'Name a .jsonl file, or convert this one: one JSON object on each line.';
  return new SkillError('TASKS_INVALID', `expected a file with a JSON object per line; ${shown} ${problem}`, { hint });
}

export const lineOf = (row: TaskRow): TaskLine => ({ text: JSON.stringify(row), row });

/** Readers find the old lines or the new ones, even after a crash. The file's mode stays. */
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

/** Reads the file again before it adds rows: a person may have reviewed it in the meantime. */
export async function appendRows(path: string, rows: readonly TaskRow[]): Promise<void> {
  await writeTaskLines(path, [...(await readTaskLines(path)), ...rows.map(lineOf)]);
}

/** The file of dropped tasks. They can be taken back, and are not drafted again. */
export const droppedPath = (path: string): string => path.replace(/(\.\w+)$/, '.dropped$1');

export type DraftRow = {
  readonly question: string;
  readonly answers?: readonly string[];
  readonly judge?: TaskJudgeInput;
  readonly taskType: string;
  readonly split?: string;
  readonly why: string;
  readonly drafted: true;
  readonly reviewed: false;
  /** Independent solutions neither agree with its reference nor with each other. */
  readonly doubtful?: true;
};

export type TaskRow = Readonly<Record<string, unknown>>;

/** The kind of tasks that the skill should not change. */
export const CONTROL = 'control';

export const questionOf = ({ question }: TaskRow): string => (typeof question === 'string' ? question : '');

export type AskedWords = {
  /** Equal for questions that differ only in case and punctuation. */
  readonly key: string;
  readonly words: Words;
  /** Words with a digit: they tell tasks of one pattern apart. */
  readonly facts: Words;
};

export function readAsked(question: string): AskedWords {
  const facts = splitWords(question).filter((word) => /\p{N}/u.test(word));
  return { key: askedKey(question), words: wordsOf(question), facts: new Set(facts) };
}

/** The share of common words that makes two questions the same: without figures, and with the same figures. */
const SAME_WORDS = 0.7;
const SAME_FACTS = 0.5;
/** Or one question contains nearly all of the other. */
const CONTAINED = 0.8;

/** Whether two questions are the same task, also in other words. Tasks of one pattern differ mostly in figures. */
export function isSameTask(a: AskedWords, b: AskedWords): boolean {
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

export type Decision = 'keep' | 'drop' | { readonly edited: TaskRow };

/** Drafted lines that nobody reviewed. Those with a doubtful reference come first. */
export function unreviewedLines(lines: readonly TaskLine[]): TaskLine[] {
  const open = lines.filter(({ row }) => row !== undefined && draftMarksOf(row)?.isReviewed === false);
  const isDoubtful = ({ row }: TaskLine) => row?.doubtful === true;
  return [...open.filter(isDoubtful), ...open.filter((line) => !isDoubtful(line))];
}

/** The lines after a decision about one of them. All others stay byte for byte. */
export const decideLine = (lines: readonly TaskLine[], about: string, decision: Decision): TaskLine[] =>
  lines.flatMap((line) => {
    if (line.text !== about || line.row === undefined) return [line];
    if (decision === 'drop') return [];
    const { doubtful: _, ...row } = decision === 'keep' ? line.row : decision.edited;
    return [lineOf({ ...row, drafted: true, reviewed: true })];
  });

/** Saves one decision. The file is read again, since a draft may have added lines. A dropped task is kept beside it. */
export async function saveDecision(path: string, line: TaskLine, decision: Decision): Promise<void> {
  const lines = await readTaskLines(path);
  if (!lines.some(({ text }) => text === line.text)) {
    const problem = `this task is no longer in ${path}: it was changed or deleted meanwhile`;
    const hint = 'Nothing was written; what you decided before is kept. Start the review again.';
    throw new SkillError('TASKS_INVALID', problem, { hint });
  }
  if (decision === 'drop') await appendRows(droppedPath(path), [line.row!]);
  await writeTaskLines(path, decideLine(lines, line.text, decision));
}

export const editable = ({ drafted: _d, reviewed: _r, doubtful: _u, why: _w, ...row }: TaskRow): string =>
  JSON.stringify(row, null, 2);

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
