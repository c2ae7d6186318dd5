import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyEdit,
  applyPatch,
  applyPatchWithReport,
  findRegions,
  MARKERS,
  readBlock,
  writeBlock,
} from '../../src/core/document/index.ts';

const markers = Object.values(MARKERS).flatMap(({ start, end }) => [start, end]);
/** Pieces that make markers, halves of markers and frontmatter likely. */
const piece = fc.oneof(
  fc.constantFrom(...markers, '---\n', '\n', '\r\n', ' ', 'a', 'b', '- rule\n', '<!-- SLOW_', 'UPDATE_START -->'),
  fc.constantFrom('<!--', '-->', '<!', '--', '\u200b', '\u202e', '\u001b', '👩', '\u200d', '\ufe0f'),
  fc.string({ maxLength: 4 }),
);
const soup = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''));
const op = fc.constantFrom('append', 'insert_after', 'replace', 'delete');

/** A document and edits whose targets are often really in it. */
const document = soup.chain((skill) => {
  const slice = fc
    .tuple(fc.nat(skill.length), fc.nat(skill.length))
    .map(([a, b]) => skill.slice(Math.min(a, b), Math.max(a, b)));
  const edit = fc.record({ op, target: fc.oneof(slice, soup), content: soup });
  return fc.record({ skill: fc.constant(skill), edits: fc.array(edit, { maxLength: 4 }) });
});

const slices = (skill: string) => findRegions(skill).map(({ start, end }) => skill.slice(start, end));
const plain = fc.string({ maxLength: 30 }).filter((text) => !text.includes('<!--') && !text.startsWith('---'));

describe('edits', () => {
  it('are total: whatever is no list of edits changes nothing', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
    });
    const patch = fc.oneof(anything, fc.record({ edits: fc.oneof(anything, fc.array(anything)) }));
    fc.assert(
      fc.property(soup, patch, (skill, junk) => {
        const { skill: text, report } = applyPatchWithReport(skill, junk);
        expect([text, applyPatch(skill, junk), applyEdit(skill, junk)]).toEqual([skill, skill, skill]);
        for (const row of report) expect(row.status).toMatch(/^(skipped_|error$)/);
      }),
    );
  });

  it('are total: anything at all gives a text and a row per edit', () => {
    const loose = fc.record(
      { op: fc.oneof(op, fc.jsonValue()), target: fc.jsonValue(), content: fc.jsonValue() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(soup, fc.array(fc.oneof(loose, fc.jsonValue())), (skill, edits) => {
        const { skill: text, report } = applyPatchWithReport(skill, { edits });
        expect(typeof text).toBe('string');
        expect(report.map((row) => row.index)).toEqual(edits.map((_, index) => index + 1));
        for (const row of report) expect(row.status).toMatch(/^(applied_|skipped_|error$)/);
      }),
    );
  });

  it('leave protected text as it is, in any soup of markers', () => {
    fc.assert(
      fc.property(document, ({ skill, edits }) => {
        expect(slices(applyPatch(skill, { edits }))).toEqual(slices(skill));
      }),
      { numRuns: 700 },
    );
  });

  it('leave blocks where a reader would see them, byte for byte and in order', () => {
    const block = fc
      .tuple(fc.constantFrom(...Object.values(MARKERS)), plain)
      .map(([{ start, end }, text]) => `${start}${text}${end}`);
    const blocks = fc.uniqueArray(block, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(
        blocks,
        fc.array(plain, { minLength: 4, maxLength: 4 }),
        fc.array(fc.record({ op, target: plain, content: plain })),
        (kept, bodies, edits) => {
          const skill = bodies.map((body, index) => body + (kept[index] ?? '')).join('');
          let text = applyPatch(skill, { edits });
          for (const one of kept) {
            expect(text).toContain(one);
            text = text.slice(text.indexOf(one) + one.length);
          }
        },
      ),
    );
  });

  it('that find no anchor leave the text alone', () => {
    fc.assert(
      fc.property(soup, soup, soup, fc.constantFrom('replace', 'delete'), (skill, target, content, name) => {
        fc.pre(!skill.includes(target) || target === '');
        expect(applyEdit(skill, { op: name, target, content })).toBe(skill);
      }),
    );
  });

  it('that insert are undone by deleting what they inserted', () => {
    const body = fc
      .array(fc.constantFrom('a', 'b', '\n', '# ', '- rule'), { minLength: 1 })
      .map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(body, fc.nat(), fc.nat(), (skill, from, length) => {
        const start = from % skill.length;
        const target = skill.slice(start, start + 1 + (length % 5));
        const inserted = applyEdit(skill, { op: 'insert_after', target, content: 'NEW' });
        expect(inserted).toContain('\nNEW\n');
        expect(applyEdit(inserted, { op: 'delete', target: '\nNEW\n' })).toBe(skill);
      }),
    );
  });

  it('never bring a comment, or a character that nobody sees', () => {
    const count = (text: string, what: string) => text.split(what).length;
    fc.assert(
      fc.property(document, ({ skill, edits }) => {
        const text = applyPatch(skill, { edits });
        for (const hidden of ['<!--', '\u200b', '\u202e', '\u001b']) {
          expect(count(text, hidden)).toBeLessThanOrEqual(count(skill, hidden));
        }
      }),
      { numRuns: 700 },
    );
  });

  it('may write every letter and every sign that has a shape, and none of those that have not', () => {
    const isWritten = (text: string) => applyEdit('# S\n', { op: 'append', content: `a${text}b` }) !== '# S\n';
    const ranges = (...pairs: readonly (readonly [number, number])[]) =>
      pairs.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
    const shapeless = ranges(
      ...([
        [0, 8],
        [0xb, 0xc],
        [0xe, 0x1f],
        [0x7f, 0x9f],
        [0xad, 0xad],
        [0x61c, 0x61c],
        [0x180e, 0x180e],
      ] as const),
      ...([
        [0x200b, 0x200f],
        [0x202a, 0x202e],
        [0x2060, 0x206f],
        [0xfe00, 0xfe0f],
        [0xfeff, 0xfeff],
      ] as const),
      ...([
        [0xd800, 0xdfff],
        [0xfff9, 0xfffb],
        [0xe0000, 0xe0fff],
      ] as const),
    );
    expect(shapeless.filter((code) => isWritten(String.fromCodePoint(code)))).toEqual([]);
    const blank = /\u115f|\u1160|\u3164|\uffa0|\u17b4|\u17b5|\u034f|\p{Variation_Selector}/u;
    const shaped = ranges([0x20, 0x7e], [0xa0, 0xd7ff], [0xe000, 0xffff], [0x10000, 0x323af])
      .map((code) => String.fromCodePoint(code))
      .filter((text) => /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(text) && !blank.test(text));
    for (let from = 0; from < shaped.length; from += 1_000) {
      const some = shaped.slice(from, from + 1_000);
      if (!isWritten(some.join('ba'))) expect(some.filter((text) => !isWritten(text))).toEqual([]);
    }
  });

  it('give the same one by one as all at once', () => {
    fc.assert(
      fc.property(document, ({ skill, edits }) => {
        expect(applyPatch(skill, { edits })).toBe(edits.reduce(applyEdit, skill));
      }),
    );
  });
});

