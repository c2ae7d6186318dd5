import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { isPortableName, portableName } from '../../../src/core/text/index.ts';
import { runDirectory } from '../../../src/stores/index.ts';
import { worldFiles } from '../../e2e/project.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const REFUSED_BY_WINDOWS = [
  'CON',
  'nul',
  'com1.txt',
  'Aux.run',
  'lpt9',
  'COM¹',
  'CONIN$',
  'run.',
  'run ',
  'a:b',
  'a?b',
  'a\tb',
  '',
];
const TAKEN_EVERYWHERE = ['run', 'console', 'com10', 'null.txt', '.eval', 'my run', 'ä-1', 'a.con'];

const project = (more = {}) =>
  worldFiles({ numEpochs: 1, batchSize: 12, target: 'simulated', optimizer: 'simulated', ...more });
const command = async (cwd: string, ...line: string[]) => {
  const io = captureIo({ cwd });
  return { code: await runCli(line, io), out: io.out(), err: io.err() };
};

describe('a name that every system takes', () => {
  it('is no device of Windows, and has no character and no end that Windows drops', () => {
    expect(REFUSED_BY_WINDOWS.filter(isPortableName)).toEqual([]);
    expect(TAKEN_EVERYWHERE.filter((name) => !isPortableName(name))).toEqual([]);
  });

  it('is made from any other, and is left alone where it is one', () => {
    expect(REFUSED_BY_WINDOWS.map(portableName).filter((name) => !isPortableName(name))).toEqual([]);
    expect(TAKEN_EVERYWHERE.map(portableName)).toEqual(TAKEN_EVERYWHERE);
    expect(['aux', 'com1.txt', 'a:b.'].map(portableName)).toEqual(['aux-1', 'com1-1.txt', 'a-b']);
  });
});

describe('a run with a name that Windows refuses', () => {
  it.each(['CON', 'com1.txt', 'run.'])('is not begun as %s, and doctor says so', async (name) => {
    using folder = tempFolder(project({ name }));
    for (const line of ['train', 'doctor']) {
      const { code, out, err } = await command(folder.path, line);
      expect([line, code]).toEqual([line, 2]);
      expect(out + err).toContain(`expected a name that a folder can have on every system, got "${name}"`);
    }
    expect(existsSync(join(folder.path, 'runs'))).toBe(false);
  });

  it('is not begun by outRoot or by a program either', async () => {
    using folder = tempFolder(project());
    const { code, err } = await command(folder.path, 'train', '--out-root', 'kept/nul');
    expect(code).toBe(2);
    expect(err).toContain('expected a name that a folder can have on every system, got "nul"');
    await expect(runDirectory(join(folder.path, 'aux')).open()).rejects.toMatchObject({ code: 'RUN_UNWRITABLE' });
    expect(existsSync(join(folder.path, 'aux'))).toBe(false);
  });

  it('opens where it is there already, and is resumed', async () => {
    using folder = tempFolder(project({ name: 'aux' }));
    expect((await command(folder.path, 'train', '--quiet', '--name', 'run')).code).toBe(0);
    renameSync(join(folder.path, 'runs', 'run'), join(folder.path, 'runs', 'aux'));
    expect((await command(folder.path, 'runs')).out).toContain('aux');
    expect((await command(folder.path, 'show', 'aux')).code).toBe(0);
    expect((await command(folder.path, 'train', '--quiet')).code).toBe(0);
  });
});

it('init names a project in a folder called nul otherwise, and skill lint warns of such a skill', async () => {
  const skill = '---\nname: nul\ndescription: Empties things.\n---\n\n# Nul\n\nEmpty it.\n';
  using folder = tempFolder({ 'nul/SKILL.md': skill });
  const { code, err } = await command(join(folder.path, 'nul'), 'init', '--yes');
  expect(code, err).toBe(0);
  const { out } = await command(join(folder.path, 'nul'), 'doctor', '--json');
  expect(out).not.toContain('every system');
  const linted = await command(folder.path, 'skill', 'lint', 'nul');
  expect(linted.out + linted.err).toContain('name: expected a name that a folder can have on every system, got "nul"');
});
