import { Command, CommanderError } from 'commander';
import { SkillError } from '../core/errors.ts';
import type { CommandEntry, Typed } from './define-command.ts';
import type { Terminal } from './terminal/terminal.ts';

type Caller = { readonly terminal: Terminal; readonly typed: Typed };

/** Loads one command and runs it with its arguments. A mistake in them is a `USAGE` error. */
export async function runCommand(
  entry: CommandEntry,
  argv: readonly string[],
  { terminal, typed }: Caller,
): Promise<void> {
  const { define } = await entry.load();
  const command = newCommand(entry, terminal, typed);
  define(command, terminal);
  try {
    await command.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.help') throw needsSubcommand(command, entry.name);
    if (error.exitCode !== 0)
      throw usageError(asTyped(`skillopt ${nameOf(command, entry.name, argv)} --help`, typed), error.message);
  }
}

/** A command that is only a folder of others says which. */
function needsSubcommand(command: Command, name: string): SkillError {
  const names = command.commands.map((part) => `skillopt ${name} ${part.name()}`);
  return new SkillError('USAGE', `${name} needs to be told what to do`, { hint: `There is: ${names.join(', ')}` });
}

/** With its part, if one was called. */
function nameOf(command: Command, name: string, argv: readonly string[]): string {
  const part = command.commands.find((one) => one.name() === argv.find((word) => !word.startsWith('-')));
  return part === undefined ? name : `${name} ${part.name()}`;
}

/** Help and hints show the name that was typed. */
const asTyped = (text: string, typed: Typed) =>
  typed === 'skillopt' ? text : text.replaceAll('skillopt sleep', typed);

function newCommand({ name, summary }: CommandEntry, { io, colors }: Terminal, typed: Typed): Command {
  return new Command(`skillopt ${name}`)
    .description(summary)
    .exitOverride()
    .allowExcessArguments(false)
    .configureOutput({
      writeOut: (text) => void io.stdout.write(asTyped(text, typed)),
      writeErr: () => {},
      getOutHelpWidth: () => helpWidth(io),
    })
    .configureHelp({ styleTitle: (title) => colors.bold(title.toLowerCase()) });
}

const helpWidth = (io: Terminal['io']) => Math.min(io.stdout.columns ?? 100, 100);

/** Commander's sentence, with its guess at what was meant as the hint. */
function usageError(help: string, text: string): SkillError {
  const [message, guess] = text.replace(/^error: /, '').split(/\n\(?(?=Did you mean)/);
  return new SkillError('USAGE', message!, { hint: guess ? `${guess.replace(/\)$/, '')} See ${help}` : `See ${help}` });
}
