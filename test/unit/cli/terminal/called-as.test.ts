import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../../src/cli/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { COMMAND } from '../../../support/compiled.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

type Started = { readonly script?: string; readonly env?: Record<string, string>; readonly cwd?: string };

/** What is said about a project that is not there, with the program started in that way. */
async function hint({ script, env = {}, cwd = '/nowhere' }: Started): Promise<string> {
  const io = { ...captureIo({ env, cwd }), ...(script === undefined ? {} : { argv: ['node', script] }) };
  await runCli(['train'], io);
  return /Write one with: (.*?)\. Or/.exec(io.err())![1]!;
}

describe('hints name the project file that was named', () => {
  it.each([['--config', 'my file.yaml'], ['--config=my file.yaml']])('%s', async (...config) => {
    const settings = { tasks: 't.jsonl', target: 'simulated', optimizer: 'simulated', maxCalls: 12 };
    const tasks = Array.from({ length: 12 }, (_, id) => JSON.stringify({ id, question: `${id}?`, answers: ['a'] }));
    using folder = tempFolder({ 'my file.yaml': JSON.stringify(settings), 't.jsonl': tasks.join('\n') });
    const io = captureIo({ cwd: folder.path });
    await runCli(['train', '--ignore-estimate', ...config], io);
    const shown = io.out() + io.err();
    expect(shown).toMatch(/npx skillopt train --config 'my file\.yaml' --max-calls \d+/);
    expect(shown).not.toMatch(/skillopt (train|estimate|doctor)(?! --config)/);
    const later = captureIo({ cwd: folder.path });
    await runCli(['show'], later);
    expect(later.out()).toContain("npx skillopt train --config 'my file.yaml' --max-calls 310");
    const page = readFileSync(
      join(folder.path, 'runs', readdirSync(join(folder.path, 'runs'))[0]!, 'report.md'),
      'utf8',
    );
    expect(page).toContain("`npx skillopt train --config 'my file.yaml'` resumes");
    const help = captureIo({ cwd: folder.path });
    await runCli(['train', '--help', ...config], help);
    expect(help.out()).not.toContain('my file.yaml');
  });
});

describe('hints name the program as it was started', () => {
  const PATH = '/usr/bin:/home/me/.local/bin:/home/me/app/node_modules/.bin';

  it.each<[string, Started, string]>([
    ['installed for oneself', { script: '/home/me/.local/bin/skillopt', env: { PATH } }, 'skillopt init'],
    [
      'from a script of npm',
      { script: '/usr/bin/skillopt', env: { PATH, npm_command: 'run-script' } },
      'skillopt init',
    ],
    [
      'by npx',
      { script: '/home/me/app/node_modules/.bin/skillopt', env: { PATH, npm_command: 'exec' } },
      'npx skillopt init',
    ],
    ['by its path in a project', { script: '/srv/node_modules/.bin/skillopt', env: { PATH } }, 'npx skillopt init'],
    [
      'with the bin folder on PATH',
      { script: '/home/me/app/node_modules/.bin/skillopt', env: { PATH } },
      'skillopt init',
    ],
    ['as a file', { script: '/src/clone/bin/skillopt.mjs', cwd: '/src/clone' }, 'node bin/skillopt.mjs init'],
    ['from below', { script: '/src/clone/bin/skillopt.mjs', cwd: '/src/clone/my' }, 'node ../bin/skillopt.mjs init'],
    ['from afar', { script: '/c/bin/skillopt.mjs', cwd: '/home/me/a/b' }, 'node /c/bin/skillopt.mjs init'],
    [
      'by npm start in a clone',
      { script: '/src/clone/bin/skillopt.mjs', env: { npm_command: 'start', npm_package_name: 'skillopt' } },
      'npx skillopt init',
    ],
    ['in another way', {}, 'npx skillopt init'],
  ])('%s', async (_, started, name) => expect(await hint(started)).toBe(name));

  it('in a real process, found on PATH', async () => {
    await using folder = await tempFolder();
    const bin = join(folder.path, 'bin');
    mkdirSync(bin);
    symlinkSync(COMMAND, join(bin, 'skillopt'));
    const env = { PATH: `${bin}:${process.env.PATH}`, HOME: folder.path };
    const printed = execFileSync('sh', ['-c', 'skillopt train 2>&1 || true; skillopt train --help'], {
      cwd: folder.path,
      encoding: 'utf8',
      env,
    });
    expect(printed).toContain('Write one with: skillopt init.');
    expect(printed).toMatch(/^usage: skillopt train \[options\]/m);
    expect(printed).not.toContain('npx skillopt');
  });
});

