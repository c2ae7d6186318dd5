import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DataFiles } from '../../../src/benchmarks/data/data-files.ts';
import { findDocuments } from '../../../src/benchmarks/officeqa/documents.ts';
import { readCalls, taggedAnswer } from '../../../src/benchmarks/officeqa/tool-calls.ts';
import { DocumentTools, matchesGlob } from '../../../src/benchmarks/officeqa/tools.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function toolsOver(files: Readonly<Record<string, string>>) {
  const folder = tempFolder(files);
  const data = new DataFiles([folder.path]);
  const tools = new DocumentTools(await findDocuments(Object.keys(files), data), data);
  const run = async (call: object) => tools.run(readCalls(`<tool>${JSON.stringify(call)}</tool>`).calls[0]!);
  return { run, folder, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n');

describe('the tools for documents', () => {
  it('list names, at most 50', async () => {
    using few = await toolsOver({ 'a_1941.txt': '1', 'b_1942.txt': '2' });
    expect(await few.run({ name: 'glob', pattern: '*1942*' })).toBe('Documents:\nb_1942.txt');
    expect(await few.run({ name: 'glob', pattern: '?.txt' })).toBe('No document has such a name.');
    using many = await toolsOver(Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`${index}.txt`, 'x'])));
    const listed = (await many.run({ name: 'glob' })).split('\n');
    expect(listed).toHaveLength(52);
    expect(listed.at(-1)).toBe('… and 10 more');
  });

  it('read 80 lines and 4,000 characters from a line on', async () => {
    using tools = await toolsOver({ 'a.txt': numbered(200), 'wide.txt': `${'w'.repeat(9_000)}\nnext` });
    const first = await tools.run({ name: 'read', path: 'a.txt' });
    expect(first.split('\n')).toHaveLength(81);
    expect(first).toMatch(/^a\.txt, lines 1 to 80 of 200:\nline 1\n/);
    const middle = await tools.run({ name: 'read', path: 'a.txt', start: '199', limit: 500 });
    expect(middle).toBe('a.txt, lines 199 to 200 of 200:\nline 199\nline 200');
    expect(await tools.run({ name: 'read', path: 'a.txt', start: 201 })).toBe('Error: a.txt has 200 lines.');
    const wide = await tools.run({ name: 'read', path: 'wide.txt' });
    expect(wide).toMatch(/^wide\.txt, lines 1 to 1 of 2:\nw{4000} … \(the line is cut\)$/);
  });

  it('find at most 20 lines, by plain text or by a simple expression, in any case', async () => {
    using tools = await toolsOver({
      'a.txt': `Public Debt (net)\r\n${numbered(30)}`,
      'b.txt': `${'x '.repeat(900)}debt`,
    });
    const grep = (pattern: string, path?: string) => tools.run({ name: 'grep', pattern, path });
    expect(await grep('public debt (NET)')).toBe('a.txt:1: Public Debt (net)');
    expect(await grep('line 1\\d$', 'a.txt')).toMatch(/^a\.txt:11: line 10\n/);
    const all = (await grep('line')).split('\n');
    expect(all).toHaveLength(21);
    expect(all.at(-1)).toMatch(/more matches/);
    const excerpt = await grep('debt', 'b.txt');
    expect(excerpt).toMatch(/^b\.txt:1: … x x .*debt$/);
    expect(excerpt.length).toBeLessThan(320);
    expect(await grep('(unclosed')).toBe('No line matches.');
    expect(await grep('')).toMatch(/^Error: a pattern has 1 to 100 characters/);
    expect(await grep('x'.repeat(101))).toMatch(/^Error: a pattern/);
  });

  it('show two documents of one name with their folders', async () => {
    using folder = tempFolder({ 'one/a.txt': '1', 'two/a.txt': '2' });
    const files = new DataFiles([folder.path]);
    const tools = new DocumentTools(await findDocuments(['a.txt'], files), files);
    expect(await tools.run({ call: { name: 'glob', pattern: '*' } })).toBe('Documents:\none/a.txt\ntwo/a.txt');
    expect(await tools.run({ call: { name: 'read', path: 'two/a.txt', start: 1 } })).toMatch(/:\n2$/);
  });

  it('say what is wrong with a call', async () => {
    using tools = await toolsOver({ 'a.txt': '1' });
    for (const call of [{ name: 'rm' }, { name: 'read' }, { name: 'read', path: 'a.txt', start: -1 }, [], null, 'x'])
      expect(await tools.run(call as object)).toMatch(/^Error: this call cannot be read/);
    expect(readCalls('<tool>{</tool>').calls).toEqual([{ problem: 'what stands between the tags is not JSON' }]);
  });
});

