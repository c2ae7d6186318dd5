import { readFileSync } from 'node:fs';
import { SkillError } from '../core/contracts/index.ts';
import { suggestion } from '../core/text/index.ts';
import { Answered } from './answered.ts';
import { calledAs } from './called-as.ts';
import { commands } from './command-table.ts';
import type { Typed } from './define-command.ts';
import { exitCodeOf, lateError, printError } from './errors.ts';
import { rootHelp } from './help.ts';
import { configIn } from './named-project.ts';
import { type Io, openTerminal, type Terminal } from './terminal/terminal.ts';

/** The front door: arguments in, exit code out. Nothing is loaded that the command does not need. */
export async function runCli(argv: readonly string[], io: Io, typed: Typed = 'skillopt'): Promise<number> {
  const terminal = openTerminal(io, { isJson: argv.includes('--json'), called: calledAs(io, typed, configIn(argv)) });
  try {
    await dispatch(typed === 'skillopt' ? argv : sleepWords(argv), terminal);
    return 0;
  } catch (error) {
    if (!(error instanceof Answered)) printError(error, terminal);
    return exitCodeOf(error);
  }
}

const VERSION = new Set(['--version', '-V', '-v']);

/** `skillopt-sleep run` is `skillopt sleep run`. */
function sleepWords(argv: readonly string[]): readonly string[] {
  if (VERSION.has(argv[0] ?? '')) return argv;
  return argv[0] === 'help' ? ['help', 'sleep', ...argv.slice(1)] : ['sleep', ...argv];
}

async function dispatch(argv: readonly string[], terminal: Terminal): Promise<void> {
  const [name = '--help', ...rest] = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
  if (name === '--help' || name === '-h') return void terminal.io.stdout.write(`${rootHelp(terminal)}\n`);
  if (VERSION.has(name)) return void terminal.io.stdout.write(`${version()}\n`);
  const entry = commands.find((command) => command.name === name);
  if (!entry) throw unknownCommand(name);
  const { runCommand } = await import('./run-command.ts');
  await runCommand(entry, rest, terminal);
}

function unknownCommand(name: string): SkillError {
  const names = commands.map((command) => command.name);
  const what = name.startsWith('-') ? 'option' : 'command';
  return new SkillError('USAGE', `unknown ${what} ${name}${suggestion(name, names)}`, {
    hint: `Commands: ${names.join(', ')}. See skillopt --help.`,
  });
}

function version(): string {
  const path = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}

/**
 * Runs a process as the command line: what is thrown late has the exit code that it would have had.
 * @public called by bin/start.mjs
 */
export async function start(process: NodeJS.Process, typed: Typed): Promise<void> {
  for (const name of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(name, (thrown: unknown) => {
      const error = lateError(thrown);
      const isJson = process.argv.includes('--json');
      printError(error, openTerminal(process, { isJson, called: calledAs(process, typed) }));
      process.exit(exitCodeOf(error));
    });
  }
  process.stderr.on('error', () => {}); // progress that nobody can see is no reason to stop
  const lost = watchAnswer(process.stdout);
  const code = await runCli(process.argv.slice(2), process, typed);
  await new Promise((flushed) => process.stdout.write('', flushed));
  if (lost() !== undefined) printError(lost(), openTerminal(process));
  process.exit(code === 0 && lost() !== undefined ? 2 : code);
}

/** The error that kept an answer from being written. A reader that left early, as `head` does, is none. */
function watchAnswer(stdout: NodeJS.WriteStream): () => SkillError | undefined {
  let lost: SkillError | undefined;
  stdout.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EPIPE')
      lost ??= new SkillError('USAGE', `the answer could not be written: ${cause.message}`, { cause });
  });
  return () => lost;
}
