import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Moment } from '../../../../src/skills/index.ts';
import { contentsOf, replaceWorld } from './replace-world.ts';

const REFUSED = { code: 'DOCUMENT_REFUSED', hint: expect.stringMatching(/\w/) };

/** An editor that writes into the file 60 times, and counts what it does not find there a second later. */
const SAVE_AGAIN_AND_AGAIN = `
  const { readFileSync, writeFileSync } = require('node:fs');
  const file = process.argv[1];
  const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  let lost = 0;
  for (let save = 1; save <= 60; save++) {
    writeFileSync(file, 'line ' + save + '\\n');
    wait(save % 7);
    let looks = 0;
    while (looks < 100 && !readFileSync(file, 'utf8').includes('line ' + save + '\\n')) { looks++; wait(10); }
    if (looks === 100) lost++;
  }
  process.stdout.write(String(lost));
`;

/** Does something at one moment of a transaction. */
const when = (wanted: Moment, act: () => void) => (moment: Moment) => {
  if (moment === wanted) act();
};

describe('a path is refused', () => {
  it.each([
    ['52: with ..', (project: string) => `${project}/a/../AGENTS.md`, /without \.\./],
    ['52: with .. and backslashes', (project: string) => `${project}/a\\..\\AGENTS.md`, /without \.\./],
    ['52: that is no .md', (project: string) => `${project}/AGENTS.txt`, /ends in \.md/],
    ['that is only an ending', (project: string) => `${project}/.md`, /ends in \.md/],
    ['that is relative', () => 'AGENTS.md', /absolute path/],
    ['with a control character', (project: string) => `${project}/A\n.md`, /control characters/],
    [
      '29: outside of the roots',
      (project: string) => `${project}/../other/AGENTS.md`.replace('project/../', ''),
      /outside of/,
    ],
    ['29: beside a root with the same beginning', (project: string) => `${project}-2/AGENTS.md`, /outside of/],
  ])('%s', async (_, pathOf, message) => {
    using world = replaceWorld();
    for (const name of ['other', 'project-2']) mkdirSync(join(world.root, name));
    const before = contentsOf(world.root);
    const change = { path: pathOf(world.project), expected: null, bytes: Buffer.from('x') };
    const call = world.replace([change]);
    await expect(call).rejects.toMatchObject(REFUSED);
    await expect(call).rejects.toThrow(message);
    expect(contentsOf(world.root)).toEqual(before);
  });

  it('52: not for doubled slashes, which mean one', async () => {
    using world = replaceWorld();
    const change = world.change('AGENTS.md', 'new');
    await world.replace([{ ...change, path: change.path.replace('/AGENTS.md', '//AGENTS.md') }]);
    expect(world.all()).toEqual({ 'AGENTS.md': 'new' });
  });
});

describe('a file is refused', () => {
  type World = ReturnType<typeof replaceWorld>;
  const instead = (make: (world: World, path: string) => void) => (world: World) => {
    unlinkSync(world.at('AGENTS.md'));
    make(world, world.at('AGENTS.md'));
  };
  const cases: readonly (readonly [string, (world: World) => void, RegExp])[] = [
    ['link that leads out', instead((w, path) => symlinkSync(join(w.root, 'victim.md'), path)), /outside of/],
    ['link to what is no .md', instead((_, path) => symlinkSync('a.sh', path)), /\.md file was expected/],
    ['link that leads nowhere', instead((_, path) => symlinkSync('gone.md', path)), /leads nowhere/],
    ['folder', instead((_, path) => mkdirSync(path)), /expected a regular file/],
    ['file with two names', (w) => linkSync(w.at('AGENTS.md'), join(w.root, 'twin.md')), /2 names \(hard links\)/],
    ['read-only file', (w) => chmodSync(w.at('AGENTS.md'), 0o444), /is read-only/],
    ['file in a read-only folder', (w) => chmodSync(w.project, 0o555), /is read-only/],
  ];
  it.each(cases)('%s', async (_, prepare, message) => {
    using world = replaceWorld();
    writeFileSync(join(world.root, 'victim.md'), 'old\n');
    world.write('a.sh', 'old\n');
    const change = world.change('AGENTS.md', 'new');
    prepare(world);
    const before = contentsOf(world.root);
    const call = world.replace([change]);
    await expect(call).rejects.toMatchObject(REFUSED);
    await expect(call).rejects.toThrow(message);
    expect(contentsOf(world.root)).toEqual(before);
    chmodSync(world.project, 0o755);
  });

  it('a device and a pipe, without waiting for them', async () => {
    using world = replaceWorld();
    const { execFileSync } = await import('node:child_process');
    execFileSync('mkfifo', [world.at('pipe.md')]);
    const change = { ...world.change('AGENTS.md', 'new'), path: world.at('pipe.md') };
    await expect(world.replace([change])).rejects.toThrow(/expected a regular file/);
  });

  it('29: a link that was swapped since the caller looked', async () => {
    using world = replaceWorld({ 'AGENTS.md': 'same', 'OTHER.md': 'same' });
    symlinkSync('AGENTS.md', world.at('CLAUDE.md'));
    const change = { ...world.change('CLAUDE.md', 'new'), realPath: world.at('AGENTS.md') };
    unlinkSync(world.at('CLAUDE.md'));
    symlinkSync('OTHER.md', world.at('CLAUDE.md'));
    await expect(world.replace([change])).rejects.toThrow(/led to .*AGENTS\.md, and leads to .*OTHER\.md now/);
    expect(world.all()).toEqual({ 'AGENTS.md': 'same', 'OTHER.md': 'same' });
  });
});

