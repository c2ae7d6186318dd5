import { existsSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ALL_SPLITS,
  type Compared,
  calibrateSkill,
  compareDocuments,
  compareRuns,
  comparisonOf,
  noRun,
  openEval,
  runPath,
} from '../../app/index.ts';
import { parseConfig, SkillError } from '../../core/contracts/index.ts';
import type { Calibration } from '../../core/stats/index.ts';
import { resolvePath } from '../../project/index.ts';
import {
  type CompareReport,
  calibrationLines,
  checkMarkdown,
  compareLines,
  compareMarkdown,
  compareValue,
  type EvalReport,
  estimateLine,
  evalLines,
  evalValue,
  githubError,
  githubLines,
  judgeLines,
  testLookLines,
} from '../../report/index.ts';
import { Answered } from '../errors.ts';
import { formatOption, readPasses, readShare, rootOption } from '../flags/flags.ts';
import { addEvalFlags, type ProjectFlags, queueOf, queueOption, typedProject } from '../flags/project-flags.ts';
import { runPlace } from '../night-runs.ts';
import { withProgress } from '../progress/progress.ts';
import { openReportFiles, type ReportFlags, unwritable, writeComparisonPage } from '../report-files.ts';
import { type DefineCommand, examples, type OptionalFlags } from '../run-command.ts';
import type { Io, Terminal } from '../terminal/terminal.ts';

type Format = 'text' | 'md' | 'github';

type EvalFlags = ProjectFlags &
  Readonly<{ skill: string; split: string; format: Format; cache: boolean }> &
  ReportFlags &
  OptionalFlags<'baseline' | 'queue', 'force', 'minScore'>;

export const defineEval: DefineCommand = (command, terminal) => {
  command
    .requiredOption('--skill <path>', 'document to score, or a folder with a SKILL.md')
    .option('--split <name>', `train, val or test, or ${ALL_SPLITS}: each of them, and together`, 'test')
    .option('--baseline <path>', 'document to compare with on the same tasks, or git:REVISION: the same one, earlier')
    .option('--min-score <share>', 'fail below this score, from 0 to 1', readShare)
    .option('--junit <file>', 'write the tasks there as JUnit XML')
    .addOption(formatOption(['text', 'md', 'github']))
    .option(
      '--out <dir>',
      'write results.json, summary.json, buckets.json, eval.json and report.md there; with a baseline report.html too',
    )
    .option('--no-cache', 'ask the model again, even for cached replies')
    .addOption(queueOption());
  addEvalFlags(command)
    .addHelpText('after', EVAL_EXAMPLES)
    .action((flags: EvalFlags) => evaluate(flags, terminal));
};

const EVAL_EXAMPLES = `${examples([
  ['skillopt eval --skill runs/demo/best_skill.md', 'score on the test split'],
  ['skillopt eval --skill SKILL.md --split val', 'on the split that the gate uses'],
  ['skillopt eval --skill SKILL.md --split all', 'on every split; a look at the test tasks like any other'],
  ['skillopt eval --skill SKILL.md --out scores', 'keep every result'],
  ['skillopt eval --skill SKILL.md --set env.limit=20', "with a setting in SkillOpt's words"],
  [
    'skillopt eval --skill SKILL.md --baseline git:main --min-score 0.8',
    'for CI: fails when worse is proven, or below 80 %',
  ],
  ['skillopt eval --skill SKILL.md --baseline OLD.md --format md', 'the comparison as a page'],
])}

exit codes: 0 passed, 1 worse is proven or below --min-score, 4 not measured: too few tasks have a score`;

async function evaluate({ skill, quiet, ...flags }: EvalFlags, terminal: Terminal): Promise<void> {
  const { io } = terminal;
  const { split, baseline, minScore, cache: isCached, format, force: isForced } = flags;
  const cwd = io.cwd();
  const loaded = await typedProject(flags, terminal);
  await using scoring = await openEval(
    loaded,
    { skill, baseline, split, cwd, isForced, queue: queueOf(flags, terminal) },
    { env: io.env, notices: terminal },
  );
  const files = await openReportFiles(flags, cwd);
  if (!quiet) terminal.say(estimateLine(await scoring.estimate({ isCached })));
  try {
    const report = await withProgress(terminal, { loaded, quiet, isKept: isCached }, ({ observers, signal }) =>
      scoring.score({ minScore, isCached, observers, signal }),
    );
    await files.write(report, parseConfig(scoring.config));
    await writeComparisonPage(comparisonOf(report, scoring.config), files.directory, terminal);
    await answer(report, format, terminal);
  } catch (error) {
    if (format === 'github' && error instanceof SkillError) io.stdout.write(`${githubError(skill, error.message)}\n`);
    throw error;
  }
}

async function answer(report: EvalReport, format: Format, terminal: Terminal): Promise<void> {
  const page = checkMarkdown(report);
  const lines = {
    text: () => evalLines(report, terminal),
    md: () => page.trimEnd().split('\n'),
    github: () => githubLines(report, page),
  };
  terminal.answer(evalValue(report), lines[format]());
  if (format === 'github') await addStepSummary(page, terminal.io);
  const { isPassed, unmeasured } = report.check;
  if (unmeasured?.hint) terminal.say(`${terminal.errorColors.dim('hint:')} ${unmeasured.hint}`);
  if (!isPassed) throw new Answered(unmeasured ? 4 : 1);
}

