import type { LoadedProject } from '../../project/index.ts';
import { wrap } from '../../report/index.ts';
import { Answered } from '../answered.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import { agentFacts } from '../doctor/agent-checks.ts';
import type { Check } from '../doctor/check.ts';
import { examine } from '../doctor/examine.ts';
import { setOption } from '../flags/flags.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = { readonly config?: string; readonly set: readonly string[]; readonly canary?: boolean };

export const define: DefineCommand = (command, terminal) => {
  command
    .option('--config <path>', 'project file (default: skillopt.config.yaml, .json, .mjs or .ts in this folder)')
    .option('--canary', 'also try whether loading a skill can be seen: two short pieces of work of the agent')
    .option('--json', 'one JSON object on stdout')
    .addOption(setOption())
    .addHelpText('after', EXAMPLES)
    .action((flags: Flags) => diagnose(flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt doctor', 'Node, project, tasks, folder of runs, and one tiny call to each model'],
  ['skillopt doctor --canary', 'with an agent as the target: can its loading of skills be seen?'],
  ['skillopt doctor --config x.yaml --set env.split_dir=data', 'a config of SkillOpt, changed'],
]);

async function diagnose({ config, set: overrides, canary: hasCanary }: Flags, terminal: Terminal): Promise<void> {
  const checks: Check[] = [];
  let project: LoadedProject | undefined;
  const onProject = (loaded: LoadedProject) => {
    project = loaded;
    loaded.notes.forEach(terminal.note);
    loaded.warnings.forEach(terminal.warn);
  };
  for await (const finding of examine({ config, overrides, hasCanary, io: terminal.io, onProject }))
    checks.push(finding);
  const agent = agentFacts(project, checks);
  const rows = checks.map(({ facts: _, ...row }) => row);
  terminal.answer(
    { isOk: checks.every(({ isOk }) => isOk), checks: rows, ...(agent && { agent }) },
    checks.flatMap((row) => lines(row, terminal)),
  );
  if (checks.some(({ isOk }) => !isOk)) throw new Answered();
}

function lines({ name, isOk, detail, remedy }: Check, terminal: Terminal): string[] {
  const { lineWidth, called } = terminal;
  const { green, red, dim } = terminal.colors;
  const [first = '', ...rest] = called(detail).split('\n');
  const indent = ' '.repeat(13);
  return [
    `${isOk ? green('✓') : red('✗')} ${name.padEnd(10)} ${first}`,
    ...rest.map((line) => `${indent}${line.trimStart()}`),
    ...(remedy === undefined ? [] : [`${indent}${dim('→')} ${called(remedy)}`]),
  ].flatMap((line) => wrap(line, lineWidth, indent));
}
