import { useContext, useEffect, useState } from 'react';
import type { AttemptRow, Problem, RunPage } from '../../core/page/index.ts';
import { count, percent } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { Loading, Trouble } from '../parts/frame.tsx';
import { List } from '../parts/list.tsx';
import { Mark, type MarkKind } from '../parts/mark.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { versionName } from '../parts/words.ts';
import { type AttemptQuery, problemOf } from '../source.ts';
import { changeAddress, RecoveriesContext, useAddress, useSource } from '../state.ts';

/** Attempts of a task, of a version, or with some words in them. */
export function AttemptsScreen({ page }: { readonly page: RunPage }) {
  const { name } = page;
  const { leftOut } = useSource();
  const { task = '', version = '', q = '' } = useAddress().query;
  const choose = (change: Record<string, string>) =>
    changeAddress(runAddress(name, ['attempts'], { task, version, q, ...change }));
  const wanted = JSON.stringify({ ...(task && { task }), ...(version && { version }), ...(q && { q }) });
  const { rows, searched, total, isOver, problem } = useSearch(name, wanted);
  const searching = isOver ? '' : `, searched ${count(searched)} of ${count(total)}`;
  return (
    <div className="fill">
      <div className="bar">
        <SearchField label="Search questions, answers, reasons" value={q} onSearch={(text) => choose({ q: text })} />
        <p className="next">
          <Chips page={page} query={{ task, version }} choose={choose} />
          <span className="note" role="status">
            {count(rows.length)} found{searching}
          </span>
        </p>
      </div>
      {problem ? <Trouble {...problem} /> : null}
      {leftOut.map((words) => (
        <p key={words} className="note">
          {words}
        </p>
      ))}
      {rows.length === 0 && !problem ? <NoRows isOver={isOver} /> : null}
      <List
        label="Attempts"
        count={rows.length}
        rowHeight={32}
        row={(index) => <Attempt page={page} row={rows[index]!} />}
      />
    </div>
  );
}

const NoRows = ({ isOver }: { readonly isOver: boolean }) =>
  isOver ? <p className="note">No attempt fits, or its results were not kept.</p> : <Loading what="attempts" />;

type ChipsProps = {
  readonly page: RunPage;
  readonly query: { readonly task: string; readonly version: string };
  readonly choose: (change: Record<string, string>) => void;
};

/** What the list is limited to, each with a way to lift the limit. */
function Chips({ page: { figures }, query: { task, version }, choose }: ChipsProps) {
  const shown = version === '' ? undefined : figures.versions[Number(version)];
  return (
    <>
      {task ? <Chip word={`task ${task}`} onClear={() => choose({ task: '' })} /> : null}
      {shown ? <Chip word={versionName(shown)} onClear={() => choose({ version: '' })} /> : null}
    </>
  );
}

const Chip = ({ word, onClear }: { readonly word: string; readonly onClear: () => void }) => (
  <button type="button" onClick={onClear} aria-label={`Show all, not only ${word}`}>
    {word} ×
  </button>
);

export const outcomeOf = ({ hard, soft, errored }: Pick<AttemptRow, 'hard' | 'soft' | 'errored'>): MarkKind =>
  errored ? 'errored' : hard >= 1 ? 'passed' : soft >= 1 ? 'inexact' : soft > 0 ? 'partly' : 'failed';

function Attempt({ page: { name, figures }, row }: { readonly page: RunPage; readonly row: AttemptRow }) {
  const version = row.version === null ? undefined : figures.versions[row.version];
  return (
    <a className="row attempt" href={runAddress(name, ['attempts', row.file, row.place])} data-row>
      <span className="what">{row.task}</span>
      <Mark kind={outcomeOf(row)} />
      <span className={`number ${row.errored ? 'missing' : ''}`}>{row.errored ? 'none' : percent(row.soft)}</span>
      <span className="why">{row.part}</span>
      <span className="why">{version ? `with ${versionName(version)}` : ''}</span>
    </a>
  );
}

type Found = {
  readonly rows: readonly AttemptRow[];
  readonly searched: number;
  readonly total: number;
  readonly isOver: boolean;
  readonly problem?: Problem;
};
const nothing: Found = { rows: [], searched: 0, total: 0, isOver: false };
const ENOUGH = 1000;

/** Asks until the search is over or enough is found, and shows what came so far. */
function useSearch(run: string, wanted: string): Found {
  const source = useSource();
  const recoveries = useContext(RecoveriesContext);
  const [found, setFound] = useState(nothing);
  // biome-ignore lint/correctness/useExhaustiveDependencies: after a problem it searches again
  useEffect(() => {
    let isGone = false;
    const search = async () => {
      let [rows, cursor]: [readonly AttemptRow[], string | null] = [[], ''];
      while (cursor !== null && rows.length < ENOUGH) {
        const query: AttemptQuery = { ...JSON.parse(wanted), ...(cursor && { cursor }) };
        const answer = await source.attempts(run, query);
        if (isGone) return;
        rows = [...rows, ...answer.rows];
        cursor = answer.next;
        setFound({
          rows,
          searched: answer.searched,
          total: answer.total,
          isOver: cursor === null || rows.length >= ENOUGH,
        });
      }
    };
    setFound(nothing);
    search().catch((error) => isGone || setFound({ ...nothing, isOver: true, problem: problemOf(error) }));
    return () => {
      isGone = true;
    };
  }, [source, run, wanted, recoveries]);
  return found;
}