describe('between check and replacement', () => {
  const early: readonly Moment[] = ['checked', 'journaled', 'drafted'];
  it.each(early)('a file that is edited in place stays as edited (%s)', async (moment) => {
    using world = replaceWorld({ 'AGENTS.md': 'old\n', 'b.md': 'b' });
    const changes = [world.change('b.md', 'new b'), world.change('AGENTS.md', 'new')];
    const onMoment = when(moment, () => appendFileSync(world.at('AGENTS.md'), 'mine\n'));
    await expect(world.replace(changes, { onMoment })).rejects.toThrow(/somebody changed it/);
    expect(world.all()).toEqual({ 'AGENTS.md': 'old\nmine\n', 'b.md': 'b' });
  });

  it.each(early)('a file that an editor put in its place stays (%s)', async (moment) => {
    using world = replaceWorld();
    const onMoment = when(moment, () => {
      writeFileSync(world.at('AGENTS.md~'), 'mine\n');
      renameSync(world.at('AGENTS.md~'), world.at('AGENTS.md'));
    });
    await expect(world.replace([world.change('AGENTS.md', 'new')], { onMoment })).rejects.toMatchObject(REFUSED);
    expect(world.all()).toEqual({ 'AGENTS.md': 'mine\n' });
  });

  it.each(early)('a file that was deleted stays deleted, one that appeared stays (%s)', async (moment) => {
    using world = replaceWorld();
    const gone = world.replace([world.change('AGENTS.md', 'new')], {
      onMoment: when(moment, () => unlinkSync(world.at('AGENTS.md'))),
    });
    await expect(gone).rejects.toThrow(/not there any more/);
    expect(world.all()).toEqual({});
    const come = world.replace([world.change('n/b.md', 'new')], {
      id: 't2',
      onMoment: when(moment, () => world.write('n/b.md', 'mine')),
    });
    await expect(come).rejects.toMatchObject(REFUSED);
    expect(world.all()).toEqual({ 'n/b.md': 'mine' });
  });

  it.each(early)('a parent that is swapped for a link is not followed (%s)', async (moment) => {
    using world = replaceWorld({ 'docs/AGENTS.md': 'old' });
    const victim = join(world.root, 'victim');
    mkdirSync(victim);
    writeFileSync(join(victim, 'AGENTS.md'), 'old');
    const onMoment = when(moment, () => {
      renameSync(world.at('docs'), world.at('moved'));
      symlinkSync(victim, world.at('docs'));
    });
    await expect(world.replace([world.change('docs/AGENTS.md', 'new')], { onMoment })).rejects.toMatchObject(REFUSED);
    expect(contentsOf(victim)).toEqual({ 'AGENTS.md': 'old' });
    rmSync(world.at('docs'));
    expect(world.all()).toEqual({ 'moved/AGENTS.md': 'old' });
  });

  it.each(early)('no folder is made or removed behind a link that took the place of one above (%s)', async (moment) => {
    using world = replaceWorld({ 'docs/x.md': 'x' });
    const victim = join(world.root, 'victim');
    mkdirSync(join(victim, 'new'), { recursive: true });
    const onMoment = when(moment, () => {
      renameSync(world.at('docs'), world.at('moved'));
      symlinkSync(victim, world.at('docs'));
    });
    const change = world.replace([world.change('docs/new/deep/AGENTS.md', 'new')], { onMoment });
    await expect(change).rejects.toMatchObject(REFUSED);
    expect(readdirSync(victim, { recursive: true })).toEqual(['new']);
    rmSync(world.at('docs'));
    expect(world.all()).toEqual({ 'moved/x.md': 'x' });
  });

  it('a parent that is renamed after the replacement gets its old bytes back', async () => {
    using world = replaceWorld({ 'docs/AGENTS.md': 'old' });
    const onMoment = when('replaced', () => renameSync(world.at('docs'), world.at('moved')));
    await expect(world.replace([world.change('docs/AGENTS.md', 'new')], { onMoment })).rejects.toThrow(/was moved/);
    expect(world.all()).toEqual({ 'moved/AGENTS.md': 'old' });
  });

  it('a link that is swapped after the replacement: the file has its old bytes again', async () => {
    using world = replaceWorld({ 'AGENTS.md': 'old', 'OTHER.md': 'other' });
    symlinkSync('AGENTS.md', world.at('CLAUDE.md'));
    const onMoment = when('replaced', () => {
      unlinkSync(world.at('CLAUDE.md'));
      symlinkSync('OTHER.md', world.at('CLAUDE.md'));
    });
    await expect(world.replace([world.change('CLAUDE.md', 'new')], { onMoment })).rejects.toThrow(/was moved/);
    expect(world.all()).toEqual({ 'AGENTS.md': 'old', 'OTHER.md': 'other' });
  });

  it('what somebody writes over the new bytes stays, and the other files go back', async () => {
    using world = replaceWorld({ 'AGENTS.md': 'old', 'b.md': 'b' });
    const changes = [world.change('b.md', 'new b'), world.change('AGENTS.md', 'new')];
    const onMoment = when('replaced', () => world.write('AGENTS.md', 'mine'));
    await expect(world.replace(changes, { onMoment })).rejects.toThrow(/somebody changed it/);
    expect(world.all()).toEqual({ 'AGENTS.md': 'mine', 'b.md': 'b' });
    expect(readFileSync(join(world.journal, 't1', '2.before'), 'utf8')).toBe('old');
  });

  it('what somebody writes into the old file, held open, is put back', async () => {
    using world = replaceWorld({ 'AGENTS.md': 'old\n' });
    const { openSync, writeSync, closeSync } = await import('node:fs');
    const editor = openSync(world.at('AGENTS.md'), 'a');
    const onMoment = when('replaced', () => writeSync(editor, 'mine\n'));
    await expect(world.replace([world.change('AGENTS.md', 'new')], { onMoment })).rejects.toThrow(
      /somebody changed it/,
    );
    closeSync(editor);
    expect(world.all()).toEqual({ 'AGENTS.md': 'old\nmine\n' });
  });

  it('what a process saves again and again is never lost: refused, or put back', async () => {
    using world = replaceWorld({ 'AGENTS.md': 'line 0\n' });
    const { spawn } = await import('node:child_process');
    const editor = spawn(process.execPath, ['-e', SAVE_AGAIN_AND_AGAIN, world.at('AGENTS.md')]);
    const lost = new Promise<string>((done) => editor.stdout.setEncoding('utf8').once('data', done));
    for (let id = 0; editor.exitCode === null; id++) {
      const change = world.change('AGENTS.md', `${world.read('AGENTS.md')}ours\n`);
      await world.replace([change], { id: `t${id}` }).catch((error) => expect(error).toMatchObject(REFUSED));
    }
    expect(await lost).toBe('0');
  });

  it('a second name that appears is not parted', async () => {
    using world = replaceWorld();
    const onMoment = when('drafted', () => linkSync(world.at('AGENTS.md'), world.at('twin.md')));
    await expect(world.replace([world.change('AGENTS.md', 'new')], { onMoment })).rejects.toMatchObject(REFUSED);
    expect(world.all()).toEqual({ 'AGENTS.md': 'old\n', 'twin.md': 'old\n' });
  });
});
