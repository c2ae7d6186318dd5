import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MARKERS } from '../../src/core/document/index.ts';
import { lintSkill } from '../../src/skills/index.ts';
import { relativeLinks } from '../../src/skills/read-skill.ts';

const markers = Object.values(MARKERS).flatMap(({ start, end }) => [start, end]);
const fields = [
  'name: a\n',
  'description: d\n',
  'metadata:\n',
  '  k: v\n',
  'a: &a [',
  ']',
  '{',
  '}',
  '*a',
  '? ',
  ': ',
  '- ',
];
const links = ['[x](', ')', '[x]: y', '```', '~~~', '`', '%', '<', '>'];
/** Pieces that make frontmatter, broken YAML, halves of links and markers likely. */
const piece = fc.oneof(
  fc.constantFrom(
    ...markers,
    ...fields,
    ...links,
    '---\n',
    '---',
    '\n',
    '\r\n',
    '\r',
    '\t',
    ' ',
    '\uFEFF',
    '|',
    '>\n',
    '%YAML 9\n',
  ),
  fc.string({ maxLength: 6 }),
  fc.string({ unit: 'binary', maxLength: 4 }),
);
const soup = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
const text = fc.oneof(
  soup,
  fc.tuple(soup, soup).map(([yaml, body]) => `---\n${yaml}\n---\n${body}`),
);
const lineCount = (document: string) => Math.max(1, document.replace(/\n$/, '').split('\n').length);

describe('lintSkill', () => {
  it('never throws, names a line of the file with each finding, and goes through the file in order', () => {
    fc.assert(
      fc.property(text, fc.option(fc.string(), { nil: undefined }), (document, folderName) => {
        const lines = lintSkill({ folderName, text: document }).map(({ line }) => line);
        for (const line of lines) expect(line >= 1 && line <= lineCount(document)).toBe(true);
        expect(lines).toEqual([...lines].sort((a, b) => a - b));
      }),
      { numRuns: 2000 },
    );
  });

  it('finds nothing in what keeps every rule', () => {
    const word = fc.stringMatching(/^[a-z0-9]{1,10}$/);
    const name = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join('-'));
    const description = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 100 })
      .filter((value) => value.trim() !== '');
    fc.assert(
      fc.property(name, description, (folderName, value) => {
        const document = `---\nname: "${folderName}"\ndescription: ${JSON.stringify(value)}\n---\nDo it.\n`;
        expect(lintSkill({ folderName, text: document })).toEqual([]);
      }),
    );
  });
});

describe('relativeLinks', () => {
  it('never throws, and names a line of the text with each link', () => {
    fc.assert(
      fc.property(soup, (document) => {
        for (const { line } of relativeLinks(document)) expect(line >= 1 && line <= lineCount(document)).toBe(true);
      }),
    );
  });
});