describe('hostile calls', () => {
  it.each(['../secret.txt', '/etc/passwd', './a.txt', 'b.txt', 'sub/../a.txt', '__proto__', 'a.txt\0', ''])(
    'reach no other file by %j',
    async (path) => {
      using tools = await toolsOver({ 'a.txt': 'own' });
      for (const name of ['read', 'grep'])
        expect(await tools.run({ name, path, pattern: 'o' })).toMatch(/^Error: there is no document .*a\.txt$/s);
    },
  );

  it('reach nothing through a link that takes the place of a document', async () => {
    using outside = tempFolder({ 'secret.txt': 'own' });
    using tools = await toolsOver({ 'a.txt': 'own' });
    rmSync(join(tools.folder.path, 'a.txt'));
    symlinkSync(join(outside.path, 'secret.txt'), join(tools.folder.path, 'a.txt'));
    await expect(tools.run({ name: 'read', path: 'a.txt' })).rejects.toThrow(/leads out of/);
  });

  it('follow a folder that is a link, and no link below it', async () => {
    using real = tempFolder({ 'a.txt': 'own' });
    using outside = tempFolder({ 'b.txt': 'other' });
    using project = tempFolder();
    symlinkSync(real.path, join(project.path, 'documents'));
    symlinkSync(outside.path, join(real.path, 'more'));
    mkdirSync(join(project.path, 'inner'));
    const files = new DataFiles([join(project.path, 'documents'), join(project.path, 'inner')]);
    expect(await files.names()).toEqual(['a.txt']);
    const sha256 = createHash('sha256').update('own').digest('hex');
    expect(await findDocuments(['a.txt'], files)).toEqual([{ name: 'a.txt', sha256 }]);
    await expect(findDocuments(['b.txt'], files)).rejects.toThrow(/no file called b\.txt/);
  });

  it('with patterns that would take for ever are answered', async () => {
    using tools = await toolsOver({ 'a.txt': `${'a'.repeat(5_000)}!\n`.repeat(200) });
    const grep = (pattern: string) => tools.run({ name: 'grep', pattern });
    for (const pattern of ['(a+)+$', 'a{1000}{1000}']) expect(await grep(pattern)).toBe('No line matches.');
    expect(await grep(`${'(a*)*'.repeat(19)}b`)).toMatch(/^No line matches\.\nNot all was searched/);
  });

  it('on a document of 50 MB are answered briefly', async () => {
    const row = '| 1,234 | 5,678 |\n';
    using tools = await toolsOver({ 'a.txt': row.repeat(25_000_000 / row.length) + 'a'.repeat(25_000_000) });
    for (const call of [
      { name: 'read', start: 1_388_800 },
      { name: 'grep', pattern: '(a+)+$' },
    ]) {
      const answer = await tools.run({ path: 'a.txt', ...call });
      expect(answer.length).toBeGreaterThan(60);
      expect(answer.length).toBeLessThan(7_000);
    }
  });

  it('by the thousand are run up to the fourth', () => {
    const { calls, hasMore } = readCalls('<tool>{"name":"glob"}</tool>'.repeat(10_000));
    expect(calls).toHaveLength(4);
    expect(hasMore).toBe(true);
    expect(readCalls('<tool>'.repeat(100_000))).toEqual({ calls: [], hasMore: false });
  });

  it('never crash the readers of replies', () => {
    const piece = fc.constantFrom(
      '<tool>',
      '</tool>',
      '<answer>',
      '</answer>',
      '{',
      '}',
      '"name"',
      ':',
      '"read"',
      'x',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const reply = pieces.join('');
        expect(readCalls(reply).calls.length).toBeLessThanOrEqual(4);
        const answer = taggedAnswer(reply);
        const isTagged = /<answer>[\s\S]*<\/answer>/.test(reply);
        expect(answer !== undefined).toBe(isTagged);
        expect(answer ?? '').not.toContain('</answer>');
      }),
    );
    expect(taggedAnswer('<answer>'.repeat(100_000))).toBeUndefined();
  });

  it('with names match as a simple pattern does', () => {
    const piece = fc.constantFrom('a', 'b', '*', '?', '.');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.stringMatching(/^[ab.]{0,10}$/), (pieces, name) => {
        const expected = new RegExp(
          `^${pieces.map((one) => (one === '*' ? '.*' : one === '?' ? '.' : one === '.' ? '\\.' : one)).join('')}$`,
        );
        expect(matchesGlob(name, pieces.join(''))).toBe(expected.test(name));
      }),
    );
    expect(matchesGlob('a'.repeat(5_000), `${'*a'.repeat(1_000)}b`)).toBe(false);
  });
});
