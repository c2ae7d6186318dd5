import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../src/cli/command-table.ts';
import { exitCodeOf, Interrupted, interruptible, printError } from '../../../src/cli/errors.ts';
import { runCli } from '../../../src/cli/index.ts';
import { buildCommand } from '../../../src/cli/run-command.ts';
import { openTerminal } from '../../../src/cli/terminal/terminal.ts';
import { type ErrorCode, ModelCallError, SkillError } from '../../../src/core/contracts/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function cli(argv: string, options: Parameters<typeof captureIo>[0] = {}) {
  const io = captureIo(options);
  const code = await runCli(argv.split(' ').filter(Boolean), io);
  return { code, out: io.out(), err: io.err() };
}

describe('exit codes', () => {
  it.each<[ErrorCode, number]>([
    ['CONFIG_INVALID', 2],
    ['TASKS_INVALID', 2],
    ['ENV_INVALID', 2],
    ['SKILL_NOT_FOUND', 2],
    ['RUN_NOT_FOUND', 2],
    ['RUN_MISMATCH', 2],
    ['RUN_UNWRITABLE', 2],
    ['JOURNAL_CORRUPT', 2],
    ['MODEL_REPLY_INVALID', 2],
    ['USAGE', 2],
    ['BUDGET_EXHAUSTED', 3],
    ['MODEL_CALL_FAILED', 4],
    ['RUN_LOCKED', 5],
    ['ANSWER_PENDING', 6],
  ])('%s is %i', (code, exit) => expect(exitCodeOf(new SkillError(code, ''))).toBe(exit));

  it('are 4 for a model, 129, 130 and 143 for signals, and 70 for anything unforeseen', () => {
    const errors = [
      new ModelCallError('down'),
      new Interrupted('SIGINT'),
      new Interrupted('SIGTERM'),
      new Interrupted('SIGHUP'),
      new TypeError('oops'),
      'text',
    ];
    expect(errors.map(exitCodeOf)).toEqual([4, 130, 143, 129, 70, 70]);
  });
});

describe('errors', () => {
  const print = (error: unknown, options: Parameters<typeof captureIo>[0] = {}, isJson = false) => {
    const io = captureIo(options);
    printError(error, openTerminal(io, { isJson }));
    return { out: io.out(), err: io.err() };
  };

  it('say what is wrong and what to do', () => {
    const { out, err } = print(new SkillError('USAGE', 'no such thing', { hint: 'Try another.' }));
    expect(err).toBe('error: no such thing\nhint: Try another.\n');
    expect(out).toBe('');
  });

  it('are one object for machines, too', () => {
    const { out, err } = print(new SkillError('RUN_LOCKED', 'taken'), {}, true);
    expect(JSON.parse(out)).toEqual({ error: { code: 'RUN_LOCKED', message: 'taken' } });
    expect(err).toBe('error: taken\n');
  });

  it('are called bugs when nobody foresaw them, with a stack only on request', () => {
    const bug = new TypeError('x is not a function');
    expect(print(bug).err).toContain('error: this is a bug in skillopt: x is not a function\nhint: Please report it.');
    expect(print(bug).err).not.toContain('main.test.ts');
    expect(print(bug, { env: { SKILLOPT_DEBUG: '1' } }).err).toContain('main.test.ts');
  });

  it('say what to do when no more files can be opened, whoever finds out', () => {
    const error = Object.assign(new Error("EMFILE: too many open files, open 'main.js'"), { code: 'EMFILE' });
    expect(exitCodeOf(error)).toBe(2);
    expect(print(error).err).toMatch(/^error: EMFILE: too many open files.*\nhint: .*ulimit -n 1024\./);
  });

  it.each(['eval --skill SKILL.md', 'calibrate', 'compare SKILL.md SKILL.md', 'tasks draft'])(
    'say what could not be done at which path, and what to do: %s',
    async (argv) => {
      using folder = tempFolder();
      await cli('init --yes', { cwd: folder.path });
      writeFileSync(join(folder.path, 'runs'), 'a file in the way');
      const { code, err } = await cli(argv, { cwd: folder.path });
      expect(code).toBe(2);
      expect(err).toMatch(
        /error: cannot make the folder .*\/runs\/\.\w+: not a directory \(ENOTDIR\)\nhint: A file stands/,
      );
    },
  );

  it('of a demo name no flag that it does not have', async () => {
    using folder = tempFolder({ runs: 'a file in the way' });
    const { code, err } = await cli('demo --quiet', { cwd: folder.path });
    expect([code, err]).toEqual([2, expect.stringMatching(/runs\/demo cannot be written.*\nhint: Change to a folder/)]);
    expect(err).not.toContain('--run');
  });

  it('tell who stopped a run how to go on', () => {
    expect(print(new Interrupted('SIGINT')).err).toContain('stopped: interrupted\nhint: Nothing is lost');
  });
});

