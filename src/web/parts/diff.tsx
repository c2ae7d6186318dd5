import { diffArrays, diffWordsWithSpace } from 'diff';
import { useCallback, useMemo, useRef, useState } from 'react';
import { findRegions, type Region } from '../../core/document/index.ts';
import { count, plural } from '../../core/text/index.ts';

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

type DiffPart = { readonly text: string; readonly isChanged: boolean };

/** A line of a comparison, with its number in either text, or lines in a row that are the same. */
export type DiffRow =
  | {
      readonly kind: 'same' | 'added' | 'removed';
      readonly before: number | null;
      readonly after: number | null;
      readonly parts: readonly DiffPart[];
      /** What it belongs to, where steps may not edit it. */
      readonly region?: Region['kind'] | undefined;
    }
  | { readonly kind: 'gap'; readonly rows: readonly DiffRow[] };

/** This many same lines are shown around a change. */
const CONTEXT = 3;

export function diffRows(before: string, after: string): DiffRow[] {
  const [old, young] = [protectedLines(before), protectedLines(after)];
  const rows = lineRows(linesOf(before), linesOf(after)).map((row) => {
    const region = row.after === null ? old.get(row.before!) : young.get(row.after);
    return region === undefined ? row : { ...row, region };
  });
  return withGaps(rows);
}

/** The lines, by number, that belong to a region that steps may not edit. */
function protectedLines(text: string): ReadonlyMap<number, Region['kind']> {
  const lineAt = (place: number) => text.slice(0, place).split('\n').length;
  const lines = findRegions(text).flatMap(({ kind, start, end }) => {
    const first = lineAt(start);
    return Array.from({ length: lineAt(end) - first + 1 }, (_, index) => [first + index, kind] as const);
  });
  return new Map(lines);
}

const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

function lineRows(before: readonly string[], after: readonly string[]): LineRow[] {
  const rows: LineRow[] = [];
  let [a, b] = [0, 0];
  const changes = diffArrays([...before], [...after]);
  for (const [index, { value, added, removed }] of changes.entries()) {
    const other = changes[removed ? index + 1 : index - 1];
    const partner = (removed && other?.added) || (added && other?.removed) ? other.value : [];
    for (const [place, line] of value.entries()) {
      a += added ? 0 : 1;
      b += removed ? 0 : 1;
      if (added) rows.push({ kind: 'added', before: null, after: b, parts: partsOf(line, partner[place], 'added') });
      else if (removed)
        rows.push({ kind: 'removed', before: a, after: null, parts: partsOf(line, partner[place], 'removed') });
      else rows.push({ kind: 'same', before: a, after: b, parts: [{ text: line, isChanged: false }] });
    }
  }
  return rows;
}

/** The words that differ from the line in the same place; none when the lines have little in common. */
function partsOf(line: string, partner: string | undefined, kind: 'added' | 'removed'): DiffPart[] {
  const whole = [{ text: line, isChanged: false }];
  if (partner === undefined) return whole;
  const [before, after] = kind === 'added' ? [partner, line] : [line, partner];
  const parts = diffWordsWithSpace(before, after)
    .filter(({ added, removed }) => (kind === 'added' ? !removed : !added))
    .map(({ value, added, removed }) => ({ text: value, isChanged: Boolean(added || removed) }));
  const kept = parts.filter(({ isChanged }) => !isChanged).reduce((sum, { text }) => sum + text.trim().length, 0);
  return 3 * kept < line.trim().length ? whole : parts;
}

function withGaps(rows: readonly LineRow[]): DiffRow[] {
  const isNear = rows.map(() => false);
  for (const [index, { kind }] of rows.entries())
    if (kind !== 'same') isNear.fill(true, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  const shown: DiffRow[] = [];
  for (let index = 0; index < rows.length; ) {
    const end = isNear.indexOf(true, index);
    const gap = isNear[index] ? [] : rows.slice(index, end === -1 ? rows.length : end);
    if (gap.length > 1) shown.push({ kind: 'gap', rows: gap });
    else shown.push(rows[index]!);
    index += Math.max(1, gap.length);
  }
  return shown;
}
