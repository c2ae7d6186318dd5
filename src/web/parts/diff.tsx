import { useMemo, useState } from 'react';
import { plural } from '../../core/text/index.ts';
import { type DiffRow, diffRows } from './diff-rows.ts';

const SIGNS = { same: ['', ''], added: ['+', 'added'], removed: ['−', 'removed'] } as const;

/** More rows are shown on demand: a page stays small. */
const SHOWN = 80;

/** Two texts, line by line, with the words that differ. */
export function Diff({ before, after }: { readonly before: string; readonly after: string }) {
  const rows = useMemo(() => diffRows(before, after), [before, after]);
  const [most, setMost] = useState(SHOWN);
  if (before === after) return <p className="note">The texts are the same.</p>;
  return (
    <>
      <ol className="diff">
        {rows.slice(0, most).map((row, index) => (
          <Row key={keyOf(row, index)} row={row} />
        ))}
      </ol>
      {rows.length > most ? (
        <button type="button" onClick={() => setMost(most + 5 * SHOWN)}>
          Show {plural(Math.min(5 * SHOWN, rows.length - most), 'more line')}
        </button>
      ) : null}
    </>
  );
}

const keyOf = (row: DiffRow, index: number) => (row.kind === 'gap' ? `gap ${index}` : `${row.before} ${row.after}`);

function Row({ row }: { readonly row: DiffRow }) {
  const [isOpen, setOpen] = useState(false);
  if (row.kind !== 'gap') return <Line row={row} />;
  if (isOpen) return row.rows.map((one, index) => <Row key={keyOf(one, index)} row={one} />);
  return (
    <li className="gap">
      <button type="button" onClick={() => setOpen(true)}>
        {plural(row.rows.length, 'line')} unchanged
      </button>
    </li>
  );
}

function Line({ row: { kind, before, after, parts } }: { readonly row: Exclude<DiffRow, { kind: 'gap' }> }) {
  const [sign, word] = SIGNS[kind];
  return (
    <li className={kind}>
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
      </span>
    </li>
  );
}
