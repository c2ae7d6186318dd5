import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodeOf, printError } from '../../../src/cli/errors.ts';
import { runCli } from '../../../src/cli/index.ts';
import { openTerminal } from '../../../src/cli/terminal/terminal.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function cli(argv: readonly string[], cwd: string) {
  const io = captureIo({ cwd });
  const code = await runCli(argv, io);
  return { code, err: io.err(), out: io.out() };
}

const rows = ['train', 'val', 'test'].flatMap((split) =>
  [1, 2, 3, 4, 5].map((n) =>
    JSON.stringify({ id: `${split}${n}`, question: `${split} ${n}`, answers: [`${split[0]}${n}`], split }),
  ),
);
const tasks = `${rows.join('\n')}\n`;
const project = { tasks: 'tasks.jsonl', target: 'simulated', optimizer: 'simulated' };
const deep = (open: string, close: string, depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`;
const bomb = [
  'a: &a [1,1,1,1,1,1,1,1,1]',
  ...[...'bcdefghi'].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`).join()}]`),
].join('\n');

describe('a project file', () => {
  const TOO_DEEP = 'nested more than 100 levels deep, or in a circle';

  it.each([
    ['10,000 lists in each other', 'json', `{"extras":${deep('[', ']', 10_000)}}`, TOO_DEEP],
    ['10,000 objects in each other', 'json', `{"extras":${deep('{"a":', '}', 10_000)}}`, TOO_DEEP],
    ['10,000 lists in each other', 'yaml', `extras: ${deep('[', ']', 10_000)}`, TOO_DEEP],
    ['10,000 dashes on a line', 'yaml', `extras:\n  ${'- '.repeat(10_000)}1`, TOO_DEEP],
    ['300 lists in each other', 'yaml', `extras: ${deep('[', ']', 300)}`, TOO_DEEP],
    ['a value that holds itself', 'yaml', 'extras: &a\n  x: *a\n', TOO_DEEP],
    ['an export that holds itself', 'mjs', 'const a = { extras: {} };\na.extras.a = a;\nexport default a;', TOO_DEEP],
    ['aliases that multiply', 'yaml', `extras:\n  ${bomb.replaceAll('\n', '\n  ')}`, 'aliases'],
    ['aliases that multiply slowly', 'yaml', `extras:\n  ${slowBomb()}`, 'more than 100,000 values'],
    ['UTF-16', 'yaml', Buffer.from('\uFEFFtasks: tasks.jsonl\n', 'utf16le'), 'save it as UTF-8'],
    ['NUL characters', 'json', '{"name":"\0"}', 'save it as UTF-8'],
    ['a list', 'json', '[1]', 'expected keys and values, got a list'],
    [
      'a NUL in a path',
      'json',
      JSON.stringify({ ...project, skill: 'a\0b' }),
      'skill: a path must not have control characters',
    ],
    [
      'a newline in a path',
      'json',
      JSON.stringify({ ...project, outRoot: 'a\nb' }),
      'outRoot: a path must not have control',
    ],
  ])('with %s is refused: .%s', async (_, ending, text, message) => {
    using folder = tempFolder({ 'tasks.jsonl': tasks });
    writeFileSync(join(folder.path, `skillopt.config.${ending}`), text);
    for (const command of ['estimate', 'train', 'doctor']) {
      const { code, err, out } = await cli([command], folder.path);
      expect([code, err + out]).toEqual([2, expect.stringContaining(message)]);
    }
  });

  it.each(['json', 'yaml'])('with a byte order mark and lines that end in CRLF is read: .%s', async (ending) => {
    using folder = tempFolder({ 'tasks.jsonl': `\uFEFF${tasks.replaceAll('\n', '\r\n')}` });
    const text = `\uFEFF${JSON.stringify(project, null, 2).replaceAll('\n', '\r\n')}`;
    writeFileSync(join(folder.path, `skillopt.config.${ending}`), text);
    expect(await cli(['estimate'], folder.path)).toMatchObject({ code: 0, err: '' });
  });
});

/** Few enough aliases for the parser, each of a list that is large already. */
function slowBomb(): string {
  const list = `[${Array(2000).fill('1').join()}]`;
  return [`a: &a ${list}`, `b: &b [${Array(9).fill('*a').join()}]`, `c: [${Array(9).fill('*b').join()}]`].join('\n  ');
}

describe('a flag', () => {
  it('with deep JSON is refused', async () => {
    using folder = tempFolder({ 'tasks.jsonl': tasks, 'skillopt.config.json': JSON.stringify(project) });
    const { code, err } = await cli(['estimate', `--prices=${deep('{"a":', '}', 9000)}`], folder.path);
    expect([code, err]).toEqual([2, expect.stringContaining('error: ')]);
  });

  it.each([
    ['runs', '--root'],
    ['cache', 'stats', '--root'],
    ['cache', 'clear', 'x', '--root'],
    ['show', 'x', '--root'],
    ['estimate', '--tasks'],
    ['estimate', '--config'],
    ['eval', '--skill'],
    ['eval', '--skill', 'tasks.jsonl', '--out'],
    ['calibrate', '--skill'],
    ['train', '--run'],
    ['skill', 'lint'],
    ['init'],
    ['show'],
    ['diff'],
  ])('with a path that cannot be one is refused: %s %s', async (...argv) => {
    using folder = tempFolder({ 'tasks.jsonl': tasks, 'skillopt.config.json': JSON.stringify(project) });
    for (const path of ['a\0b', 'a\nb', 'x'.repeat(5000)]) {
      const { code, err } = await cli([...argv.filter((part) => part !== undefined), path], folder.path);
      expect([code, err]).toEqual([2, expect.stringContaining('error: ')]);
      expect(err).not.toContain('bug in skillopt');
      if (path.length < 5) expect(err).toContain('a path must not have control characters');
    }
  });
});

describe('a task file', () => {
  it.each([
    ['10,000 lists in each other', 'jsonl', deep('[', ']', 10_000)],
    ['10,000 lists in each other', 'json', deep('[', ']', 10_000)],
    ['a task with 10,000 lists in each other', 'jsonl', `{"id":"a","extra":${deep('[', ']', 10_000)}}`],
    ['10,000 lists in each other', 'yaml', deep('[', ']', 10_000)],
    ['10,000 dashes on a line', 'yaml', `${'- '.repeat(10_000)}1`],
    ['aliases that multiply', 'yaml', bomb],
    ['a task that holds itself', 'yaml', '- &a\n  id: a\n  question: q\n  answers: [a]\n  extra: *a\n'],
  ])('with %s is refused: .%s', async (_, ending, text) => {
    using folder = tempFolder({ [`t.${ending}`]: text });
    const { code, err } = await cli(['estimate', '--tasks', `t.${ending}`], folder.path);
    expect([code, err]).toEqual([2, expect.stringMatching(/^error: .*t\.\w+(:1)?[: ]/)]);
  });
});

describe('eval --out', () => {
  it('that is a file is refused before anything is asked', async () => {
    using folder = tempFolder({ 'tasks.jsonl': tasks, 'skillopt.config.json': JSON.stringify(project), taken: '' });
    const { code, err } = await cli(['eval', '--skill', 'tasks.jsonl', '--out', 'taken'], folder.path);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^error: --out taken cannot be written: .*EEXIST.*\nhint: /),
    ]);
  });
});

describe('what the operating system refuses', () => {
  it.each([
    ['runs', (path: string) => symlinkSync('runs', join(path, 'runs'))],
    ['cache stats', (path: string) => symlinkSync('runs', join(path, 'runs'))],
    [
      'cache clear x',
      (path: string) => {
        mkdirSync(join(path, 'runs/x'), { recursive: true });
        for (const name of ['events.jsonl', 'cache']) writeFileSync(join(path, 'runs/x', name), '');
      },
    ],
  ])('is not called a bug: %s', async (argv, spoil) => {
    using folder = tempFolder();
    spoil(folder.path);
    const { code, err } = await cli(argv.split(' '), folder.path);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^error: (\S+ cannot be read: E\w+: |E\w+: |cannot use .*\(E\w+\)).*\nhint: /),
    ]);
  });

  const systemError = (code: string) => Object.assign(new Error(`${code}: no`), { code, errno: -1, syscall: 'open' });

  it.each([
    ['EMFILE', 'ulimit -n'],
    ['ENOSPC', 'Make room on the disk'],
    ['EACCES', 'may read and write'],
    ['ELOOP', 'Check that path'],
  ])('%s has a hint, also when more went wrong because of it', (code, hint) => {
    const error = systemError(code);
    const suppressed = Object.assign(new Error('later'), { error: new Error('close'), suppressed: error });
    for (const thrown of [error, new Error('wrapped', { cause: error }), suppressed]) {
      const io = captureIo();
      printError(thrown, openTerminal(io));
      expect(io.err()).toMatch(new RegExp(`^error: ${code}: no\nhint: .*${hint}`));
      expect(exitCodeOf(thrown)).toBe(2);
    }
  });
});
