import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdit, applyPatch, applyPatchWithReport } from '../../src/core/apply-edit.ts';
import { findRegions, MARKERS } from '../../src/core/protected-regions.ts';

const markers = Object.values(MARKERS).flatMap(({ start, end }) => [start, end]);
/** Pieces that make markers, halves of markers and frontmatter likely. */
const piece = fc.oneof(
  fc.constantFrom(...markers, '---\n', '\n', '\r\n', ' ', 'a', 'b', '- rule\n', '<!-- SLOW_', 'UPDATE_START -->'),
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
      { numRuns: 2_000 },
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

  it('give the same one by one as all at once', () => {
    fc.assert(
      fc.property(document, ({ skill, edits }) => {
        expect(applyPatch(skill, { edits })).toBe(edits.reduce(applyEdit, skill));
      }),
    );
  });
});
