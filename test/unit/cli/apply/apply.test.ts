import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { runDirectory } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../../src/cli/index.ts';
import { worldFiles } from '../../../e2e/project.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { hasTerminal, KEYS, runOnTerminal } from '../clone-terminal.ts';

const QUICK = {
  ...{ numEpochs: 1, batchSize: 12, proposalsPerBatch: 1, evalTest: true },
  ...{ target: 'simulated', optimizer: 'simulated', skill: 'pdf' },
};
const HEAD = '---\nname: pdf\ndescription: "Reads: PDF"   # as it stands\n---\n';

type Form = { readonly config?: object; readonly dress?: (text: string) => string };

/** A project whose skill is the SKILL.md of a folder, and how commands are run in it. */
function openProject({ config = {}, dress = (text) => HEAD + text }: Form = {}) {
  const { 'SKILL.md': skill = '', ...files } = worldFiles({ ...QUICK, ...config }, { train: 24, val: 40, test: 30 });
  return projectIn(tempFolder({ ...files, 'pdf/SKILL.md': dress(skill), 'pdf/references/a.md': 'A\n' }));
}

function projectIn(folder: ReturnType<typeof tempFolder>) {
  const at = (name: string) => join(folder.path, name);
  return {
    ...folder,
    at,
    read: (name = 'pdf/SKILL.md') => readFileSync(at(name), 'utf8'),
    write: (text: string, name = 'pdf/SKILL.md') => writeFileSync(at(name), text),
    async run(...argv: string[]) {
      const env = { SKILLOPT_HOME: join(folder.path, '.state'), HOME: folder.path };
      const io = captureIo({ cwd: folder.path, env });
      const code = await runCli(argv, io);
      return { code, out: io.out(), err: io.err(), json: () => JSON.parse(io.out()) };
    },
  };
}

let template: Promise<ReturnType<typeof openProject>> | undefined;

/** A copy of a project that was trained once for all tests, with what a run of it proved. */
async function trained() {
  template ??= (async () => {
    const made = openProject();
    expect((await made.run('train', '--quiet')).code).toBe(0);
    return made;
  })();
  const project = projectIn(tempFolder());
  cpSync((await template).path, project.path, { recursive: true });
  return project;
}

