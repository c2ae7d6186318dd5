import { fitRows } from '../report/index.ts';
import { commands } from './command-table.ts';
import { EXIT_CODES } from './errors.ts';
import type { Terminal } from './terminal/terminal.ts';

const EXAMPLES = [
  ['skillopt demo', 'see a skill being trained, no key needed'],
  ['skillopt init && skillopt train', 'a project of your own'],
  ['skillopt train --target openai:MODEL --optimizer openai:MODEL', 'with real models'],
  ['skillopt diff demo', 'what training changed'],
] as const;

export function rootHelp({ colors: { bold, dim }, called, width }: Terminal): string {
  const section = (title: string, rows: readonly (readonly [string, string])[]) => {
    const named = rows.map(([left, right]) => [called(left), right] as const);
    const widest = Math.max(...named.map(([left]) => left.length));
    return [bold(`${title}:`), ...named.map(([left, right]) => `  ${left.padEnd(widest)}  ${dim(right)}`)].join('\n');
  };
  const sections = [
    `${bold('skillopt')}: train a SKILL.md for a frozen agent the way weights are trained`,
    `${bold('usage:')} ${called('skillopt <command> [options]')}\n       ${called('skillopt <command> --help')}`,
    section(
      'commands',
      commands.map(({ name, summary }) => [name, summary] as const),
    ),
    section('examples', EXAMPLES),
    section('exit codes', Object.entries(EXIT_CODES)),
    `${bold('everywhere:')} --json prints one object on stdout; messages go to stderr; NO_COLOR=1 turns colours off`,
  ];
  return fitRows(sections.join('\n\n'), width);
}