describe('commands in a text', () => {
  const say = async (argv: string[], script: string, typed: 'skillopt' | 'skillopt-sleep' = 'skillopt') => {
    const io = { ...captureIo({ cwd: '/src', env: { HOME: '/nowhere' } }), argv: ['node', script] };
    await runCli(argv, io, typed);
    return io.out() + io.err();
  };

  it('are called alike in usage, examples and the guess at a mistyped option', async () => {
    const help = await say(['eval', '--help'], '/src/bin/skillopt.mjs');
    expect(help).toContain('usage: node bin/skillopt.mjs eval [options]');
    expect(help).toContain('  node bin/skillopt.mjs eval --skill SKILL.md --split val');
    expect(help).not.toMatch(/^ *skillopt eval/m);
    expect(await say(['eval', '--nope'], '/src/bin/skillopt.mjs')).toContain('See node bin/skillopt.mjs eval --help');
  });

  it('keep the short form of sleep', async () => {
    const help = await say(['run', '--help'], '/src/bin/skillopt-sleep.mjs', 'skillopt-sleep');
    expect(help).toContain('usage: node bin/skillopt-sleep.mjs run [options]');
    expect(await say(['run', '--nope'], '/src/bin/skillopt-sleep.mjs', 'skillopt-sleep')).toContain(
      'See node bin/skillopt-sleep.mjs run --help',
    );
  });
});

it('a task file that is not there: how to come by one', async () => {
  using folder = tempFolder({
    'skillopt.config.yaml': 'tasks: none.csv\ntarget: simulated\noptimizer: simulated\n',
  });
  const io = captureIo({ cwd: folder.path });
  expect(await runCli(['train'], io)).toBe(2);
  expect(io.err()).toMatch(/the task file .*none\.csv does not exist/);
  expect(io.err()).toMatch(/hint: .*npx skillopt tasks draft\. .*npx skillopt init DIR/);
});

describe('what init names as the next command', () => {
  it.each([
    ['the starter', {}],
    ['a project of what is there', { 'my skill/tasks.csv': 'question,answer\nWhat is 1 + 1?,2\nWhat is 2 + 2?,4\n' }],
  ])('works in the folder that it sends one to: %s', async (_, files) => {
    using folder = tempFolder(files);
    const script = join(folder.path, 'bin', 'skillopt.mjs');
    const io = { ...captureIo({ cwd: folder.path, env: { HOME: folder.path } }), argv: ['node', script] };
    expect([await runCli(['init', 'my skill', '--yes'], io), io.err()]).toEqual([0, '']);
    expect(io.out()).toContain("cd 'my skill'");
    expect(io.out()).toMatch(/node \.\.\/bin\/skillopt\.mjs (train|tasks draft)/);
    expect(io.out()).not.toContain('node bin/');
  });
});

describe('an option that does not exist', () => {
  const guess = async (argv: string) => {
    const io = captureIo();
    expect(await runCli(argv.split(' '), io)).toBe(2);
    return /Did you mean (\S+)\?/.exec(io.err())?.[1];
  };

  it.each([
    ['train --epochs 3', '--num-epochs'],
    ['train --model x', '--target'],
    ['train --lr 3', '--edit-budget'],
    ['train --num-epoch 3', '--num-epochs'],
    ['estimate --concurrency 3', '--workers'],
    ['eval --skill x --dataset x.csv', '--tasks'],
    ['train --zzz', undefined],
  ])('%s: %s', async (argv, meant) => expect(await guess(argv)).toBe(meant));
});

it('-v prints the version as --version and -V do', async () => {
  const print = async (flag: string) => {
    const io = captureIo();
    expect(await runCli([flag], io)).toBe(0);
    return io.out();
  };
  expect(await print('-v')).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect([await print('-V'), await print('--version')]).toEqual([await print('-v'), await print('-v')]);
});
