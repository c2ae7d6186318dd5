import { describe, expect, it } from 'vitest';
import { findRegions, MARKERS, withoutMarkers } from '../../../../src/core/document/index.ts';
import { protectedText } from '../../../../src/core/document/protected-regions.ts';

const { slowUpdate, appendix } = MARKERS;
const found = (skill: string) => findRegions(skill).map(({ kind, start, end }) => [kind, skill.slice(start, end)]);

describe('findRegions', () => {
  it('finds nothing in plain text', () => {
    expect(findRegions('# S\n\n- a\n')).toEqual([]);
    expect(findRegions('')).toEqual([]);
  });

  it('finds blocks with their markers, in order of appearance', () => {
    const first = `${appendix.start}\nnote\n${appendix.end}`;
    const second = `${slowUpdate.start}${slowUpdate.end}`;
    expect(found(`a\n${first}\nb\n${second}\n`)).toEqual([
      ['appendix', first],
      ['slowUpdate', second],
    ]);
  });

  it('finds every pair of a marker', () => {
    const block = `${slowUpdate.start}x${slowUpdate.end}`;
    expect(found(`${block} ${block}`)).toEqual([
      ['slowUpdate', block],
      ['slowUpdate', block],
    ]);
  });

  it('takes an opening inside a block for text, and ignores a closing that closes nothing', () => {
    const block = `${slowUpdate.start}${slowUpdate.start}${slowUpdate.end}`;
    expect(found(`${slowUpdate.end}${block}${slowUpdate.end}`)).toEqual([['slowUpdate', block]]);
  });

  it('lets a block that is never closed reach to the end', () => {
    expect(found(`a ${appendix.start} b`)).toEqual([['appendix', `${appendix.start} b`]]);
  });

  it.each(['---\nname: s\n---', '---\n---', '---  \r\nname: s\r\n---', '---\na: |\n  --- not the end\n---'])(
    'finds the frontmatter %j, up to and with its closing line',
    (frontmatter) => {
      expect(found(`${frontmatter}\n# S\n`)).toEqual([['frontmatter', frontmatter]]);
      expect(found(frontmatter)).toEqual([['frontmatter', frontmatter]]);
    },
  );

  it.each(['\n---\na: 1\n---\n', '# S\n---\na: 1\n---\n', '---\na: 1\n', '----\na: 1\n---\n', '---\na: 1\n---- \n'])(
    'finds no frontmatter in %j',
    (skill) => {
      expect(findRegions(skill)).toEqual([]);
    },
  );
});

describe('protectedText', () => {
  it('names each region by its kind', () => {
    expect(protectedText(`---\na: 1\n---\n${appendix.start}x`)).toEqual([
      'frontmatter:---\na: 1\n---',
      `appendix:${appendix.start}x`,
    ]);
  });
});

describe('withoutMarkers', () => {
  it('takes out all four markers and nothing else', () => {
    const text = `1${slowUpdate.start}2${slowUpdate.end}3${appendix.start}4${appendix.end}5<!-- note -->`;
    expect(withoutMarkers(text)).toBe('12345<!-- note -->');
  });

  it('takes out a marker that was hidden around another', () => {
    const hidden = appendix.start.replace('APPENDIX', `APP${slowUpdate.end}ENDIX`);
    expect(withoutMarkers(`a${hidden}b`)).toBe('ab');
  });
});
