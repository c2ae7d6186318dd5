import { describe, expect, it } from 'vitest';
import { MARKERS } from '../../../src/core/document/index.ts';
import { lintSkill } from '../../../src/skills/index.ts';

const { slowUpdate, appendix } = MARKERS;

/** Line 1 is `---`, line 2 the name, line 3 the description, and from line 4 on what a test adds. */
const skill = ({ name = 's', description = 'Does it.', more = '', body = '# S\n' } = {}) =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n${body}`;

const lint = (text: string, folderName: string | undefined = 's') =>
  lintSkill({ folderName, text }).map(({ line, level, rule }) => `${line} ${level} ${rule}`);
const named = (name: string) => lint(skill({ name: JSON.stringify(name) }), name);
const messages = (text: string) => lintSkill({ folderName: 's', text }).map(({ message }) => message);

describe('a skill', () => {
  it('with a name, a description and a text has nothing wrong', () => {
    expect(lint(skill())).toEqual([]);
    expect(lint(skill().replaceAll('\n', '\r\n'))).toEqual([]);
  });

  it('may have every field of the specification', () => {
    const more =
      'license: MIT\nallowed-tools: Bash(git:*) Read\ncompatibility: git\nmetadata:\n  a: b\n  version: "1"\n';
    expect(lint(skill({ more }))).toEqual([]);
  });

  it('is reported in order of lines', () => {
    const text = `---\nname: S\nextra: 1\n---\n${appendix.end}\n`;
    expect(lint(text)).toEqual([
      '1 error field-missing',
      '2 error name-characters',
      '2 error name-folder',
      '3 error field-unknown',
      '5 error marker-unpaired',
    ]);
  });
});

describe('frontmatter', () => {
  it.each([
    ['', 'expected frontmatter'],
    ['# S\n', 'expected frontmatter'],
    ['\n---\nname: s\n---\n', 'expected frontmatter'],
    ['\uFEFF---\nname: s\n---\n', 'byte order mark'],
    ['---\nname: s\n', 'never closed'],
    ['---', 'never closed'],
  ])('is missing in %j', (text, message) => {
    expect(lint(text)[0]).toBe('1 error frontmatter-missing');
    expect(messages(text)[0]).toContain(message);
  });

  it.each([
    ['name: s\ndescription: Use when: needed\n', 3, 'needs quotes'],
    ['name: s\ndescription: d\nname: t\n', 4, 'unique'],
    ['name: s\n\tdescription: d\n', 3, ''],
    ['name: [s\ndescription: d\n', 3, ''],
    ['- name\n', 2, 'expected fields'],
    ['only words\n', 2, 'expected fields'],
  ])('that is no YAML map, %j, is wrong in line %i', (yaml, line, message) => {
    expect(lint(`---\n${yaml}---\nbody\n`)).toEqual([`${line} error frontmatter-yaml`]);
    expect(messages(`---\n${yaml}---\nbody\n`)[0]).toContain(message);
  });

  it('may have 16,000 characters and no more', () => {
    const fields = 'name: s\ndescription: d\n';
    const filled = (length: number) => `---\n${fields}#${'x'.repeat(length - fields.length - 2)}\n---\nbody\n`;
    expect(lint(filled(16_000))).toEqual([]);
    expect(lint(filled(16_001))).toEqual(['1 error frontmatter-length']);
  });

  it('is not taken apart by depth', () => {
    expect(lint(`---\nmetadata: ${'['.repeat(15_000)}\n---\nbody\n`)).toHaveLength(1);
    expect(lint(skill({ more: 'metadata: &m\n  again: *m\n' }))).toEqual(['5 error field-not-text']);
  });
});

