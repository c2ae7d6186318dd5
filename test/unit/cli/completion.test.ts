import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { isMissing } from '../../support/machine.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function scriptFor(shell: string): Promise<string> {
  const io = captureIo({ cwd: '/nowhere', env: { HOME: '/nowhere' } });
  expect([await runCli(['completion', shell], io), io.err()]).toEqual([0, '']);
  return io.out();
}

describe('completion in bash', () => {
  let script = '';
  beforeAll(async () => {
    script = await scriptFor('bash');
  });

  /** What a tab behind the line offers, in a real bash in a folder with two runs. */
  function offered(line: string, program = 'skillopt'): string[] {
    using folder = tempFolder({ 'runs/starter/events.jsonl': '', 'runs/second/events.jsonl': '', 'tasks.csv': '' });
    const words = [program, ...line.split(' ')];
    const press = `source ./script; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _skillopt; printf '%s\\n' "\${COMPREPLY[@]}"`;
    writeFileSync(join(folder.path, 'script'), script);
    const printed = execFileSync('bash', ['--norc', '-c', press], { cwd: folder.path, encoding: 'utf8' });
    return printed.split('\n').filter(Boolean);
  }

  it.each([
    ['tra', ['train']],
    ['train --num-ep', ['--num-epochs']],
    ['train --gate-metric ', ['hard', 'soft', 'mixed']],
    ['init --format ', ['yaml', 'mjs']],
    ['show s', ['starter', 'second']],
    ['apply st', ['starter']],
    ['diff --root ', ['runs']],
    ['train --tasks ta', ['tasks.csv']],
    ['sleep ad', ['adopt']],
    ['sleep adopt --ni', ['--night']],
    ['cache cl', ['clear']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['estimate --zzz', []],
  ])('%s', (line, words) => expect(offered(line).toSorted()).toEqual(expect.arrayContaining(words.toSorted())));

  it('offers nothing else', () => {
    expect(offered('tra')).toEqual(['train']);
    expect(offered('train --zzz')).toEqual([]);
    expect(offered('show --r')).toEqual(['--root']);
  });

  it('knows the short name of sleep', () => expect(offered('roll', 'skillopt-sleep')).toEqual(['rollback']));
});

describe.each(['bash', 'zsh', 'fish'] as const)('the script for %s', (shell) => {
  it.skipIf(isMissing(shell))('is read by that shell without a complaint', async () => {
    using folder = tempFolder({ script: await scriptFor(shell) });
    const { status, stderr } = spawnSync(shell, ['-n', 'script'], { cwd: folder.path, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('names each command', async () => {
    const script = await scriptFor(shell);
    for (const name of ['train', 'apply', 'estimate', 'completion']) expect(script).toContain(name);
  });
});
