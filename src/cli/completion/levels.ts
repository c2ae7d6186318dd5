import type { Argument, Command, Option } from 'commander';
import type { CommandEntry } from '../define-command.ts';
import { buildCommand } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** What a shell may offer in a place: names of runs, files, folders, these words, or nothing that is known. */
export type Offer = 'runs' | 'files' | 'folders' | 'nothing' | readonly string[];

export type Flag = { readonly name: string; readonly help: string; readonly takes: Offer | undefined };

/** A command, or a part of one, as it is typed: `train`, `sleep run`. */
export type Level = {
  readonly path: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Its parts, or what its arguments are. */
  readonly words: Offer;
};

/** Every command with its parts, each after the one that it belongs to. */
export async function commandLevels(entries: readonly CommandEntry[], terminal: Terminal): Promise<Level[]> {
  const commands = await Promise.all(entries.map((entry) => buildCommand(entry, terminal)));
  return commands.flatMap((command, at) => levelsOf(command, entries[at]!.name));
}

function levelsOf(command: Command, path: string): Level[] {
  const parts = command.commands.map((part) => part.name());
  const help: Flag = { name: '--help', help: 'display help for command', takes: undefined };
  const level: Level = {
    path,
    summary: command.description(),
    flags: [...command.options.flatMap(flagsOf), help],
    words: parts.length > 0 ? parts : argumentOffer(command.registeredArguments[0]),
  };
  return [level, ...command.commands.flatMap((part) => levelsOf(part, `${path} ${part.name()}`))];
}

/** A flag may have two long names. */
function flagsOf(option: Option): Flag[] {
  const takes = option.required || option.optional ? optionOffer(option) : undefined;
  const names = [option.short, option.long].filter((name) => name?.startsWith('--'));
  return names.map((name) => ({ name: name!, help: option.description, takes }));
}

function argumentOffer(argument: Argument | undefined): Offer {
  if (argument === undefined) return 'nothing';
  return argument.argChoices ?? offerFor(argument.name());
}

function optionOffer({ flags, argChoices, description }: Option): Offer {
  return argChoices ?? choicesIn(description) ?? offerFor(/[<[](.*?)[>\]]$/.exec(flags)?.[1] ?? '');
}

/** Flags that come from a schema name what they take at the end of their help: `(hard, soft, mixed; default: hard)`. */
function choicesIn(help: string): string[] | undefined {
  return /\(((?:[\w-]+, )+[\w-]+)(?:; default: [^()]*)?\)$/.exec(help)?.[1]?.split(', ');
}

/** By what help calls it: `<path>`, `[dir]`, `<run>`. */
function offerFor(name: string): Offer {
  if (/\brun\b/.test(name)) return 'runs';
  if (/\bdir\b/.test(name)) return 'folders';
  return /\b(?:path|file)\b/.test(name) ? 'files' : 'nothing';
}
