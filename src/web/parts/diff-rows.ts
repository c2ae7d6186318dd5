import { diffArrays, diffWordsWithSpace } from 'diff';
import { findRegions, type Region } from '../../core/document/index.ts';

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

type LineRow = Exclude<DiffRow, { kind: 'gap' }>;

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