describe('name', () => {
  it('is required', () => {
    expect(lint('---\ndescription: d\n---\nbody\n')).toEqual(['1 error field-missing']);
    expect(lint('---\n---\nbody\n')).toEqual(['1 error field-missing', '1 error field-missing']);
    expect(lint(skill({ name: '' }))).toEqual(['2 error field-missing']);
    expect(lint(skill({ name: '"  "' }))).toEqual(['2 error field-missing']);
  });

  it('has at most 64 characters', () => {
    expect(named('a'.repeat(64))).toEqual([]);
    expect(named('a'.repeat(65))).toEqual(['2 error field-length']);
    expect(named('𠀋'.repeat(64))).toEqual([]);
  });

  it('is measured and compared in its compatible form', () => {
    expect(named('ﬃ'.repeat(21))).toEqual([]);
    expect(named('ﬃ'.repeat(22))).toEqual(['2 error field-length']);
    expect(lint(skill({ name: 'cafe\u0301' }), 'café')).toEqual([]);
    expect(lint(skill({ name: 'café' }), 'cafe\u0301')).toEqual([]);
  });

  it.each(['pdf', 'pdf-2', 'a-b-c', '7z', 'über-straße', '技能', 'навык'])('may be %s', (name) => {
    expect(named(name)).toEqual([]);
  });

  it.each(['PDF', 'Über', 'a_b', 'a b', 'a.b', 'a/b', 'a😀'])('may not be %s', (name) => {
    expect(named(name)).toEqual(['2 error name-characters']);
  });

  it.each(['-a', 'a-', 'a--b', '-'])('may not have its hyphens as in %s', (name) => {
    expect(named(name)).toEqual(['2 error name-hyphens']);
  });

  it("is the folder's name, where there is a folder", () => {
    expect(lint(skill({ name: 'other' }))).toEqual(['2 error name-folder']);
    expect(lintSkill({ folderName: undefined, text: skill({ name: 'other' }) })).toEqual([]);
    expect(messages(skill({ name: 'other' }))).toEqual([`name: expected the folder's name "s", got "other"`]);
  });
});

describe('description', () => {
  it('is required', () => {
    expect(lint('---\nname: s\n---\nbody\n')).toEqual(['1 error field-missing']);
    expect(lint(skill({ description: '' }))).toEqual(['3 error field-missing']);
  });

  it('has 1 to 1024 characters', () => {
    expect(lint(skill({ description: 'd' }))).toEqual([]);
    expect(lint(skill({ description: 'd'.repeat(1024) }))).toEqual([]);
    expect(lint(skill({ description: '😀'.repeat(1024) }))).toEqual([]);
    expect(lint(skill({ description: 'd'.repeat(1025) }))).toEqual(['3 error field-length']);
  });

  it('may take several lines, whose last break does not count', () => {
    expect(lint(skill({ description: `>\n  ${'d'.repeat(1024)}` }))).toEqual([]);
  });
});

describe('the other fields', () => {
  it('are the ones of the specification', () => {
    expect(lint(skill({ more: 'license: MIT\nversion: "1"\n' }))).toEqual(['5 error field-unknown']);
    expect(lint(skill({ more: 'constructor: x\n' }))).toEqual(['4 error field-unknown']);
    expect(lint(skill({ more: '? [a]\n: x\n' }))).toEqual(['4 error field-unknown']);
  });

  it('let compatibility have 1 to 500 characters', () => {
    expect(lint(skill({ more: `compatibility: ${'c'.repeat(500)}\n` }))).toEqual([]);
    expect(lint(skill({ more: `compatibility: ${'c'.repeat(501)}\n` }))).toEqual(['4 error field-length']);
    expect(lint(skill({ more: 'compatibility: ""\n' }))).toEqual(['4 error field-missing']);
  });

  it.each(['license', 'allowed-tools', 'compatibility'])('make %s a text', (key) => {
    expect(lint(skill({ more: `${key}: t\n` }))).toEqual([]);
    expect(lint(skill({ more: `${key}:\n  - t\n` }))).toEqual(['4 error field-not-text']);
    expect(lint(skill({ more: `${key}:\n  t: t\n` }))).toEqual(['4 error field-not-text']);
    expect(lint(skill({ more: `${key}: *t\n` }))).toEqual(['4 error field-not-text']);
    expect(lint(skill({ more: `${key}: 2\n` }))).toEqual(['4 warning field-not-quoted']);
  });

  it('make metadata a map of text to text', () => {
    expect(lint(skill({ more: 'metadata:\n' }))).toEqual([]);
    expect(lint(skill({ more: `metadata:\n  description: ${'d'.repeat(2000)}\n` }))).toEqual([]);
    expect(lint(skill({ more: 'metadata: words\n' }))).toEqual(['4 error metadata-not-map']);
    expect(lint(skill({ more: 'metadata: [a]\n' }))).toEqual(['4 error metadata-not-map']);
    expect(lint(skill({ more: 'metadata:\n  a: b\n  c: [d]\n' }))).toEqual(['6 error field-not-text']);
    expect(lint(skill({ more: 'metadata:\n  version: 1.0\n' }))).toEqual(['5 warning field-not-quoted']);
    expect(messages(skill({ more: 'metadata:\n  version: 1.0\n' }))[0]).toContain(
      'metadata.version: YAML reads 1.0 as',
    );
  });
});

