import { useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { type GridColumn, type RunPage, type TaskRow, unpackCell } from '../../core/page/index.ts';
import { count, percent, plural } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { Answer } from '../parts/frame.tsx';
import { Grid } from '../parts/grid.tsx';
import { BLOCK, blocksOf, type Place, type Window } from '../parts/grid-geometry.ts';
import { Mark, type MarkKind } from '../parts/mark.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { versionName } from '../parts/words.ts';
import { changeAddress, goTo, RecoveriesContext, useAddress, useAsked, useSlowly, useSource } from '../state.ts';

/** Every task in every version: what flipped, what is noise, what never passed. */
export function TasksScreen({ page }: { readonly page: RunPage }) {
  const source = useSource();
  const lines = useSlowly(page.lines, 1500);
  const asked = useAsked(`tasks ${page.name} ${lines}`, () => source.tasks(page.name));
  return (
    <div className="fill">
      <Answer of={asked} what={`${plural(page.figures.taskCount, 'task')}`}>
        {({ rows }) => <TaskGrid page={page} rows={rows} lines={lines} />}
      </Answer>
    </div>
  );
}

type TaskGridProps = { readonly page: RunPage; readonly rows: readonly TaskRow[]; readonly lines: number };

function TaskGrid({ page: { name, figures }, rows, lines }: TaskGridProps) {
  const { filter = '', sort = '', q = '', split = '' } = useAddress().query;
  const { versions } = figures;
  const shown = useMemo(() => filterTasks(rows, { filter, sort, q, split }), [rows, filter, sort, q, split]);
  const tasks = useMemo(() => shown.map(({ index }) => index), [shown]);
  const [at, setAt] = useState<Place | null>(null);
  const { columns, onSeen } = useColumns(name, versions.length, lines);
  const choose = (change: Partial<TaskChoice>) =>
    changeAddress(runAddress(name, ['tasks'], { filter, sort, q, split, ...change }));
  const open = ({ row, column }: Place) =>
    goTo(runAddress(name, ['attempts'], { task: shown[row]?.id, version: column }));
  return (
    <>
      <TaskBar rows={rows} shown={shown.length} choice={{ filter, sort, q, split }} choose={choose} />
      <p className="readout" aria-live="polite">
        {at && shown[at.row] ? cellWords(shown[at.row]!, versions[at.column], columns.get(at.column)) : LEGEND}
      </p>
      {shown.length === 0 ? <p className="note">No such task.</p> : null}
      <Grid
        {...{ tasks, versions, columns, at, onSeen }}
        onMove={setAt}
        onOpen={open}
        name={(row) => <TaskName run={name} task={shown[row]!} />}
      />
    </>
  );
}

const LEGEND =
  'full: passed · crossed: failed · part full: both outcomes, may be luck · framed: flipped · hatched: not attempted';

function cellWords(
  task: TaskRow,
  version: Parameters<typeof versionName>[0] | undefined,
  column: GridColumn | undefined,
): string {
  if (!version) return task.id;
  const cell = column && unpackCell(column, task.index);
  const what = !column
    ? 'loading'
    : !cell
      ? 'not attempted'
      : cell.score === null
        ? 'no result'
        : `${cell.passed} of ${plural(cell.attempts, 'attempt')} passed, ${percent(cell.score)}`;
  return `${task.id} with ${versionName(version)}: ${what}`;
}

function TaskName({ run, task }: { readonly run: string; readonly task: TaskRow }) {
  const mark = markOf(task);
  return (
    <a className="row task" href={runAddress(run, ['attempts'], { task: task.id })} data-row>
      <span className="what" title={task.id}>
        {task.id}
      </span>
      {mark ? <Mark {...mark} /> : <span />}
      <span className={`number ${task.score === null ? 'missing' : ''}`}>
        {task.score === null ? 'none' : percent(task.score)}
      </span>
    </a>
  );
}

type TaskMark = { readonly kind: MarkKind; readonly word?: string };

function markOf({ change, isNoisy, isErrored, isNeverPassed }: TaskRow): TaskMark | null {
  if (change === 'worse' || change === 'better')
    return isNoisy ? { kind: 'luck', word: `${change} or luck` } : { kind: change };
  if (isErrored) return { kind: 'errored' };
  if (isNeverPassed) return { kind: 'failed', word: 'never passed' };
  return isNoisy ? { kind: 'luck', word: 'noisy' } : null;
}

type BarProps = {
  readonly rows: readonly TaskRow[];
  readonly shown: number;
  readonly choice: TaskChoice;
  readonly choose: (change: Partial<TaskChoice>) => void;
};

type Options = readonly (readonly [value: string, word: string])[];

type SelectProps = {
  readonly label: string;
  readonly value: string;
  readonly options: Options;
  readonly onChoose: (value: string) => void;
};

const Select = ({ label, value, options, onChoose }: SelectProps) => (
  <select aria-label={label} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
    {options.map(([one, word]) => (
      <option key={one} value={one}>
        {word}
      </option>
    ))}
  </select>
);

function TaskBar({ rows, shown, choice, choose }: BarProps) {
  const splits: Options = [
    ['', 'all splits'],
    ...[...new Set(rows.map(({ split }) => split))].map((one) => [one, one] as const),
  ];
  return (
    <div className="bar">
      <fieldset className="choice">
        <legend>Tasks</legend>
        {Object.entries(TASK_FILTERS).map(([filter, { word, isShown }]) => (
          <button key={filter} type="button" aria-pressed={choice.filter === filter} onClick={() => choose({ filter })}>
            {word} {count(rows.filter(isShown).length)}
          </button>
        ))}
      </fieldset>
      <div className="bar">
        <Select label="Split" value={choice.split} onChoose={(split) => choose({ split })} options={splits} />
        <Select label="Order" value={choice.sort} onChoose={(sort) => choose({ sort })} options={SORTS} />
        <SearchField label="Find a task" value={choice.q} onSearch={(q) => choose({ q })} />
        <span className="note number">
          {count(shown)} of {count(rows.length)}
        </span>
      </div>
    </div>
  );
}

type TaskChoice = { readonly filter: string; readonly sort: string; readonly q: string; readonly split: string };

type Filter = { readonly word: string; readonly isShown: (task: TaskRow) => boolean };

const TASK_FILTERS: Readonly<Record<string, Filter>> = {
  '': { word: 'all', isShown: () => true },
  worse: { word: 'worse', isShown: ({ change }) => change === 'worse' },
  better: { word: 'better', isShown: ({ change }) => change === 'better' },
  noisy: { word: 'noisy', isShown: ({ isNoisy }) => isNoisy },
  never: { word: 'never passed', isShown: ({ isNeverPassed }) => isNeverPassed },
  errored: { word: 'no result', isShown: ({ isErrored }) => isErrored },
};

type Sort = { readonly word: string; readonly compare: (a: TaskRow, b: TaskRow) => number };

const TASK_SORTS: Readonly<Record<string, Sort>> = {
  '': { word: 'in their order', compare: (a, b) => a.index - b.index },
  spread: { word: 'by spread', compare: (a, b) => b.spread - a.spread || a.index - b.index },
  score: { word: 'lowest score first', compare: (a, b) => (a.score ?? 2) - (b.score ?? 2) || a.index - b.index },
  name: { word: 'by name', compare: (a, b) => a.id.localeCompare(b.id) },
};

const SORTS: Options = Object.entries(TASK_SORTS).map(([sort, { word }]) => [sort, word]);

/** The tasks that a reader asks for. An unknown filter or order, as from an old link, shows all in their order. */
export function filterTasks(rows: readonly TaskRow[], { filter, sort, q, split }: TaskChoice): TaskRow[] {
  const { isShown } = TASK_FILTERS[filter] ?? TASK_FILTERS['']!;
  const { compare } = TASK_SORTS[sort] ?? TASK_SORTS['']!;
  const text = q.toLowerCase();
  return rows
    .filter((row) => isShown(row) && (split === '' || row.split === split) && row.id.toLowerCase().includes(text))
    .sort(compare);
}

/** The columns in sight, fetched in blocks. After news of the run they are fetched again; until then the old ones are shown. */
function useColumns(run: string, versions: number, lines: number) {
  const source = useSource();
  const [columns, setColumns] = useState<ReadonlyMap<number, GridColumn>>(new Map());
  const fetched = useRef(new Map<number, string>());
  const seen = useRef<Window>({ from: 0, to: 0 });
  const recoveries = useContext(RecoveriesContext);
  const fetchSeen = useCallback(() => {
    for (const block of blocksOf(seen.current)) {
      const from = block * BLOCK;
      const wanted = Array.from({ length: Math.max(0, Math.min(BLOCK, versions - from)) }, (_, index) => from + index);
      const stamp = `${lines} ${wanted.length}`;
      if (wanted.length === 0 || fetched.current.get(block) === stamp) continue;
      fetched.current.set(block, stamp);
      source.columns(run, wanted).then(
        (found) => setColumns((known) => new Map([...known, ...found.map((one) => [one.version, one] as const)])),
        () => fetched.current.delete(block),
      );
    }
  }, [source, run, versions, lines]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: after a problem, those that failed
  useEffect(fetchSeen, [fetchSeen, recoveries]);
  const onSeen = useCallback(
    (next: Window) => {
      seen.current = next;
      fetchSeen();
    },
    [fetchSeen],
  );
  return { columns, onSeen };
}
