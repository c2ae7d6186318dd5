import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recoverReplacements } from '../../../../src/skills/index.ts';
import { programArgs } from '../../../support/compiled.ts';
import { isMissing } from '../../../support/machine.ts';
import { contentsOf, replaceWorld } from './replace-world.ts';

const CHILD = programArgs(new URL('./replace.child.ts', import.meta.url));

type Place = { readonly project: string; readonly journal: string };
type Started = {
  readonly names?: string;
  readonly text?: string;
  readonly dieAt?: string;
  readonly node?: readonly string[];
};

const argsOf = (
  { project, journal }: Place,
  { names = 'AGENTS.md', text = 'new\n', dieAt = '', node = [] }: Started,
) => [...node, ...CHILD, project, journal, names, text, dieAt];

function start(place: Place, started: Started = {}): Promise<string> {
  return new Promise((done) => {
    const child = spawn(process.execPath, argsOf(place, started));
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.on('close', () => done(text));
  });
}

const OLD = { 'AGENTS.md': 'old\n', 'docs/b.md': 'old b\n' };
const NEW = { 'AGENTS.md': 'new\n', 'docs/b.md': 'new\n' };
const names = Object.keys(OLD).join(',');

describe('kill -9', () => {
  it.each([
    ['checked', OLD],
    ['journaled', OLD],
    ['drafted', OLD],
    ['replaced', OLD],
    ['committed', NEW],
  ])('%s: the next call finds all old bytes or all new ones, and nothing beside them', async (dieAt, expected) => {
    using world = replaceWorld(OLD);
    expect(await start(world, { names, dieAt })).toBe('');
    const { left } = await recoverReplacements(world.journal);
    expect([left, world.all()]).toEqual([[], expected]);
    expect(readdirSync(world.journal).filter((name) => !/^p\d+$/.test(name))).toEqual([]);
    await world.replace([world.change('docs/b.md', 'newer\n')], { id: 'again' });
    expect(world.read('docs/b.md')).toBe('newer\n');
  });

  it('40: a lock whose owner is dead is taken over', async () => {
    using world = replaceWorld();
    await start(world, { dieAt: 'drafted' });
    expect(existsSync(join(world.journal, 'replace.lock'))).toBe(true);
    expect([await start(world), world.all()]).toEqual(['wrote', { 'AGENTS.md': 'new\n' }]);
  });

  it('leaves a file alone that somebody edited after the crash, and says where the old bytes are', async () => {
    using world = replaceWorld(OLD);
    await start(world, { names, dieAt: 'replaced' });
    world.write('AGENTS.md', 'new, and mine\n');
    const { restored, left } = await recoverReplacements(world.journal);
    expect(restored).toEqual([world.at('docs/b.md')]);
    expect(left).toMatchObject([{ path: world.at('AGENTS.md'), why: 'somebody changed it meanwhile' }]);
    expect(contentsOf(join(left[0]!.backup!, '..'))['1.before']).toBe('old\n');
    expect(world.all()).toEqual({ 'AGENTS.md': 'new, and mine\n', 'docs/b.md': 'old b\n' });
    expect(await recoverReplacements(world.journal)).toEqual({ restored: [], left: [] });
  });

  it('does not follow a link that took the place of a folder after the crash', async () => {
    using world = replaceWorld(OLD);
    await start(world, { names: 'docs/b.md', dieAt: 'replaced' });
    const victim = join(world.root, 'victim');
    mkdirSync(victim);
    writeFileSync(join(victim, 'b.md'), 'new\n');
    renameSync(world.at('docs'), world.at('moved'));
    symlinkSync(victim, world.at('docs'));
    const { left } = await recoverReplacements(world.journal);
    expect(left).toMatchObject([{ why: 'its folder was moved or swapped', backup: expect.any(String) }]);
    expect(contentsOf(victim)).toEqual({ 'b.md': 'new\n' });
  });
});

it('33: of four processes at once one works at a time, and the others say who does', async () => {
  using world = replaceWorld();
  const answers = await Promise.all(['1', '2', '3', '4'].map((text) => start(world, { text })));
  const told =
    /^(wrote|RUN_LOCKED .* is being written by process \d+ since [-\d]+ [:\d]+ UTC|DOCUMENT_REFUSED .*somebody changed it.*)$/;
  for (const answer of answers) expect(answer).toMatch(told);
  expect(answers).toContain('wrote');
  expect(readdirSync(world.project)).toEqual(['AGENTS.md']);
});

it('40: needs no hard links', async () => {
  using world = replaceWorld();
  const noLinks = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
    const refuse = () => Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM', syscall: 'link' });
    fs.linkSync = () => { throw refuse(); }; fs.promises.link = async () => { throw refuse(); }; syncBuiltinESMExports();`;
  const node = ['--import', `data:text/javascript,${encodeURIComponent(noLinks)}`];
  expect([await start(world, { node }), world.read('AGENTS.md')]).toEqual(['wrote', 'new\n']);
});

/** A file system of 64 kB in a name space of its own. */
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
const cannotMount = isMissing('a file system of its own (unshare, mount)', canMount);

describe('a full disk', () => {
  const large = 'x'.repeat(60_000);

  it.skipIf(cannotMount)('under the document leaves the old bytes, and no draft', () => {
    using world = replaceWorld({});
    const [node, ...args] = [process.execPath, ...argsOf(world, { text: large })];
    const script = `mount -t tmpfs -o size=64k tmpfs ${world.project} && head -c 20000 /dev/zero > ${world.project}/AGENTS.md
      "$@"; echo; ls -A ${world.project}; sha256sum < ${world.project}/AGENTS.md; head -c 20000 /dev/zero | sha256sum`;
    const out = execFileSync('unshare', ['-rm', 'sh', '-c', script, 'sh', node!, ...args], { encoding: 'utf8' });
    const [answer, names, now, before] = out.trim().split('\n');
    expect(answer).toMatch(/^DOCUMENT_REFUSED .*AGENTS\.md was not written: the disk is full/);
    expect([names, now]).toEqual(['AGENTS.md', before]);
  });

  it.skipIf(cannotMount)('under the journal changes nothing', () => {
    using world = replaceWorld({ 'AGENTS.md': large });
    mkdirSync(world.journal);
    const [node, ...args] = [process.execPath, ...argsOf(world, {})];
    const script = `mount -t tmpfs -o size=16k tmpfs ${world.journal} && "$@"`;
    const out = execFileSync('unshare', ['-rm', 'sh', '-c', script, 'sh', node!, ...args], { encoding: 'utf8' });
    expect(out).toMatch(/^DOCUMENT_REFUSED .*the disk is full/);
    expect(world.all()).toEqual({ 'AGENTS.md': large });
  });

  it('as a limit on the size of files leaves the old bytes, and no draft', () => {
    using world = replaceWorld();
    const [node, ...args] = [process.execPath, ...argsOf(world, { text: 'x'.repeat(100_000) })];
    const limited = ['-c', 'ulimit -f 16; TSX_DISABLE_CACHE=1 "$@"', 'sh', node!, ...args];
    const { stdout } = spawnSync('sh', limited, { encoding: 'utf8' });
    expect(stdout).toMatch(/^DOCUMENT_REFUSED .*AGENTS\.md was not written: a file would be larger/);
    expect(world.all()).toEqual({ 'AGENTS.md': 'old\n' });
  });
});
