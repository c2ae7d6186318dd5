import { useCallback, useMemo, useRef, useState } from 'react';
import type { Region } from '../../core/document/index.ts';
import { count, plural } from '../../core/text/index.ts';
import { type DiffRow, diffRows } from './diff-rows.ts';

/** What steps may not edit, and who may. */
const REGIONS: Readonly<Record<Region['kind'], string>> = {
  frontmatter: 'head of the file',
  slowUpdate: 'guidance, written once an epoch',
  appendix: 'appendix',
  learned: 'learned in nights',
};

const SIGNS = { same: ['', ''], added: ['+', 'added'], removed: ['−', 'removed'] } as const;

/** More rows are shown on demand: a page stays small. */
const SHOWN = 80;

type DiffProps = {
  readonly before: string;
  readonly after: string;
  /** Called once its end was on the screen. */
  readonly onSeen?: () => void;
};

/** Two texts, line by line, with the words that differ. */
export function Diff({ before, after, onSeen }: DiffProps) {
  const rows = useMemo(() => diffRows(before, after), [before, after]);
  const [most, setMost] = useState(SHOWN);
  const end = useSight(onSeen);
  if (before === after) return <p className="note">The texts are the same.</p>;
  return (
    <>
      <ol className="diff">
        <Rows rows={rows.slice(0, most)} />
      </ol>
      {rows.some(isProtected) ? (
        <p className="note">A bar and the word «protected» mark what the edits of a step may not change.</p>
      ) : null}
      {rows.length > most ? (
        <button type="button" onClick={() => setMost(most + 5 * SHOWN)}>
          Show {plural(Math.min(5 * SHOWN, rows.length - most), 'more line')}
        </button>
      ) : (
        <span ref={end} />
      )}
    </>
  );
}

/** For an element: calls back when it is in sight. */
function useSight(onSeen: (() => void) | undefined) {
  const seen = useRef(onSeen);
  seen.current = onSeen;
  const watch = useRef<IntersectionObserver | null>(null);
  return useCallback((element: HTMLElement | null) => {
    watch.current?.disconnect();
    if (!element) return;
    watch.current = new IntersectionObserver(([entry]) => entry?.isIntersecting && seen.current?.());
    watch.current.observe(element);
  }, []);
}

const keyOf = (row: DiffRow, index: number) => (row.kind === 'gap' ? `gap ${index}` : `${row.before} ${row.after}`);

type LineRow = Exclude<DiffRow, { kind: 'gap' }>;
const regionOf = (row: DiffRow | undefined) => (row === undefined || row.kind === 'gap' ? undefined : row.region);
const isProtected = (row: DiffRow): boolean =>
  row.kind === 'gap' ? row.rows.some(isProtected) : row.region !== undefined;

/** The first line of a protected region names it. */
const Rows = ({ rows }: { readonly rows: readonly DiffRow[] }) =>
  rows.map((row, index) =>
    row.kind === 'gap' ? (
      <Gap key={keyOf(row, index)} rows={row.rows} />
    ) : (
      <Line key={keyOf(row, index)} row={row} isFirst={row.region !== regionOf(rows[index - 1])} />
    ),
  );

function Gap({ rows }: { readonly rows: readonly DiffRow[] }) {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return <Rows rows={rows} />;
  const kept = rows.filter(isProtected).length;
  return (
    <li className={kept > 0 ? 'gap protected' : 'gap'}>
      <button type="button" onClick={() => setOpen(true)}>
        {plural(rows.length, 'line')} unchanged{kept > 0 ? `, ${count(kept)} of them protected` : ''}
      </button>
    </li>
  );
}

function Line({ row, isFirst }: { readonly row: LineRow; readonly isFirst: boolean }) {
  const { kind, before, after, parts, region } = row;
  const [sign, word] = SIGNS[kind];
  return (
    <li className={region === undefined ? kind : `${kind} protected`}>
      <span className="at">{before}</span>
      <span className="at">{after}</span>
      <span className="sign">
        {sign}
        {word ? <span className="for-readers">{word}</span> : null}
      </span>
      <span className="text">
        {parts.map(({ text, isChanged }, index) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: parts keep their places
          isChanged ? <mark key={index}>{text}</mark> : text,
        )}
        {region !== undefined && isFirst ? <span className="region">protected: {REGIONS[region]}</span> : null}
      </span>
    </li>
  );
}
