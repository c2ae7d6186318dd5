import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inMarkdown, nameAsData, oneLine, printable } from '../../../../src/core/text/index.ts';
import { hostileText, leftovers } from '../../../support/hostile-text.ts';

/** Sequences out of parts, right and wrong ones. */
const sequence = fc
  .array(
    fc.constantFrom(
      '\x1b',
      '\x9b',
      '\x9d',
      '\x90',
      '[',
      ']',
      '(',
      '?',
      '#',
      ';',
      '1',
      '31',
      'm',
      'J',
      'H',
      'q',
      '8',
      '\x07',
      '\x1b\\',
      '\x9c',
      ' ',
      'é',
      'http://a.b',
      '\n',
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));
const text = fc.oneof(sequence, hostileText, fc.string({ unit: 'binary', maxLength: 40 }));

/** Whether all letters of `part` stand in `whole`, in their order. */
function isWithin(part: string, whole: string): boolean {
  let at = 0;
  for (const letter of part) {
    at = whole.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

describe('escape sequences', () => {
  it('are left out wherever Node leaves them out', () => {
    const shown = (escaped: string) => printable(escaped).replace(/<U\+[0-9A-F]+>/g, '');
    fc.assert(
      fc.property(text, (any) => {
        expect(isWithin(shown(any), stripVTControlCharacters(any))).toBe(true);
        expect(stripVTControlCharacters(printable(any))).toBe(printable(any));
      }),
      { numRuns: 2000 },
    );
  });

  it('fact 54: colours, titles, links and zero-width letters are removed or shown, on one line', () => {
    const hostile = '\x1b[31mred\x1b[0m \x1b]8;;http://a.b\x07link\x1b]8;;\x07\r\n\x1b]0;title\x07and\u200bmore';
    expect(oneLine(hostile)).toBe('red link and<U+200B>more');
  });
});

describe('in a Markdown file', () => {
  it.each([
    ['![a](http://evil.example/x.png)', '!\\[a](http://evil.example/x.png)'],
    ['![a][ref]\n\n[ref]: http://evil.example', '!\\[a][ref]\n\n[ref]: http://evil.example'],
    ['\\![a](http://evil.example)', '\\!\\[a](http://evil.example)'],
    ['!\u200b[a](b)', '!<U+200B>[a](b)'],
    ['!\ufe0f[a](b)', '!\\[a](b)'],
    ['<img src=http://evil.example>', '&lt;img src=http://evil.example>'],
    ['<IMG\nSRC=x>', '&lt;IMG\nSRC=x>'],
    ['<p style="background:url(http://evil.example)">', '&lt;p style="background:url(http://evil.example)">'],
    ['<svg><image href="x"/></svg>', '&lt;svg>&lt;image href="x"/></svg>'],
    ['a <!-- hidden --> b', 'a &lt;!-- hidden --> b'],
  ])('%j is shown and loads nothing', (hostile, shown) => {
    expect(inMarkdown(hostile)).toBe(shown);
  });

  it.each([
    ['a [link](https://a.example)'],
    ['Map<string, number> and a < b'],
    ['wait! [see](x)'],
    ['`code` **bold**'],
  ])('%s stays as it is', (plain) => {
    expect(inMarkdown(plain)).toBe(plain);
  });

  it('changes nothing when it is called again, and keeps nothing hidden', () => {
    const markup = fc.array(
      fc.constantFrom('!', '[', ']', '(', '<', 'img', ' ', '\\', '/', '>', '!--', '\x1b', '\ufe0f'),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          markup.map((parts) => parts.join('')),
        ),
        (any) => {
          const shown = inMarkdown(any);
          expect(inMarkdown(shown)).toBe(shown);
          expect(shown).not.toMatch(/!\[|<img\b/i);
          expect(leftovers(shown, { isColored: false })).toEqual([]);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('a name as data', () => {
  it.each([
    ['main', '`main`'],
    ['a\n# b', '`a # b`'],
    ['x` <img src=y> | z', "`x' ‹img src=y› ¦ z`"],
    [' \u202e ', '`<U+202E>`'.replace('<', '‹').replace('>', '›')],
    ['', '`(no name)`'],
  ])('%j', (name, shown) => {
    expect(nameAsData(name)).toBe(shown);
  });

  it('is one bounded line of code, whatever it was', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ maxLength: 400 })), (any) => {
        const shown = nameAsData(any);
        expect(shown).toMatch(/^`[^`\n|<>]{1,130}`$/u);
        expect(leftovers(shown, { isColored: false })).toEqual([]);
      }),
    );
  });
});