describe('a block', () => {
  const kind = fc.constantFrom(...(Object.keys(MARKERS) as (keyof typeof MARKERS)[]));

  /** What stands outside the blocks of a kind: a block is closed, and no other begins in it. */
  const outside = (text: string, name: keyof typeof MARKERS) => {
    const { start, end } = MARKERS[name];
    return text.split(new RegExp(`${start}(?:(?!${start})[^])*?${end}`));
  };

  it('is written without the loss of a byte outside it, in any soup of markers', () => {
    fc.assert(
      fc.property(soup, kind, fc.oneof(plain, soup), (skill, name, content) => {
        const [first, ...rest] = outside(skill, name);
        const text = writeBlock(skill, name, content);
        expect(text.startsWith(first!)).toBe(true);
        expect(text.endsWith(rest.join(''))).toBe(true);
        expect(text.length).toBeGreaterThanOrEqual(first!.length + rest.join('').length);
      }),
      { numRuns: 700 },
    );
  });

  it.each(['\n', '\r\n'])('is taken out from behind a million characters of %j', (lineEnd) => {
    const before = `${lineEnd.repeat(1_000_000 / lineEnd.length)}end`;
    expect(writeBlock(writeBlock(before, 'appendix', 'a note'), 'appendix', '')).toBe(`${before}\n`);
  });

  it('is read back as it was written, wherever broken markers stand', () => {
    const visible = plain.map((text) => text.trim()).filter((text) => text !== '');
    fc.assert(
      fc.property(soup, kind, visible, (skill, name, content) => {
        const text = writeBlock(skill, name, content);
        fc.pre(readBlock(skill, name) === '' || outside(skill, name).length === 2);
        expect(readBlock(text, name)).toBe(content);
        expect(writeBlock(text, name, content)).toBe(text);
      }),
    );
  });
});
