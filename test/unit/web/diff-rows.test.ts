import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MARKERS } from '../../../src/core/document/index.ts';
import { type DiffRow, diffRows } from '../../../src/web/parts/diff.tsx';

const flat = (rows: readonly DiffRow[]): Exclude<DiffRow, { kind: 'gap' }>[] =>
  rows.flatMap((row) => (row.kind === 'gap' ? flat(row.rows) : [row]));
const textOf = (rows: readonly DiffRow[], without: 'added' | 'removed') =>
  flat(rows)
    .filter(({ kind }) => kind !== without)
    .map(({ parts }) => parts.map(({ text }) => text).join(''));

it('numbers lines and marks the words that differ', () => {
  const rows = diffRows('# Skill\n\nAnswer in brief.\n', '# Skill\n\nAnswer in English.\nBe kind.\n');
  expect(flat(rows).map(({ kind, before, after }) => [kind, before, after])).toEqual([
    ['same', 1, 1],
    ['same', 2, 2],
    ['removed', 3, null],
    ['added', null, 3],
    ['added', null, 4],
  ]);
  const words = flat(rows).flatMap(({ parts }) => parts.filter(({ isChanged }) => isChanged).map(({ text }) => text));
  expect(words).toEqual(['brief', 'English']);
});

it('folds lines that are far from any change', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  const rows = diffRows(lines.join('\n'), [...lines.slice(0, 15), 'new', ...lines.slice(15)].join('\n'));
  expect(rows.map((row) => (row.kind === 'gap' ? row.rows.length : row.kind))).toEqual([
    ...[12, 'same', 'same', 'same', 'added', 'same', 'same', 'same', 12],
  ]);
});

it('holds both texts, whatever they are', () => {
  const text = fc.array(fc.constantFrom('', 'a', 'a b', 'b c', '<script>')).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const rows = diffRows(before, after);
      const lines = (one: string) => (one === '' ? [] : one.replace(/\n$/, '').split('\n'));
      expect(textOf(rows, 'added')).toEqual(lines(before));
      expect(textOf(rows, 'removed')).toEqual(lines(after));
    }),
  );
});

it('names what the edits of a step may not change, in either text', () => {
  const head = '---\nname: x\n---\n';
  const block = `${MARKERS.slowUpdate.start}\nKeep on.\n${MARKERS.slowUpdate.end}\n`;
  const rows = flat(
    diffRows(`${head}Be brief.\n${block}End.\n`, `${head}Be kind.\n${block.replace('on', 'off')}End.\n`),
  );
  expect(rows.map(({ kind, region = '' }) => `${kind} ${region}`.trim())).toEqual([
    ...['same frontmatter', 'same frontmatter', 'same frontmatter', 'removed', 'added'],
    ...['same slowUpdate', 'removed slowUpdate', 'added slowUpdate', 'same slowUpdate', 'same'],
  ]);
});
