import { SkillError } from '../../core/contracts/index.ts';
import { QaItem } from '../../envs/index.ts';
import { appendRows, droppedPath, lineOf, readTaskLines, type TaskLine, writeTaskLines } from '../task-file.ts';
import { isUnreviewed, type TaskRow } from '../task-row.ts';

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