describe('a signal', () => {
  it('aborts the work once, and ends the process the second time', async () => {
    const io = captureIo();
    const stops: string[] = [];
    const work = interruptible({ io, onStop: () => stops.push('stop') }, (signal) => {
      io.emit('SIGTERM');
      expect(signal.reason).toMatchObject({ exitCode: 143 });
      io.emit('SIGINT');
      return Promise.reject(signal.reason);
    });
    await expect(work).rejects.toBeInstanceOf(Interrupted);
    expect([stops, io.exits]).toEqual([['stop'], [130]]);
  });

  it("is nobody's business after the work", async () => {
    const io = captureIo();
    await interruptible({ io, onStop: () => {} }, async () => expect(io.listeners('SIGINT')).toBe(1));
    expect(io.listeners('SIGINT') + io.listeners('SIGTERM')).toBe(0);
  });
});

describe('the command line', () => {
  it.each(['', '--help', '-h', 'help'])('shows its help for "%s"', async (argv) => {
    const { code, out, err } = await cli(argv);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(
      'exit codes:\n  0    done\n  1    done, and errors were found, or a check failed\n  2    user error, with a hint',
    );
    expect(out).toContain('  train  ');
  });

  it('tells its version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await cli('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' });
    expect(JSON.parse((await cli('--version --json')).out)).toEqual({ version });
  });

  it('has one list of options in the help of each command, with --json wherever it answers', async () => {
    const terminal = openTerminal(captureIo());
    for (const entry of commands) {
      const command = await buildCommand(entry, terminal);
      for (const part of [command, ...command.commands]) {
        const help = part.helpInformation().toLowerCase();
        expect(help.match(/^options:$/gm), part.name()).toHaveLength(1);
        const isGroup = part.commands.length > 0 && !part.commands.some((one) => one.name() === 'stats');
        if (!isGroup && !['completion', 'skillopt mcp', 'mcp', 'review'].includes(part.name()))
          expect(help, part.name()).toContain('--json');
      }
    }
  });

  it('suggests the command that was meant', async () => {
    const { code, out, err } = await cli('trian');
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('error: unknown command trian — did you mean train?');
  });

  it.each(['demo', 'init', 'train', 'runs', 'show', 'diff', 'eval', 'skill', 'sim'])(
    'shows examples in the help of %s',
    async (name) => {
      const { code, out, err } = await cli(`${name} --help`);
      expect([code, err]).toEqual([0, '']);
      expect(out).toContain(`usage: npx skillopt ${name}`);
      expect(out).toContain(`examples:\n  npx skillopt ${name}`);
      expect(await cli(`help ${name}`)).toEqual({ code, out, err });
    },
  );

  it.each([
    ['train --batchsize 3', "unknown option '--batchsize'", 'Did you mean --batch-size?'],
    ['compare', "missing required argument 'a'", 'See npx skillopt compare --help'],
    ['eval', "required option '--skill <path>' not specified", 'See npx skillopt eval --help'],
    ['init a b', 'too many arguments', 'See npx skillopt init --help'],
  ])('refuses "%s"', async (argv, message, hint) => {
    const { code, out, err } = await cli(argv);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`error: ${message}`);
    expect(err).toContain(hint);
  });

  it('answers a mistake with one object on stdout when --json was asked for', async () => {
    const { code, out } = await cli('show nothing --json');
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ error: { code: 'RUN_NOT_FOUND' } });
  });
});

describe('init', () => {
  it.each(['yaml', 'json', 'mjs'])('writes a project with a .%s file, and no package.json', async (format) => {
    using folder = tempFolder();
    const { code, out } = await cli(`init new --format ${format} --json`, { cwd: folder.path });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      directory: join(folder.path, 'new'),
      files: [`skillopt.config.${format}`, 'tasks.jsonl', 'SKILL.md', '.gitignore'],
      cautions: [],
    });
    const rows = readFileSync(join(folder.path, 'new/tasks.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows).toHaveLength(120);
    expect(Object.keys(rows[0])).toEqual(expect.arrayContaining(['id', 'question', 'answers', 'taskType', 'split']));
  });

  it('overwrites nothing, not even with a second project file, unless it is forced', async () => {
    using folder = tempFolder({ 'skillopt.config.json': 'mine' });
    const refused = await cli('init', { cwd: folder.path });
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('already has skillopt.config.json');
    expect((await cli('init --format json --force', { cwd: folder.path })).code).toBe(0);
    expect(readFileSync(join(folder.path, 'skillopt.config.json'), 'utf8')).toContain('"tasks"');
  });
});

describe('runs', () => {
  it('says so when there are none', async () => {
    using folder = tempFolder();
    expect((await cli('runs', { cwd: folder.path })).out).toContain('no runs in runs');
    expect(JSON.parse((await cli('runs --json', { cwd: folder.path })).out)).toEqual({ root: 'runs', runs: [] });
  });

  it('lists a run that cannot be read as one that cannot be read', async () => {
    using folder = tempFolder({ 'runs/torn/events.jsonl': 'not json\n' });
    const { code, out } = await cli('runs', { cwd: folder.path });
    expect(code).toBe(0);
    expect(out).toMatch(/torn\s+unreadable/);
  });
});

it.each([['--help'], ['runs'], ['train', '--help'], ['show', 'none']])(
  'a terminal that does not know its size is as wide as none: %j',
  async (...argv) => {
    const printed = async (columns?: number) => {
      const io = captureIo({ isTTY: true, env: { NO_COLOR: '1' }, ...(columns === undefined ? {} : { columns }) });
      await runCli(argv, io);
      return `${io.out()}${io.err()}`;
    };
    expect(await printed(0)).toBe(await printed());
  },
);
