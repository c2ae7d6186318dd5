import { agentFacts, type Check, examineProject } from '../../app/index.ts';
import type { LoadedProject } from '../../project/index.ts';
import { wrap } from '../../report/index.ts';
import { Answered } from '../errors.ts';
import { configOption, jsonOption, setOption } from '../flags/flags.ts';
import { checkInFlags } from '../flags/in-flags.ts';
import { queueOf, queueOption } from '../flags/project-flags.ts';
import { type DefineCommand, examples, type OptionalFlags } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = OptionalFlags<'config' | 'queue', 'canary'> & { readonly set: readonly string[] };

export const define: DefineCommand = (command, terminal) => {
  command
    .addOption(configOption())
    .option('--canary', 'also test whether loading a skill can be observed: two short tasks for the agent')
    .addOption(queueOption())
    .addOption(jsonOption())
    .addOption(setOption())
    .addHelpText('after', EXAMPLES)
    .action((flags: Flags) => diagnose(flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt doctor', 'Node, project, tasks, folder of runs, and one tiny call to each model'],
  ['skillopt doctor --canary', 'with an agent as the target: can its loading of skills be seen?'],
  ['skillopt doctor --queue redis://10.0.0.5:6379', 'also the server of a queue, and its workers for this project'],
  ['skillopt doctor --config x.yaml --set env.split_dir=data', 'a config of SkillOpt, changed'],
]);

const CANARY_ADVICE = 'whether that can be seen to work: skillopt doctor --canary';

async function diagnose(flags: Flags, terminal: Terminal) {
  const { config, set: overrides, canary: hasCanary = false } = flags;
  const { io } = terminal;
  const checks: Check[] = [];
  let project: LoadedProject | undefined;
  const onProject = (loaded: LoadedProject) => {
    project = loaded;
    loaded.notes.forEach(terminal.note);
    loaded.warnings.forEach(terminal.warn);
  };
  const options = { config, overrides, hasCanary, queue: queueOf(flags, terminal), onProject };
  for await (const found of examineProject({ ...options, cwd: io.cwd(), env: io.env })) {
    const isAgent = found.name === 'target' && found.isOk && found.facts !== undefined;
    const advice = isAgent && !hasCanary ? `\n${CANARY_ADVICE}` : '';
    checks.push(checkInFlags({ ...found, detail: found.detail + advice }));
  }
  const agent = agentFacts(project, checks);
  const isOk = checks.every((one) => one.isOk);
  const answer = { isOk, checks: checks.map(({ facts: _, ...row }) => row), ...(agent && { agent }) };
  const lines = checks.flatMap((check) => checkLines(check, terminal));
  terminal.answer(answer, lines);
  if (!isOk) throw new Answered();
}

function checkLines({ name, isOk, detail, remedy }: Check, { lineWidth, called, colors }: Terminal): string[] {
  const { green, red, dim } = colors;
  const [first = '', ...rest] = called(detail).split('\n');
  const indent = ' '.repeat(13);
  return [
    `${isOk ? green('✓') : red('✗')} ${name.padEnd(10)} ${first}`,
    ...rest.map((line) => `${indent}${line.trimStart()}`),
    ...(remedy === undefined ? [] : [`${indent}${dim('→')} ${called(remedy)}`]),
  ].flatMap((line) => wrap(line, lineWidth, indent));
}
