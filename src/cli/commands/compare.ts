import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  compareSides,
  noRun,
  otherDifferences,
  planSplits,
  requireSameMetric,
  runPath,
  runSide,
  type Subject,
  scoreDocuments,
  sideOf,
  wireDocument,
} from '../../app/index.ts';
import { parseConfig, SkillError } from '../../core/contracts/index.ts';
import { plural } from '../../core/text/index.ts';
import { loadProject, resolvePath, resolveScoring } from '../../project/index.ts';
import { type CompareReport, compareLines, compareMarkdown, compareValue, type Side } from '../../report/index.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import { formatOption, setOption } from '../flags/flags.ts';
import { evalFlags, typedSettings } from '../flags/project-flags.ts';
import { interruptible } from '../interrupt.ts';
import { runPlace } from '../night-runs.ts';
import { openProgress } from '../progress/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = Readonly<Record<string, unknown>> & {
  readonly split: string;
  readonly root: string;
  readonly format: 'text' | 'md';
  readonly cache: boolean;
  readonly config?: string;
  readonly set: readonly string[];
  readonly quiet?: boolean;
};

export const define: DefineCommand = (command, terminal) => {
  command
    .argument('<a>', 'name or path of a run, or a skill: a document, or a folder with a SKILL.md')
    .argument('<b>', 'the same')
    .option('--split <name>', 'tasks to compare on', 'test')
    .option('--root <dir>', 'folder of runs', 'runs')
    .addOption(formatOption(['text', 'md']))
    .option('--no-cache', 'ask the model again, even for what is known')
    .option('--config <path>', 'project file (default: skillopt.config.yaml, .json, .mjs or .ts in this folder)')
    .option('--quiet', 'no progress, only warnings and the result')
    .option('--json', 'one JSON object on stdout');
  for (const option of [setOption(), ...evalFlags()]) command.addOption(option);
  command
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
  const paths = names.map((name) => runPath(...runPlace(name, flags.root, terminal)));
  for (const [at, name] of names.entries()) await requireThere(name, paths[at], flags, terminal);
  const areRuns = paths.every((path) => path !== undefined);
  const report = await (areRuns
    ? compareRuns(names, paths as string[], flags)
    : compareDocuments(
        names.map((name, at) => ({ name, path: documentOf(name, paths[at], terminal) })),
        flags,
        terminal,
      ));
  const page = () => compareMarkdown(report).trimEnd().split('\n');
  terminal.answer(compareValue(report), flags.format === 'md' ? page() : compareLines(report, terminal));
}

async function requireThere(name: string, run: string | undefined, { root }: Flags, { io }: Terminal): Promise<void> {
  const cwd = io.cwd();
  if (run !== undefined || existsSync(resolvePath(cwd, name))) return;
  throw await noRun(name, { cwd, root }, `, and a document ${name} does not exist`);
}

const documentOf = (name: string, run: string | undefined, { io }: Terminal) =>
  run === undefined ? resolvePath(io.cwd(), name) : join(run, 'best_skill.md');

async function compareRuns(
  [first, second]: readonly [string, string],
  paths: readonly string[],
  { split }: Flags,
): Promise<CompareReport> {
  const a = await runSide(paths[0]!, first, split);
  const b = await runSide(paths[1]!, second, split);
  requireSameMetric(a, b);
  requireCommon(a, b, split);
  const against = compareSides(a, b, a.config);
  return { a, b, split, against, notes: otherDifferences(a, b, split), costOf: 'the runs' };
}

type Document = { readonly name: string; readonly path: string };

async function compareDocuments(
  documents: readonly Document[],
  flags: Flags,
  terminal: Terminal,
): Promise<CompareReport> {
  const { io } = terminal;
  const { config, set: overrides, split, quiet: isQuiet = false, cache: isCached, ...rest } = flags;
  const loaded = await loadProject({ ...typedSettings(rest), config, overrides, cwd: io.cwd() });
  const subjects: Subject[] = [];
  for (const { path, name } of documents) subjects.push(await wireDocument(loaded, path, name));
  const { wiring } = subjects[0]!;
  for (const warning of new Set([...loaded.warnings, ...subjects.flatMap((one) => one.wiring.warnings)]))
    terminal.warn(warning);
  const models = await resolveScoring(loaded, { env: io.env, notices: terminal });
  const plan = await planSplits(wiring, split);
  if (plan.count < LEAST_COMMON) throw tooFew(plan.count, split);
  const progress = openProgress(terminal, { isQuiet });
  try {
    const scoring = { ...models, plan, isCached, observers: [progress], onWarning: terminal.warn };
    const stopping = { io, onStop: progress.log, isKept: isCached, hasAgent: models.agent !== undefined };
    const scored = await interruptible(stopping, (signal) => scoreDocuments(subjects, { ...scoring, signal }));
    const unmeasured = scored.find((one) => one.unmeasured)?.unmeasured;
    if (unmeasured) throw unmeasured;
    const [a, b] = scored.map((one) => sideOf(one, wiring.config)) as [Side, Side];
    requireCommon(a, b, split);
    return { a, b, split, against: compareSides(a, b, parseConfig(wiring.config)), notes: [], costOf: 'scoring them' };
  } finally {
    progress.close();
  }
}

/** Of fewer an interval says nothing that a person could use. */
const LEAST_COMMON = 10;

function requireCommon(a: Side, b: Side, split: string): void {
  const common = [...a.evidence.keys()].filter((id) => b.evidence.has(id)).length;
  if (common < LEAST_COMMON) throw tooFew(common, split);
}

function tooFew(common: number, split: string): SkillError {
  const message = `${plural(common, `${split} task`)} of both can be compared, and at least ${LEAST_COMMON} are needed`;
  const hint =
    'Add tasks to the split or choose another (--split val, or all for documents). Runs with different tasks: compare their best_skill.md, which scores both on the same ones.';
  return new SkillError('USAGE', message, { hint });
}
