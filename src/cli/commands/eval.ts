import { ALL_SPLITS, openEval } from '../../app/index.ts';
import { parseConfig, SkillError } from '../../core/contracts/index.ts';
import { agentTargetOf } from '../../project/index.ts';
import { checkMarkdown, type EvalReport, evalLines, evalValue, githubError, githubLines } from '../../report/index.ts';
import { Answered } from '../errors.ts';
import { formatOption, readShare } from '../flags/flags.ts';
import { addEvalFlags, type ProjectFlags, typedProject } from '../flags/project-flags.ts';
import { withProgress } from '../progress/progress.ts';
import { addStepSummary, openReportFiles } from '../report-files.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Format = 'text' | 'md' | 'github';

type Flags = ProjectFlags & {
  readonly skill: string;
  readonly split: string;
  readonly baseline?: string;
  readonly minScore?: number;
  readonly junit?: string;
  readonly format: Format;
  readonly cache: boolean;
  readonly out?: string;
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
    .option('--no-cache', 'ask the model again, even for cached replies');
  addEvalFlags(command)
    .addHelpText('after', EXAMPLES)
    .action((flags: Flags) => evaluate(flags, terminal));
};

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

async function evaluate({ skill, quiet: isQuiet, ...flags }: Flags, terminal: Terminal): Promise<void> {
  const { io } = terminal;
  const { split, baseline, minScore, cache: isCached, format, out, junit } = flags;
  const cwd = io.cwd();
  const loaded = await typedProject(flags, terminal);
  const caller = { env: io.env, notices: terminal };
  await using scoring = await openEval(loaded, { skill, baseline, split, cwd }, caller);
  const files = await openReportFiles({ out, junit }, cwd);
  const stopping = { isQuiet, isKept: isCached, hasAgent: agentTargetOf(loaded.project) !== undefined };
  try {
    const report = await withProgress(terminal, stopping, (watching) =>
      scoring.score({ minScore, isCached, ...watching }),
    );
    await files.write(report, parseConfig(scoring.config));
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
