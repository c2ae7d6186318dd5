import { InvalidArgumentError } from 'commander';
import { ALL_SPLITS, checkSkill, planSplits, type Subject, scoreDocuments, wireDocument } from '../../app/index.ts';
import { parseConfig, SkillError } from '../../core/contracts/index.ts';
import { loadProject, resolvePath, resolveScoring } from '../../project/index.ts';
import { checkMarkdown, type EvalReport, evalLines, evalValue, githubError, githubLines } from '../../report/index.ts';
import { Answered } from '../answered.ts';
import { openBaseline } from '../baseline.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import { formatOption, setOption } from '../flags/flags.ts';
import { evalFlags, typedSettings } from '../flags/project-flags.ts';
import { interruptible } from '../interrupt.ts';
import { openProgress } from '../progress/progress.ts';
import { addStepSummary, openReportFiles } from '../report/check/report-files.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Format = 'text' | 'md' | 'github';

type Flags = Readonly<Record<string, unknown>> & {
  readonly skill: string;
  readonly split: string;
  readonly baseline?: string;
  readonly minScore?: number;
  readonly junit?: string;
  readonly format: Format;
  readonly cache: boolean;
  readonly config?: string;
  readonly set: readonly string[];
  readonly out?: string;
  readonly quiet?: boolean;
};

export const define: DefineCommand = (command, terminal) => {
  command
    .requiredOption('--skill <path>', 'document to score, or a folder with a SKILL.md')
    .option('--split <name>', `train, val or test, or ${ALL_SPLITS}: each of them, and together`, 'test')
    .option('--baseline <path>', 'document to compare with on the same tasks, or git:REVISION: the same one, earlier')
    .option('--min-score <share>', 'fail below this score, from 0 to 1', readShare)
    .option('--junit <file>', 'write the tasks there as JUnit XML')
    .addOption(formatOption(['text', 'md', 'github']))
    .option('--out <dir>', 'write results.json, summary.json, buckets.json, eval.json and report.md there')
    .option('--no-cache', 'ask the model again, even for what is known')
    .option('--config <path>', 'project file (default: skillopt.config.yaml, .json, .mjs or .ts in this folder)')
    .option('--quiet', 'no progress, only warnings and the result')
    .option('--json', 'one JSON object on stdout');
  for (const option of [setOption(), ...evalFlags()]) command.addOption(option);
  command.addHelpText('after', EXAMPLES).action((flags: Flags) => evaluate(flags, terminal));
};

function readShare(text: string): number {
  const share = text.trim() === '' ? Number.NaN : Number(text);
  if (share >= 0 && share <= 1) return share;
  throw new InvalidArgumentError('Expected a number from 0 to 1, such as 0.8.');
}

const EXAMPLES = `${examples([
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

async function evaluate({ skill, config, set: overrides, quiet, ...flags }: Flags, terminal: Terminal): Promise<void> {
  const { io } = terminal;
  const loaded = await loadProject({ ...typedSettings(flags), config, overrides, cwd: io.cwd() });
  loaded.warnings.forEach(terminal.warn);
  const subject = await wireDocument(loaded, resolvePath(io.cwd(), skill), skill);
  await using older = await openBaseline(loaded, subject, flags.baseline, terminal);
  const subjects = [subject, ...(older.subject ? [older.subject] : [])];
  warnOf(subjects, terminal);
  const models = await resolveScoring(loaded, { env: io.env, notices: terminal });
  const files = await openReportFiles({ out: flags.out, junit: flags.junit }, io.cwd());
  const plan = await planSplits(subject.wiring, flags.split); // before the cache makes a folder
  for (const reason of plan.leftOut) terminal.warn(`left out: ${reason}`);
  const progress = openProgress(terminal, { isQuiet: quiet ?? false });
  try {
    const observers = [progress];
    const scoring = { ...models, plan, isCached: flags.cache, observers, onWarning: terminal.warn };
    const stopping = { io, onStop: progress.log, isKept: flags.cache, hasAgent: models.agent !== undefined };
    const [scored, baseline] = await interruptible(stopping, (signal) =>
      scoreDocuments(subjects, { ...scoring, signal }),
    );
    progress.close();
    const settings = subject.wiring.config;
    const check = checkSkill({ scored: scored!, baseline, minScore: flags.minScore, config: settings });
    const report = { split: flags.split, scored: scored!, baseline, check };
    await files.write(report, parseConfig(settings));
    await answer(report, flags.format, terminal);
  } catch (error) {
    if (flags.format === 'github' && error instanceof SkillError)
      io.stdout.write(`${githubError(skill, error.message)}\n`);
    throw error;
  } finally {
    progress.close();
  }
}

/** What is wrong with two documents of one project is said once. */
function warnOf(subjects: readonly Subject[], { warn }: Terminal): void {
  const warnings = subjects.flatMap(({ wiring }) => [...wiring.warnings, ...(wiring.env.warnings ?? [])]);
  for (const warning of new Set(warnings)) warn(warning);
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
