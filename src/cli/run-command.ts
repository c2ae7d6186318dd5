import { Command, CommanderError, type Option } from 'commander';
import { SkillError } from '../core/contracts/index.ts';
import { fitRows } from '../report/index.ts';
import type { Terminal } from './terminal/terminal.ts';

/** Adds arguments, options, examples and the action to a command that already has its name and output. */
export type DefineCommand = (command: Command, terminal: Terminal) => void;

export type Typed = 'skillopt' | 'skillopt-sleep';

/** Flags that may be left out, by what they take: a text, nothing, a number. */
export type OptionalFlags<
  Texts extends string,
  Switches extends string = never,
  Numbers extends string = never,
> = Readonly<Partial<Record<Texts, string> & Record<Switches, boolean> & Record<Numbers, number>>>;

export type CommandEntry = {
  readonly name: string;
  readonly summary: string;
  load(): Promise<{ define: DefineCommand }>;
};

/** The end of a command's help: lines to copy, each with what it does. */
export function examples(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([line]) => line.length));
  return ['', 'examples:', ...rows.map(([line, what]) => `  ${line.padEnd(width)}  ${what}`)].join('\n');
}

/** Loads one command and runs it with its arguments. A mistake in them is a `USAGE` error. */
export async function runCommand(entry: CommandEntry, argv: readonly string[], terminal: Terminal): Promise<void> {
  const command = await buildCommand(entry, terminal);
  try {
    await command.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.help') throw needsSubcommand(command, entry.name);
    if (error.exitCode !== 0) throw usageError(partCalled(command, argv), error.message);
  }
}

export async function buildCommand(entry: CommandEntry, terminal: Terminal): Promise<Command> {
  const { define } = await entry.load();
  const command = newCommand(entry, terminal);
  define(command, terminal);
  return command;
}

function needsSubcommand(command: Command, name: string): SkillError {
  const names = command.commands.map((part) => part.name()).join(', ');
  const hint = `After "skillopt ${name}" write one of: ${names}`;
  return new SkillError('USAGE', `${name} needs a subcommand`, { hint });
}

const partCalled = (command: Command, argv: readonly string[]) =>
  command.commands.find((one) => one.name() === argv.find((word) => !word.startsWith('-'))) ?? command;

function newCommand({ name, summary }: CommandEntry, { io, colors, called }: Terminal): Command {
  const width = Math.min(io.stdout.columns || 100, 100);
  return new Command(`skillopt ${name}`)
    .description(summary)
    .exitOverride()
    .allowExcessArguments(false)
    .configureOutput({
      writeOut: (text) => void io.stdout.write(fitRows(called(text), width)),
      writeErr: () => {},
      getOutHelpWidth: () => width,
    })
    .configureHelp({ styleTitle: (title) => colors.bold(title.toLowerCase()) });
}

/** Commander's sentence, with its guess at what was meant as the hint, or ours. */
function usageError(command: Command, text: string): SkillError {
  const [message, guess] = text.replace(/^error: /, '').split(/\n\(?(?=Did you mean)/);
  const meant = guess?.replace(/\)$/, '') ?? meantOption(message!, command);
  const help = `See ${command.parent === null ? '' : `${command.parent.name()} `}${command.name()} --help`;
  return new SkillError('USAGE', message!, { hint: meant ? `${meant} ${help}` : help });
}

/** What other tools of the field call it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  budget: 'max-cost-usd',
  concurrency: 'workers',
  cost: 'max-cost-usd',
  data: 'tasks',
  dataset: 'tasks',
  file: 'config',
  'learning-rate': 'edit-budget',
  lr: 'edit-budget',
  model: 'target',
  out: 'run',
  output: 'run',
  parallel: 'workers',
  prompt: 'skill',
  'run-dir': 'run',
  timeout: 'call-timeout-ms',
};

/** A guess where spelling alone finds none: `--epochs` is `--num-epochs`, `--model` is `--target`. */
function meantOption(message: string, { options }: Command): string | undefined {
  const typed = /^unknown option '--([\w-]+)/.exec(message)?.[1]?.toLowerCase();
  if (typed === undefined) return undefined;
  const names = options.flatMap(namesOf);
  const meant = names.find((name) => name === ELSEWHERE[typed]) ?? names.find((name) => holdsWords(name, typed));
  return meant === undefined ? undefined : `Did you mean --${meant}?`;
}

const namesOf = ({ long, short }: Option) =>
  [short, long].flatMap((name) => (name?.startsWith('--') ? name.slice(2) : []));

const holdsWords = (name: string, typed: string) => `-${name}-`.includes(`-${typed}-`);