describe('the text', () => {
  it.each(['', '\n', ' \r\n\t\n'])('is missing in %j, said at the end of the frontmatter', (body) => {
    expect(lint(skill({ body }))).toEqual(['4 warning body-empty']);
  });

  it('has at most 500 lines', () => {
    expect(lint(skill({ body: 'x\n'.repeat(500) }))).toEqual([]);
    expect(lint(skill({ body: 'x\n'.repeat(501) }))).toEqual(['505 warning body-lines']);
    expect(lint(skill({ body: `${'x\n'.repeat(500)}x` }))).toEqual(['505 warning body-lines']);
  });

  it('has at most 20,000 characters, which make about 5,000 tokens', () => {
    expect(lint(skill({ body: 'x'.repeat(20_000) }))).toEqual([]);
    expect(lint(skill({ body: `${'x'.repeat(19_999)}\nx` }))).toEqual(['6 warning body-tokens']);
    expect(messages(skill({ body: 'x'.repeat(20_001) }))[0]).toContain('got about 5001 (estimated as characters / 4)');
  });
});

describe('markers', () => {
  const block = ({ start, end }: { start: string; end: string }) => `${start}\nx\n${end}\n`;
  const lintBody = (body: string) => lint(skill({ body }));

  it('come in pairs, one block after the other', () => {
    expect(lintBody(block(slowUpdate) + block(appendix) + block(slowUpdate))).toEqual([]);
  });

  it.each([slowUpdate, appendix])('are closed: $start', ({ start, end }) => {
    expect(lintBody(`x\n${start}\nx\n`)).toEqual(['6 error marker-unpaired']);
    expect(lintBody(`x\n${end}\nx\n`)).toEqual(['6 error marker-unpaired']);
    expect(lintBody(`${end}\n${start}\n`)).toEqual(['5 error marker-unpaired', '6 error marker-unpaired']);
  });

  it('are not closed by those of another kind', () => {
    expect(lintBody(`${slowUpdate.start}\n${appendix.end}\n`)).toEqual([
      '5 error marker-unpaired',
      '6 error marker-unpaired',
    ]);
  });

  it('do not nest, nor overlap', () => {
    const nested = `${slowUpdate.start}\n${block(appendix)}${slowUpdate.end}\n`;
    expect(lintBody(nested)).toEqual(['6 error marker-nested']);
    expect(lintBody(`${slowUpdate.start}\n${block(slowUpdate)}${slowUpdate.end}\n`)).toEqual(['6 error marker-nested']);
    const overlapping = [slowUpdate.start, appendix.start, slowUpdate.end, appendix.end].join('\n');
    expect(lintBody(overlapping)).toEqual(['6 error marker-nested']);
  });
});
