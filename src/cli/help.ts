import { commands } from './command-table.ts';
import { EXIT_CODES } from './exit-code.ts';
import type { Colors } from './terminal/colors.ts';

const EXAMPLES = [
  ['skillopt demo', 'see a skill being trained, no key needed'],
  ['skillopt init && skillopt train', 'a project of your own'],
  ['skillopt train --target openai:MODEL --optimizer openai:MODEL', 'with real models'],
  ['skillopt diff demo', 'what training changed'],
] as const;

/** What `skillopt --help` prints. */
export function rootHelp({ bold, dim }: Colors): string {
  const section = (title: string, rows: readonly (readonly [string, string])[]) => {
    const width = Math.max(...rows.map(([left]) => left.length));
    return [bold(`${title}:`), ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${dim(right)}`)].join('\n');
  };
  return [
    `${bold('skillopt')}: train a SKILL.md for a frozen agent the way weights are trained`,
    `${bold('usage:')} skillopt <command> [options]\n       skillopt <command> --help`,
    section(
      'commands',
      commands.map(({ name, summary }) => [name, summary] as const),
    ),
    section('examples', EXAMPLES),
    section('exit codes', Object.entries(EXIT_CODES)),
    `${bold('everywhere:')} --json prints one object on stdout; messages go to stderr; NO_COLOR=1 turns colours off`,
  ].join('\n\n');
}
