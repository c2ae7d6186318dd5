import type { Command } from 'commander';
import type { Terminal } from './terminal/terminal.ts';

/** Adds arguments, options, examples and the action to a command that already has its name and output. */
export type DefineCommand = (command: Command, terminal: Terminal) => void;

export type Typed = 'skillopt' | 'skillopt-sleep';

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
