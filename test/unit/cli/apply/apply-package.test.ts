import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkillOptTrainer } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { readSkill } from '../../../../src/app/wire-run.ts';
import { runCli } from '../../../../src/cli/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const FILES = {
  'pdf/SKILL.md': '---\nname: pdf\ndescription: Reads.\n---\n\nSee references/a.md.\n',
  'pdf/references/a.md': 'one\r\ntwo\r\n',
  'pdf/references/old.md': 'old\n',
  'pdf/scripts/run.sh': '#!/bin/sh\necho one\n',
  'pdf/assets/x.txt': 'x',
};
const PROSE = [
  { op: 'replace', file: 'references/a.md', target: 'two', content: 'three' },
  { op: 'create_file', file: 'references/new/b.md', content: 'new' },
  { op: 'delete_file', file: 'references/old.md' },
];
const SCRIPTS = [
  { op: 'replace', file: 'scripts/run.sh', target: 'one', content: 'two' },
  { op: 'create_file', file: 'scripts/new.sh', content: '#!/bin/sh\necho new' },
];

/** A project whose skill was trained as a package, and how commands are run in it. */
async function trainedPackage(edits: readonly object[]) {
  const folder = tempFolder(FILES);
  const at = (name: string) => join(folder.path, name);
  const parts = ['body', 'references', 'scripts'] as ('body' | 'references' | 'scripts')[];
  const { text, digest } = await readSkill(at('pdf'), { parts });
  const item = { id: '1' };
  await new SkillOptTrainer({
    env: {
      name: 'levels',
      getItems: (split) => [{ ...item, id: split }],
      rolloutOne: async ({ skill }) => ({ hard: Number(skill !== text), soft: Number(skill !== text) }),
    },
    target: scripted('target', () => ''),
    optimizer: scripted('optimizer', () => JSON.stringify({ patch: { reasoning: '', edits } })),
    initialSkill: text,
    skillSource: { path: '../../pdf/SKILL.md', digest },
    config: { parts, outRoot: at('runs/run'), numEpochs: 1, gate: 'strict', editBudget: 20, finalPasses: 0 },
  }).train();
  return {
    ...folder,
    at,
    read: (name: string) => readFileSync(at(`pdf/${name}`), 'utf8'),
    async run(...argv: string[]) {
      const io = captureIo({ cwd: folder.path, env: { SKILLOPT_HOME: at('.state'), HOME: folder.path } });
      const code = await runCli(argv, io);
      return { code, out: io.out(), err: io.err() };
    },
  };
}

const isAsBefore = (project: { at(name: string): string }) =>
  Object.entries(FILES).every(([name, text]) => readFileSync(project.at(name), 'utf8') === text);

describe('apply of a package', () => {
  it('writes, creates and deletes its files, and takes all of it back byte for byte', async () => {
    using project = await trainedPackage(PROSE);
    const { code, out } = await project.run('apply', 'run', '--yes');
    expect([code, project.read('references/a.md'), project.read('references/new/b.md')]).toEqual([
      0,
      'one\r\nthree\r\n',
      'new\n',
    ]);
    expect(existsSync(project.at('pdf/references/old.md'))).toBe(false);
    expect(out).toContain('references/new/b.md created');
    const again = await project.run('apply', 'run', '--yes');
    expect(again.out).toContain('holds the trained text already');
    const undone = await project.run('apply', 'run', '--undo');
    expect([undone.code, isAsBefore(project)]).toEqual([0, true]);
    expect(existsSync(project.at('pdf/references/new'))).toBe(false);
  });

  it('does not write scripts unless that is said by itself', async () => {
    using project = await trainedPackage([...PROSE, ...SCRIPTS]);
    const refused = await project.run('apply', 'run', '--yes');
    expect([refused.code, isAsBefore(project)]).toEqual([2, true]);
    expect(refused.err).toMatch(/scripts\/new\.sh, scripts\/run\.sh would change.*--yes --scripts/s);
    const { code } = await project.run('apply', 'run', '--yes', '--scripts');
    expect([code, project.read('scripts/run.sh')]).toEqual([0, '#!/bin/sh\necho two\n']);
    expect(statSync(project.at('pdf/scripts/new.sh')).mode & 0o777).toBe(0o755);
    await project.run('apply', 'run', '--undo');
    expect([isAsBefore(project), existsSync(project.at('pdf/scripts/new.sh'))]).toEqual([true, false]);
  });

  it('writes nothing when one file was edited since', async () => {
    using project = await trainedPackage(PROSE);
    writeFileSync(project.at('pdf/references/a.md'), 'mine\n');
    const { code, err } = await project.run('apply', 'run', '--yes');
    expect([code, err]).toEqual([
      expect.any(Number),
      expect.stringContaining('references/a.md is not the text that the run began from'),
    ]);
    expect([code === 0, existsSync(project.at('pdf/references/new'))]).toEqual([false, false]);
  });

  it('refuses to undo over an edit of any of them', async () => {
    using project = await trainedPackage(PROSE);
    await project.run('apply', 'run', '--yes');
    writeFileSync(project.at('pdf/references/new/b.md'), 'mine\n');
    const { code, err } = await project.run('apply', 'run', '--undo');
    expect([code === 0, err]).toEqual([false, expect.stringMatching(/b\.md was edited since/)]);
    expect(project.read('references/a.md')).toBe('one\r\nthree\r\n');
  });

  it('shows the change file by file', async () => {
    using project = await trainedPackage([...PROSE, ...SCRIPTS]);
    const { out } = await project.run('diff', 'run');
    expect(out).toMatch(/^--- initial\/references\/a\.md\t?$/m);
    expect(out).toMatch(/^\+\+\+ best\/scripts\/run\.sh\t?$/m);
    expect(out).not.toContain('=== file:');
  });
});
