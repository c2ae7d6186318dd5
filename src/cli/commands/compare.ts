import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Compared, compareDocuments, compareRuns, noRun, runPath } from '../../app/index.ts';
import { agentTargetOf, resolvePath } from '../../project/index.ts';
import { type CompareReport, compareLines, compareMarkdown, compareValue } from '../../report/index.ts';
import { formatOption, rootOption } from '../flags/flags.ts';
import { addEvalFlags, type ProjectFlags, typedProject } from '../flags/project-flags.ts';
import { runPlace } from '../night-runs.ts';
import { withProgress } from '../progress/progress.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = ProjectFlags & {
  readonly split: string;
  readonly root: string;
  readonly format: 'text' | 'md';
  readonly cache: boolean;
};

export const define: DefineCommand = (command, terminal) => {
  command
    .argument('<a>', 'name or path of a run, or a skill: a document, or a folder with a SKILL.md')
    .argument('<b>', 'the same')
    .option('--split <name>', 'tasks to compare on', 'test')
    .addOption(rootOption())
    .addOption(formatOption(['text', 'md']))
    .option('--no-cache', 'ask the model again, even for cached replies');
  addEvalFlags(command)
    .addHelpText('after', EXAMPLES)
    .action((a: string, b: string, flags: Flags) => compare([a, b], flags, terminal));
};

const EXAMPLES = `${examples([
  ['skillopt compare first second', 'the best skills of two runs by what these measured: no call is made'],
  ['skillopt compare OLD.md SKILL.md', 'two documents, both scored in this project; what is known costs nothing'],
  ['skillopt compare first second --split val', 'on the tasks that the search chose by, in fresh attempts'],
  ['skillopt compare OLD.md SKILL.md --format md', 'as a page, with the change'],
])}

A run beside a document stands for its best skill, which is then scored, too.`;

async function compare(names: readonly [string, string], flags: Flags, terminal: Terminal): Promise<void> {
  const [a, b] = [await sideOf(names[0], flags, terminal), await sideOf(names[1], flags, terminal)];
  const report = a.isRun && b.isRun ? await compareRuns(a, b, flags.split) : await scoreBoth(a, b, flags, terminal);
  const page = () => compareMarkdown(report).trimEnd().split('\n');
  terminal.answer(compareValue(report), flags.format === 'md' ? page() : compareLines(report, terminal));
}

type NamedSide = Compared & { readonly isRun: boolean };

async function sideOf(name: string, { root }: Flags, terminal: Terminal): Promise<NamedSide> {
  const cwd = terminal.io.cwd();
  const run = runPath(...runPlace(name, root, terminal));
  const path = run ?? resolvePath(cwd, name);
  if (run === undefined && !existsSync(path))
    throw await noRun(name, { cwd, root }, `, and a document ${name} does not exist`);
  return { name, path, isRun: run !== undefined };
}

async function scoreBoth(a: NamedSide, b: NamedSide, flags: Flags, terminal: Terminal): Promise<CompareReport> {
  const { io } = terminal;
  const { split, quiet: isQuiet, cache: isCached, ...rest } = flags;
  const loaded = await typedProject(rest, terminal);
  const document = ({ name, path, isRun }: NamedSide) => ({ name, path: isRun ? join(path, 'best_skill.md') : path });
  const caller = { env: io.env, notices: terminal };
  const stopping = { isQuiet, isKept: isCached, hasAgent: agentTargetOf(loaded.project) !== undefined };
  return withProgress(terminal, stopping, (watching) =>
    compareDocuments(loaded, [document(a), document(b)], { split, caller, isCached, ...watching }),
  );
}
