import { readFileSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, parse, relative, resolve } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import { shellWord, suggestion } from '../core/text/index.ts';
import { fitRows } from '../report/index.ts';
import { commands } from './command-table.ts';
import { Answered, EXIT_CODES, exitCodeOf, keyMask, lateError, printError } from './errors.ts';
import { configIn, nameProject } from './named-project.ts';
import type { Typed } from './run-command.ts';
import { type Io, openTerminal, type Terminal } from './terminal/terminal.ts';

/** The front door: arguments in, exit code out. Nothing is loaded that the command does not need. */
export async function runCli(argv: readonly string[], io: Io, typed: Typed = 'skillopt'): Promise<number> {
  const terminal = openTerminal(io, { isJson: argv.includes('--json'), called: calledAs(io, typed, configIn(argv)) });
  try {
    await dispatch(typed === 'skillopt' ? argv : sleepWords(argv), terminal);
    return 0;
  } catch (error) {
    if (!(error instanceof Answered)) printError(error, terminal, { mask: await keyMask() });
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
  if (VERSION.has(name)) return terminal.answer({ version: version() }, [version()]);
  if (name === 'sleep' && isShortStatus(rest))
    return (await import('./sleep/short-status.ts')).showShortStatus(rest[3] ?? '.', terminal);
  const entry = commands.find((command) => command.name === name);
  if (!entry) throw unknownCommand(name);
  const { runCommand } = await import('./run-command.ts');
  await runCommand(entry, rest, terminal);
}

/** As people write it into their prompts, with or without a project. */
const isShortStatus = ([part, short, project, path, ...more]: readonly string[]) =>
  part === 'status' &&
  short === '--short' &&
  more.length === 0 &&
  (project === undefined || (project === '--project' && path !== undefined));

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
      const terminal = openTerminal(process, { isJson, called: calledAs(process, typed) });
      void keyMask().then((mask) => {
        printError(error, terminal, { mask });
        process.exit(exitCodeOf(error));
      });
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

const EXAMPLES = [
  ['skillopt demo', 'see a skill being trained, no key needed'],
  ['skillopt init && skillopt train', 'a project of your own'],
  ['skillopt train --target openai:MODEL --optimizer openai:MODEL', 'with real models'],
  ['skillopt diff demo', 'what training changed'],
] as const;

function rootHelp({ colors: { bold, dim }, called, width }: Terminal): string {
  const section = (title: string, rows: readonly (readonly [string, string])[]) => {
    const named = rows.map(([left, right]) => [called(left), right] as const);
    const widest = Math.max(...named.map(([left]) => left.length));
    return [bold(`${title}:`), ...named.map(([left, right]) => `  ${left.padEnd(widest)}  ${dim(right)}`)].join('\n');
  };
  const summaries = commands.map(({ name, summary }) => [name, summary] as const);
  const sections = [
    `${bold('skillopt')}: train a SKILL.md for a frozen agent the way weights are trained`,
    `${bold('usage:')} ${called('skillopt <command> [options]')}\n       ${called('skillopt <command> --help')}`,
    section('commands', summaries),
    section('examples', EXAMPLES),
    section('exit codes', Object.entries(EXIT_CODES)),
    `${bold('everywhere:')} --json prints one object on stdout; messages go to stderr; NO_COLOR=1 turns colours off`,
    `${bold('pages:')} docs/NAME.md is in the package, and at https://github.com/skillopt/skillopt/tree/main/docs`,
  ];
  return fitRows(sections.join('\n\n'), width);
}

type Started = Pick<Io, 'argv' | 'env' | 'cwd'>;

const NAMES = [...commands.map(({ name }) => name), '<command>', '--help'].join('|');

/** A command of ours as the code writes it: `skillopt train`, `npx skillopt show demo`. */
const WRITTEN = new RegExp(
  String.raw`(?<![\w/.@-])(?:npx )?skillopt (?:(sleep)(?![\w-])|(?=(?:${NAMES})(?![\w-])))`,
  'g',
);

/**
 * Every command of ours in a text, as this person has to type it. The code of all floors writes `skillopt train`; how the
 * program was started is known here and nowhere else, and so is the project file that was named.
 */
function calledAs(started: Started, typed: Typed, config?: string): Terminal['called'] {
  return (written, folder = started.cwd()) => {
    const path = config && folder !== started.cwd() ? resolve(started.cwd(), config) : config;
    const text = nameProject(written, path);
    const there = { ...started, cwd: () => folder };
    const program = programOf(there, 'skillopt');
    const sleep = typed === 'skillopt' ? `${program} sleep` : programOf(there, typed);
    return text.replace(WRITTEN, (_, isSleep?: string) => (isSleep ? sleep : `${program} `));
  };
}

/** Its name where a shell finds it, `node PATH` where a file was named, and otherwise what works in every project. */
function programOf({ argv, env, cwd }: Started, name: Typed): string {
  const script = argv?.[1];
  if (script === undefined) return `npx ${name}`;
  const isPackage = /[\\/]node_modules[\\/]/.test(script);
  if (!isPackage && script.endsWith('.mjs') && !isOwnScript(env))
    return `node ${shownScript(join(dirname(script), `${name}.mjs`), cwd())}`;
  const isFound = (env.PATH ?? '').split(delimiter).includes(dirname(script));
  return isFound && !(isPackage && env.npm_command) ? name : `npx ${name}`; // npm puts its own folders on PATH
}

/** `npm start` in a clone names the file by itself. */
const isOwnScript = ({ npm_package_name, npm_command }: Started['env']) =>
  npm_command !== undefined && npm_package_name === 'skillopt';

function shownScript(script: string, folder: string): string {
  if (folder === parse(folder).root) return shellWord(script); // nobody knows where it is typed
  const path = relative(folder, script);
  return shellWord(isAbsolute(path) || path.length > script.length ? script : path);
}