async function addStepSummary(page: string, { env }: Pick<Io, 'env'>): Promise<void> {
  const hint = 'Unset GITHUB_STEP_SUMMARY, or name a file that can be written.';
  const path = env.GITHUB_STEP_SUMMARY;
  if (path) await appendFile(path, `${page}\n`).catch(unwritable('the step summary', hint));
}

type CompareFlags = ProjectFlags &
  Readonly<{ split: string; root: string; format: 'text' | 'md'; cache: boolean }> &
  OptionalFlags<'queue', 'force'>;

export const defineCompare: DefineCommand = (command, terminal) => {
  command
    .argument('<a>', 'name or path of a run, or a skill: a document, or a folder with a SKILL.md')
    .argument('<b>', 'the same')
    .option('--split <name>', 'tasks to compare on', 'test')
    .addOption(rootOption())
    .addOption(formatOption(['text', 'md']))
    .option('--no-cache', 'ask the model again, even for cached replies')
    .addOption(queueOption());
  addEvalFlags(command)
    .addHelpText('after', COMPARE_EXAMPLES)
    .action((a: string, b: string, flags: CompareFlags) => compare([a, b], flags, terminal));
};

const COMPARE_EXAMPLES = `${examples([
  ['skillopt compare first second', 'the best skills of two runs by what these measured: no call is made'],
  ['skillopt compare OLD.md SKILL.md', 'two documents, both scored in this project; what is known costs nothing'],
  ['skillopt compare first second --split val', 'on the tasks that the search chose by, in fresh attempts'],
  ['skillopt compare OLD.md SKILL.md --format md', 'as a page, with the change'],
])}

A run beside a document stands for its best skill, which is then scored, too.`;

async function compare(names: readonly [string, string], flags: CompareFlags, terminal: Terminal): Promise<void> {
  const [a, b] = [await sideOf(names[0], flags, terminal), await sideOf(names[1], flags, terminal)];
  const report = a.isRun && b.isRun ? await compareRuns(a, b, flags.split) : await scoreBoth(a, b, flags, terminal);
  const page = () => compareMarkdown(report).trimEnd().split('\n');
  terminal.answer(compareValue(report), flags.format === 'md' ? page() : compareLines(report, terminal));
}

type NamedSide = Compared & { readonly isRun: boolean };

async function sideOf(name: string, { root }: CompareFlags, terminal: Terminal): Promise<NamedSide> {
  const cwd = terminal.io.cwd();
  const run = runPath(...runPlace(name, root, terminal));
  const path = run ?? resolvePath(cwd, name);
  if (run === undefined && !existsSync(path))
    throw await noRun(name, { cwd, root }, `, and a document ${name} does not exist`);
  return { name, path, isRun: run !== undefined };
}

async function scoreBoth(a: NamedSide, b: NamedSide, flags: CompareFlags, terminal: Terminal): Promise<CompareReport> {
  const { split, quiet, cache: isCached, force: isForced, ...rest } = flags;
  const loaded = await typedProject(rest, terminal);
  const document = ({ name, path, isRun }: NamedSide) => ({ name, path: isRun ? join(path, 'best_skill.md') : path });
  const queue = queueOf(flags, terminal);
  return withProgress(terminal, { loaded, quiet, isKept: isCached }, (watching) =>
    compareDocuments(loaded, [document(a), document(b)], { split, isCached, isForced, queue, ...watching }),
  );
}

type CalibrateFlags = ProjectFlags & { readonly passes: number } & OptionalFlags<'skill' | 'split', 'force'>;

export const defineCalibrate: DefineCommand = (command, terminal) => {
  command
    .option('--skill <path>', 'document to measure (default: the one that training starts from)')
    .option('--split <name>', 'split to measure on (default: the one that the gate uses)')
    .option('--passes <n>', 'how often each task is attempted', readPasses, 2);
  addEvalFlags(command)
    .addHelpText('after', CALIBRATE_EXAMPLES)
    .action((flags: CalibrateFlags) => measureNoise(flags, terminal));
};

const CALIBRATE_EXAMPLES = examples([
  ['skillopt calibrate', 'the skill against itself: how much of a score is noise, and which gains can be proven'],
  ['skillopt calibrate --passes 4', 'more passes, a better estimate'],
  ['skillopt calibrate --set env.limit=20', "with a setting in SkillOpt's words"],
]);

async function measureNoise(flags: CalibrateFlags, terminal: Terminal): Promise<void> {
  const { skill, split, passes, quiet, force: isForced, ...rest } = flags;
  const loaded = await typedProject(rest, terminal);
  const document = skill === undefined ? undefined : { path: resolvePath(terminal.io.cwd(), skill), name: skill };
  const { calibration, judge, testLooks } = await withProgress(terminal, { loaded, quiet }, (watching) =>
    calibrateSkill(loaded, { skill: document, split, passes, isForced }, watching),
  );
  const lines = [...calibrationLines(calibration, passes, terminal), ...(judge ? judgeLines(judge, terminal) : [])];
  const answer = { passes, ...withNulls(calibration), ...(judge ? { judge } : {}), testLooks };
  terminal.answer(answer, [...lines, ...testLookLines(testLooks, terminal.colors)]);
}

/** JSON has no `undefined`: a key that is not there looks like another version's answer. */
const withNulls = ({ score, warning, needs, ...rest }: Calibration) => ({
  ...rest,
  score: score ?? null,
  needs: needs.map(({ repeats, ...need }) => ({ ...need, repeats: repeats ?? null })),
  warning: warning ?? null,
});
