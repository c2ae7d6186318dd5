import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readReceipt, recoverReplacements, undo } from '../../../../src/skills/index.ts';
import { contentsOf, replaceWorld, sha } from './replace-world.ts';

describe('replaceFiles', () => {
  it('writes the new bytes, keeps the mode, and keeps the old bytes in private', async () => {
    using world = replaceWorld();
    chmodSync(world.at('AGENTS.md'), 0o664);
    const receipt = await world.replace([world.change('AGENTS.md', 'new\n')]);
    expect([world.all(), world.mode('AGENTS.md')]).toEqual([{ 'AGENTS.md': 'new\n' }, '664']);
    expect(receipt.steps).toMatchObject([{ path: world.at('AGENTS.md'), before: sha('old\n'), after: sha('new\n') }]);
    expect(contentsOf(world.journal)).toMatchObject({ 't1/1.before': 'old\n' });
    for (const name of ['t1/1.before', 't1/receipt.json'])
      expect(statSync(join(world.journal, name)).mode & 0o777).toBe(0o600);
    expect(await readReceipt(world.journal, 't1')).toEqual(receipt);
  });

  it.each([
    [0o022, '644'],
    [0o077, '600'],
  ])('makes a new file with its folders; with umask %o its mode is %s', async (umask, mode) => {
    using world = replaceWorld({});
    const before = process.umask(umask);
    try {
      await world.replace([world.change('skills/mine/SKILL.md', 'new\n')]);
      expect([world.all(), world.mode('skills/mine/SKILL.md')]).toEqual([{ 'skills/mine/SKILL.md': 'new\n' }, mode]);
    } finally {
      process.umask(before);
    }
  });

  it('writes several files or none', async () => {
    using world = replaceWorld({ 'a.md': '1', 'b.md': '2', 'c/c.md': '3' });
    const changes = ['a.md', 'b.md', 'c/c.md', 'd/e/f.md'].map((name) => world.change(name, `new ${name}`));
    const stale = { ...changes[1]!, expected: sha('other') };
    await expect(world.replace([changes[0]!, stale, changes[2]!])).rejects.toMatchObject({ code: 'DOCUMENT_REFUSED' });
    expect(world.all()).toEqual({ 'a.md': '1', 'b.md': '2', 'c/c.md': '3' });
    await world.replace(changes, { id: 't2' });
    const all = { 'a.md': 'new a.md', 'b.md': 'new b.md', 'c/c.md': 'new c/c.md', 'd/e/f.md': 'new d/e/f.md' };
    expect(world.all()).toEqual(all);
    await expect(world.replace([world.change('a.md', 'x'), world.change('a.md', 'y')], { id: 't3' })).rejects.toThrow(
      /is to be written twice/,
    );
    expect(world.all()).toEqual(all);
  });

  it('follows a link between documents, and writes the file that it leads to', async () => {
    using world = replaceWorld();
    symlinkSync('AGENTS.md', world.at('CLAUDE.md'));
    const { steps } = await world.replace([world.change('CLAUDE.md', 'new\n')]);
    expect(steps[0]).toMatchObject({ path: world.at('CLAUDE.md'), realPath: world.at('AGENTS.md') });
    expect([world.read('AGENTS.md'), world.read('CLAUDE.md'), readdirSync(world.project)]).toEqual([
      'new\n',
      'new\n',
      ['AGENTS.md', 'CLAUDE.md'],
    ]);
  });

  it('for all bytes: replaced and undone, every file is as it was', async () => {
    const bytes = fc.option(fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)));
    const file = fc
      .record({ name: fc.constantFrom('a.md', 'b.md', 'x/c.md', 'x/y/d.md'), old: bytes, new: bytes })
      .filter((one) => one.old !== null || one.new !== null);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(file, { selector: ({ name }) => name, minLength: 2 }), async (files) => {
        using world = replaceWorld({});
        const there = files.filter((one) => one.old !== null);
        for (const { name, old } of there) world.write(name, old!.toString('latin1'));
        const before = world.all();
        const changes = files.map((one) => ({ ...world.change(one.name, ''), bytes: one.new }));
        const receipt = await world.replace(changes);
        for (const one of files) {
          if (one.new === null) expect(existsSync(world.at(one.name))).toBe(false);
          else expect(readFileSync(world.at(one.name))).toEqual(one.new);
        }
        await undo(receipt, { journalFolder: world.journal, id: 't2' });
        expect(world.all()).toEqual(before);
      }),
      { numRuns: 8 },
    );
  });

  it('makes files in one new folder, and in one below it', async () => {
    using world = replaceWorld({});
    const receipt = await world.replace(['x/c.md', 'x/y/d.md', 'x/e.md'].map((name) => world.change(name, name)));
    expect(world.all()).toEqual({ 'x/c.md': 'x/c.md', 'x/y/d.md': 'x/y/d.md', 'x/e.md': 'x/e.md' });
    await undo(receipt, { journalFolder: world.journal, id: 't2' });
    expect(existsSync(world.at('x'))).toBe(false);
  });
});

describe('undo', () => {
  it('removes a file that was made, with the folders made for it, and nothing else', async () => {
    using world = replaceWorld({ 'skills/other/SKILL.md': 'theirs' });
    const receipt = await world.replace([world.change('skills/new/deep/SKILL.md', 'ours')]);
    world.write('skills/new/notes.txt', 'a note');
    await undo(receipt, { journalFolder: world.journal, id: 't2' });
    expect(world.all()).toEqual({ 'skills/other/SKILL.md': 'theirs', 'skills/new/notes.txt': 'a note' });
    expect(readdirSync(world.at('skills/new'))).toEqual(['notes.txt']);
  });

  it('refuses a file that was edited since', async () => {
    using world = replaceWorld();
    const receipt = await world.replace([world.change('AGENTS.md', 'new\n')]);
    world.write('AGENTS.md', 'new, and mine\n');
    const undoing = undo(receipt, { journalFolder: world.journal, id: 't2' });
    await expect(undoing).rejects.toThrow(/holds other text than expected: somebody changed it/);
    expect(world.read('AGENTS.md')).toBe('new, and mine\n');
  });

  it('refuses old bytes that are not the old bytes any more', async () => {
    using world = replaceWorld();
    const receipt = await world.replace([world.change('AGENTS.md', 'new\n')]);
    const { writeFileSync } = await import('node:fs');
    writeFileSync(join(world.journal, 't1', '1.before'), 'planted');
    const undoing = undo(receipt, { journalFolder: world.journal, id: 't2' });
    await expect(undoing).rejects.toThrow(/does not hold the old bytes/);
    expect(world.read('AGENTS.md')).toBe('new\n');
  });
});

describe('a journal', () => {
  it('without a transaction that was cut off leaves everything alone', async () => {
    using world = replaceWorld();
    expect(await recoverReplacements(world.journal)).toEqual({ restored: [], left: [] });
    expect(existsSync(world.journal)).toBe(false);
  });

  it('that is damaged is not guessed at', async () => {
    using world = replaceWorld();
    await world.replace([world.change('AGENTS.md', 'new\n')]);
    const { writeFileSync } = await import('node:fs');
    writeFileSync(join(world.journal, 'pending.json'), '{"version":1,"st');
    const change = world.replace([world.change('AGENTS.md', 'newer\n')], { id: 't2' });
    await expect(change).rejects.toMatchObject({ code: 'STATE_UNUSABLE', hint: expect.stringContaining('old bytes') });
    expect(world.read('AGENTS.md')).toBe('new\n');
  });
});
