import { type Cell, cellAt, cellsIn, isNoisy, isPassing, type Split } from './attempts.ts';
import { cellsOf } from './figures.ts';
import type { RunView } from './run-view.ts';

/** A task in all versions of a run. */
export type TaskRow = {
  readonly index: number;
  readonly id: string;
  readonly split: Split;
  readonly attempts: number;
  /** Mean of all its scores; `null` without any. */
  readonly score: number | null;
  /** How far the means of its versions lie apart. */
  readonly spread: number;
  /** From the first version to the best one. */
  readonly change: 'better' | 'worse' | 'same' | 'unknown';
  /** Both outcomes under one version. */
  readonly isNoisy: boolean;
  readonly isErrored: boolean;
  readonly isNeverPassed: boolean;
};

/** All attempts of one version, a text with four characters a task: see `packCell`. */
export type GridColumn = { readonly version: number; readonly cells: string };

/** The training tasks of a step by their outcome, as far as they have one; undefined when they were not attempted. */
export function stepOutcomes(view: RunView, step: number) {
  const part = `steps/step_${String(step).padStart(4, '0')}/rollout_results`;
  const lists = view.attempts.filter((list) => list.part === part);
  if (lists.length === 0) return undefined;
  const cells = cellsIn(lists, lists[0]!.version, view.tasks.length);
  const having = (isPassed: boolean) =>
    view.tasks.flatMap(({ id }, task) => (isPassing(cellAt(cells, task)) === isPassed ? [id] : []));
  return { passed: having(true), failed: having(false) };
}

type Sums = {
  attempts: number;
  scored: number;
  sum: number;
  low: number;
  high: number;
  passed: number;
  errored: number;
  isNoisy: boolean;
};

export function taskRows(view: RunView): TaskRow[] {
  const sums: Sums[] = view.tasks.map(() => ({
    ...{ attempts: 0, scored: 0, sum: 0, low: 1, high: 0, passed: 0, errored: 0, isNoisy: false },
  }));
  const first = cellsOf(view, 0);
  const best = cellsOf(view, view.best);
  for (const version of versionsMet(view)) {
    const cells = cellsOf(view, version);
    for (const [task, sum] of sums.entries()) addCell(sum, cellAt(cells, task));
  }
  return view.tasks.map(({ id, split }, index) => {
    const { attempts, scored, sum, low, high, passed, errored, isNoisy } = sums[index]!;
    const change = changeOf(cellAt(first, index), cellAt(best, index));
    const score = scored === 0 ? null : sum / scored;
    const spread = scored === 0 ? 0 : Math.max(0, high - low);
    const isNeverPassed = scored > 0 && passed === 0;
    return { index, id, split, attempts, score, spread, change, isNoisy, isErrored: errored > 0, isNeverPassed };
  });
}

function addCell(sums: Sums, cell: Cell | undefined): void {
  if (cell === undefined) return;
  sums.attempts += cell.attempts;
  sums.passed += cell.passed;
  sums.errored += cell.errored;
  sums.isNoisy ||= isNoisy(cell);
  if (cell.score === null) return;
  const scored = cell.attempts - cell.errored;
  sums.scored += scored;
  sums.sum += cell.score * scored;
  sums.low = Math.min(sums.low, cell.score);
  sums.high = Math.max(sums.high, cell.score);
}

function changeOf(before: Cell | undefined, after: Cell | undefined): TaskRow['change'] {
  const [was, is] = [isPassing(before), isPassing(after)];
  if (was === undefined || is === undefined) return 'unknown';
  return was === is ? 'same' : is ? 'better' : 'worse';
}

/** Versions with attempts at single tasks, in order. */
const versionsMet = ({ attempts }: RunView) =>
  [...new Set(attempts.map(({ version }) => version))].sort((a, b) => a - b);

/** The columns of some versions, for tasks in the order of the view. */
export function gridColumns(view: RunView, versions: readonly number[]): GridColumn[] {
  return versions.map((version) => {
    const cells = cellsOf(view, version);
    return { version, cells: view.tasks.map((_, task) => packCell(cellAt(cells, task))).join('') };
  });
}

const UNMET = '    ';
const DIGITS = 36;

/** Two characters for the score in hundredths (`~~` without one), then the attempts and those that passed, each in base 36. */
function packCell(cell: Cell | undefined): string {
  if (cell === undefined) return UNMET;
  const digit = (count: number) => Math.min(DIGITS - 1, count).toString(DIGITS);
  const score =
    cell.score === null
      ? '~~'
      : Math.round(cell.score * 100)
          .toString(DIGITS)
          .padStart(2, '0');
  return `${score}${digit(cell.attempts)}${digit(cell.passed)}`;
}

export type GridCell = Pick<Cell, 'attempts' | 'passed' | 'score'>;

/** The cell of a task in a column; `undefined` when the version has not met it. */
export function unpackCell({ cells }: GridColumn, task: number): GridCell | undefined {
  const text = cells.slice(4 * task, 4 * task + 4);
  if (text.length < 4 || text === UNMET) return undefined;
  const score = text.startsWith('~~') ? null : Number.parseInt(text.slice(0, 2), DIGITS) / 100;
  return { score, attempts: Number.parseInt(text[2]!, DIGITS), passed: Number.parseInt(text[3]!, DIGITS) };
}