describe('apply', () => {
  it('writes what was learned into the folder that the run began from, and nothing else', async () => {
    using project = await trained();
    const before = project.read();
    chmodSync(project.at('pdf/SKILL.md'), 0o640);
    const { code, out } = await project.run('apply', 'run');
    const after = project.read();
    expect([code, after.startsWith(HEAD), after === before]).toEqual([0, true, false]);
    expect(after).toBe(project.read('runs/run/best_skill.md'));
    expect(statSync(project.at('pdf/SKILL.md')).mode & 0o777).toBe(0o640);
    expect(readdirSync(project.at('pdf')).sort()).toEqual(['SKILL.md', 'references']);
    expect(out).toMatch(/^\+- Write /m);
    expect(out).toMatch(
      /^Better: [\d.]+ → [\d.]+ % on \d+ tasks it never saw, proven, \+[\d.]+ to \+[\d.]+ points\.$/m,
    );
    expect(out).toContain(`applied ${project.at('pdf/SKILL.md')}\n`);
    expect(out).toContain('undo   npx skillopt apply run --undo\n');
    const backup = out.match(/^ {2}before (.*)$/m)![1]!;
    expect([readFileSync(backup, 'utf8'), statSync(backup).mode & 0o777]).toEqual([before, 0o600]);
  });

  it('--undo restores it byte for byte, once; then it can be applied again', async () => {
    using project = await trained();
    const before = project.read();
    expect((await project.run('apply', 'run', '--undo')).err).toContain('run is not applied');
    await project.run('apply', 'run');
    const { code, out } = await project.run('apply', 'run', '--undo');
    expect([code, project.read()]).toEqual([0, before]);
    expect(out).toContain('SKILL.md is byte for byte what it was before');
    expect((await project.run('apply', 'run', '--undo')).code).toBe(2);
    expect((await project.run('apply', 'run', '--json')).json()).toMatchObject({ isApplied: true, isProven: true });
    expect((await project.run('apply', 'run', '--undo', '--json')).json()).toMatchObject({ how: 'restored' });
    expect(project.read()).toBe(before);
  });

  it('refuses a document that was edited since the run began, and says how to see the difference', async () => {
    using project = await trained();
    appendFileSync(project.at('pdf/SKILL.md'), 'Mine.\n');
    const edited = project.read();
    const { code, err } = await project.run('apply', 'run', '--yes');
    expect([code, project.read()]).toEqual([2, edited]);
    expect(err).toContain('pdf/SKILL.md is not the text that the run began from');
    expect(err).toContain(`diff -u runs/run/skills/skill_v0000.md ${project.at('pdf/SKILL.md')}`);
    expect(err).toContain('skillopt apply run --to PATH');
  });

  it('--undo in a copy leaves the document of the other project alone, and says how to undo it', async () => {
    using project = await trained();
    await project.run('apply', 'run');
    const applied = project.read();
    using folder = tempFolder();
    cpSync(project.path, folder.path, { recursive: true });
    const io = captureIo({ cwd: folder.path, env: { SKILLOPT_HOME: project.at('.state'), HOME: folder.path } });
    expect(await runCli(['apply', 'run', '--undo'], io)).toBe(2);
    expect(io.err()).toContain(`--undo --to ${project.at('pdf/SKILL.md')}`);
    expect(project.read()).toBe(applied);
    expect((await project.run('apply', 'run', '--undo')).code).toBe(0);
  });

  it('is no riddle for the next training, which says that the run is applied and how to train on', async () => {
    using project = await trained();
    await project.run('apply', 'run');
    const { code, err } = await project.run('train', '--quiet');
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('runs/run has trained this skill, and its best version is applied already'),
    ]);
    expect(err).toContain('hint: To train on from there, start over (--fresh).');
    expect(err, 'a finished run has nothing to resume').not.toContain('--undo');
    expect((await project.run('train', '--quiet', '--fresh')).code).toBe(0);
  });

  it('refuses a run that is being trained, and takes one that was stopped', async () => {
    using project = await trained();
    const before = project.read();
    const open = await runDirectory(project.at('runs/run')).open();
    const { code, err } = await project.run('apply', 'run', '--yes');
    await open[Symbol.asyncDispose]();
    expect([code, err, project.read()]).toEqual([
      5,
      expect.stringMatching(/runs\/run is being trained\nhint: Wait/),
      before,
    ]);
    expect((await project.run('apply', 'run', '--yes')).code).toBe(0);
  });

  it('refuses an empty path: a variable of a script was not set', async () => {
    using project = await trained();
    const before = project.read();
    expect(await project.run('apply', 'run', '--to', '')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--to needs a path'),
    });
    expect(project.read()).toBe(before);
  });

  it('--undo refuses a document that was edited since it was applied, and says where the old bytes are', async () => {
    using project = await trained();
    const before = project.read();
    const { backup } = (await project.run('apply', 'run', '--json')).json();
    appendFileSync(project.at('pdf/SKILL.md'), 'Mine.\n');
    const { code, err } = await project.run('apply', 'run', '--undo');
    expect([code, project.read().endsWith('Mine.\n')]).toEqual([2, true]);
    expect(err).toContain('was edited since the skill was applied');
    expect(err).toContain(`diff -u ${backup}`);
    project.write(before);
    expect((await project.run('apply', 'run', '--undo')).out).toContain('is back already; nothing was written');
  });

  it('means the only run when none is named, and asks which where there are several', async () => {
    using project = await trained();
    expect(await project.run('show')).toMatchObject({ code: 0, out: expect.stringContaining('Better') });
    expect(await project.run('diff')).toMatchObject({ code: 0, out: expect.stringContaining('+++ best') });
    expect(await project.run('apply')).toMatchObject({ code: 0, out: expect.stringContaining('applied') });
    cpSync(project.at('runs/run'), project.at('runs/other'), { recursive: true });
    const unsure = await project.run('apply', '--undo');
    expect(unsure).toMatchObject({ code: 2, err: expect.stringMatching(/which run is meant[\s\S]*other/) });
    rmSync(project.at('runs'), { recursive: true });
    expect(await project.run('apply')).toMatchObject({ code: 2, err: expect.stringContaining('skillopt train') });
  });

  it('a second time writes nothing', async () => {
    using project = await trained();
    await project.run('apply', 'run');
    const { code, json } = await project.run('apply', 'run', '--json');
    expect([code, json()]).toMatchObject([0, { isApplied: false, reason: 'same' }]);
  });

  it('--to takes a folder with the same skill or with none, and leaves another skill alone', async () => {
    using project = await trained();
    const seed = project.read();
    expect((await project.run('apply', 'run', '--to', 'new/pdf')).code).toBe(0);
    expect(project.read('new/pdf/SKILL.md')).toBe(project.read('runs/run/best_skill.md'));
    cpSync(project.at('pdf'), project.at('copy'), { recursive: true });
    expect((await project.run('apply', 'run', '--to', 'copy')).code).toBe(0);
    project.write('# Other\n', 'other.md');
    expect((await project.run('apply', 'run', '--to', 'other.md')).code).toBe(2);
    expect([project.read(), project.read('other.md')]).toEqual([seed, '# Other\n']);
    expect((await project.run('apply', 'run', '--undo', '--to', 'new/pdf')).out).toContain(
      'is gone: apply had made it',
    );
    expect([existsSync(project.at('new')), project.read('copy/SKILL.md') === seed]).toEqual([false, false]);
    expect((await project.run('apply', 'run', '--undo')).code).toBe(0);
    expect(project.read('copy/SKILL.md')).toBe(seed);
  });

  it('follows a link to the file behind it', async () => {
    using project = await trained();
    cpSync(project.at('pdf/SKILL.md'), project.at('real.md'));
    rmSync(project.at('pdf/SKILL.md'));
    symlinkSync('../real.md', project.at('pdf/SKILL.md'));
    const { out } = await project.run('apply', 'run');
    expect(out).toContain(`applied ${project.at('real.md')}\n`);
    expect(project.read('real.md')).toBe(project.read('runs/run/best_skill.md'));
    expect((await project.run('apply', 'run', '--undo')).code).toBe(0);
  });

  it('says that a document is gone, and what to do with a night', async () => {
    using project = await trained();
    rmSync(project.at('pdf/SKILL.md'));
    expect((await project.run('apply', 'run')).err).toContain('SKILL.md is not there any more');
    expect((await project.run('apply', 'night-3')).err).toContain('skillopt sleep adopt --night 3');
    expect((await project.run('apply', 'none')).err).toContain('Runs in runs: run');
  });

  it('asks where to write what began from no file', async () => {
    using project = openProject({ config: { skill: undefined } });
    expect((await project.run('train', '--quiet')).code).toBe(0);
    const { code, err } = await project.run('apply', 'run', '--yes');
    expect([code, err]).toEqual([2, expect.stringContaining('run did not begin from a file')]);
    expect(err).toContain('skillopt apply run --to PATH');
    expect((await project.run('apply', 'run', '--yes', '--to', 'learned')).code).toBe(0);
    expect(project.read('learned/SKILL.md')).toBe(project.read('runs/run/best_skill.md'));
  });

  it.skipIf(!hasTerminal)(
    'asks on a terminal, after it has shown the change: no writes nothing, yes writes',
    async () => {
      using project = await trained();
      const seed = project.read();
      const place = { cwd: project.path, env: { HOME: project.path, SKILLOPT_HOME: project.at('.state') } };
      const no = await runOnTerminal(['apply', 'run'], place, [
        [/Better: .*Write this into .*SKILL\.md\?/s, KEYS.enter],
      ]);
      expect([no.code, no.screen, project.read()]).toEqual([1, expect.stringContaining('Nothing was written.'), seed]);
      const yes = await runOnTerminal(['apply', 'run'], place, [[/Write this into/, KEYS.yes]]);
      expect([yes.code, project.read() === seed]).toEqual([0, false]);
    },
  );

  it('says when git is dirty', async () => {
    using project = await trained();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: project.path });
    git('init', '-q');
    writeFileSync(project.at('.gitignore'), 'runs\n.state\n');
    git('add', '.');
    git('commit', '-qm', 'all');
    writeFileSync(project.at('mine.txt'), 'x');
    expect((await project.run('apply', 'run')).out).toMatch(
      /git: 1 change not committed in the tree around .*SKILL\.md/,
    );
  });

  it('keeps line endings and the byte order mark', async () => {
    using project = openProject({ dress: (text) => `\uFEFF${(HEAD + text).replaceAll('\n', '\r\n')}` });
    const before = project.read();
    expect((await project.run('train', '--quiet')).code).toBe(0);
    expect((await project.run('apply', 'run', '--yes')).code).toBe(0);
    const after = project.read();
    expect(after).not.toBe(before);
    expect(after.startsWith(`\uFEFF${HEAD.replaceAll('\n', '\r\n')}`)).toBe(true);
    expect(after).not.toMatch(/(?<!\r)\n/);
    await project.run('apply', 'run', '--undo');
    expect(project.read()).toBe(before);
  });

  it('shows and counts no line as changed whose ending alone is another, and trains with line feeds', async () => {
    const crlf = (text: string) => text.replaceAll('\n', '\r\n');
    using plain = await trained();
    using project = openProject({ dress: (text) => crlf(HEAD + text) });
    const train = await project.run('train', '--quiet');
    expect(project.read('runs/run/best_skill.md')).toBe(plain.read('runs/run/best_skill.md'));
    expect((await project.run('diff')).out).toBe((await plain.run('diff')).out);
    const count = /\d+ lines? added(, \d+ removed)?/.exec((await plain.run('show')).out)![0];
    expect(train.out).toContain(`${count}.`);
    await project.run('apply', 'run');
    expect(project.read()).toBe(crlf(plain.read('runs/run/best_skill.md')));
  });

  it('compares a document of both line endings with what was trained without them', async () => {
    using project = openProject({ dress: (text) => `${HEAD}${text.trimEnd()}\r\n` });
    await project.run('train', '--quiet');
    expect((await project.run('diff')).out).not.toMatch(/^-(?!--)/m);
    expect((await project.run('show')).out).toMatch(/\d lines? added\.$/m);
    appendFileSync(project.at('pdf/SKILL.md'), 'Mine.\n');
    expect((await project.run('apply', 'run')).err).toContain('diff -u --strip-trailing-cr runs/run');
  });

  it('does not write what is not proven without --yes', async () => {
    using project = openProject({ config: { preset: 'paper', evalTest: false } });
    const before = project.read();
    expect((await project.run('train', '--quiet')).code).toBe(0);
    const { code, err } = await project.run('apply', 'run');
    expect([code, project.read()]).toEqual([2, before]);
    expect(err).toMatch(/Not proven: .+/);
    expect(err).toContain('skillopt apply run --yes');
    expect((await project.run('apply', 'run', '--yes', '--json')).json()).toMatchObject({ isProven: false });
    expect(project.read()).toBe(project.read('runs/run/best_skill.md'));
  });
});
