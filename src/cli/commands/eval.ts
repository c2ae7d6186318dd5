import { existsSync } from 'node:fs';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ALL_SPLITS, openEval } from '../../app/index.ts';
import { parseConfig, SkillError } from '../../core/contracts/index.ts';
import { bucketsText } from '../../core/run/index.ts';
import { toSnakeCase } from '../../core/text/index.ts';
import { agentTargetOf, resolvePath } from '../../project/index.ts';
import {
  checkMarkdown,
  type EvalReport,
  evalLines,
  evalValue,
  githubError,
  githubLines,
  type JUnitMetric,
  junitText,
  type SkillScore,
  summaryOf,
} from '../../report/index.ts';
import { makeFolder } from '../../stores/index.ts';
import { Answered } from '../errors.ts';
import { formatOption, readShare } from '../flags/flags.ts';
import { addEvalFlags, type ProjectFlags, typedProject } from '../flags/project-flags.ts';
import { withProgress } from '../progress/progress.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Io, Terminal } from '../terminal/terminal.ts';

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
  const { split, baseline, minScore, cache: isCached, format } = flags;
  const cwd = io.cwd();
  const loaded = await typedProject(flags, terminal);
  const caller = { env: io.env, notices: terminal };
  await using scoring = await openEval(loaded, { skill, baseline, split, cwd }, caller);
  const files = await openReportFiles(flags, cwd);
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

/** Opens the files of a report, so that a wrong path is found before anything is paid for. */
async function openReportFiles({ out, junit }: Pick<Flags, 'out' | 'junit'>, cwd: string) {
  const directory = out === undefined ? undefined : await openFolder(resolvePath(cwd, out), `--out ${out}`);
  if (directory !== undefined) refuseForeignReport(directory, `--out ${out}`);
  const file = junit === undefined ? undefined : resolvePath(cwd, junit);
  if (file !== undefined) await openFile(file, `--junit ${junit}`);
  return {
    async write(report: EvalReport, metric: JUnitMetric): Promise<void> {
      if (file !== undefined) await writeFile(file, junitText(report, metric));
      if (directory !== undefined) await writeReport(directory, report);
    },
  };
}

async function openFolder(path: string, shown: string): Promise<string> {
  await makeFolder(path).catch((cause: Error) => {
    const hint = 'Name a folder that is not there yet, or one that you may write into.';
    throw new SkillError('USAGE', `${shown} cannot be written: ${cause.message}`, { cause, hint });
  });
  return path;
}

/** A report.md without eval.json beside it is not ours. */
function refuseForeignReport(directory: string, shown: string): void {
  if (!existsSync(join(directory, 'report.md')) || existsSync(join(directory, 'eval.json'))) return;
  const hint = 'Name another folder, or move that file away.';
  throw new SkillError('USAGE', `${shown} has a report.md already, which is not of this command`, { hint });
}

/** Overwrites nothing but an earlier report: a typing error would cost the tasks or the skill. */
async function openFile(path: string, shown: string): Promise<void> {
  const text = (await readFile(path, 'utf8').catch(() => '')).trimStart();
  if (text !== '' && !/^(?:<\?xml[^>]*>\s*)?<testsuites?[\s>]/.test(text)) {
    const hint = 'Name a file that is not there yet, or an earlier JUnit report.';
    throw new SkillError('USAGE', `${shown} is there already, and is no JUnit report`, { hint });
  }
  await openFolder(dirname(path), shown);
  const isNew = !existsSync(path);
  await writeFile(path, '', { flag: 'a' }).catch((cause: Error) => {
    const hint = 'Name a file that you may write.';
    throw new SkillError('USAGE', `${shown} cannot be written: ${cause.message}`, { cause, hint });
  });
  if (isNew) await rm(path); // an empty one would be no XML, if nothing came of the measurement
}

/** All tasks together, and where there are several splits each in a folder of its own. */
async function writeReport(directory: string, report: EvalReport): Promise<void> {
  await writeScore(directory, report.scored.whole);
  await writeFile(join(directory, 'eval.json'), `${JSON.stringify(evalValue(report), null, 2)}\n`);
  await writeFile(join(directory, 'report.md'), checkMarkdown(report));
  const parts = Object.entries(report.scored.splits);
  if (parts.length === 1) return;
  for (const [name, score] of parts) {
    await makeFolder(join(directory, name));
    await writeScore(join(directory, name), score);
  }
}

async function writeScore(directory: string, score: SkillScore): Promise<void> {
  const files = { results: score.results, summary: summaryOf(score) };
  const types = Object.keys(score.buckets).filter((type) => type !== 'overall');
  for (const [name, value] of Object.entries(files)) {
    await writeFile(join(directory, `${name}.json`), `${JSON.stringify(toSnakeCase(value), null, 2)}\n`);
  }
  await writeFile(join(directory, 'buckets.json'), bucketsText(score.evaluation.scores, types));
}

async function addStepSummary(page: string, { env }: Pick<Io, 'env'>): Promise<void> {
  const path = env.GITHUB_STEP_SUMMARY;
  if (!path) return;
  await appendFile(path, `${page}\n`).catch((cause: Error) => {
    const hint = 'Unset GITHUB_STEP_SUMMARY, or name a file that can be written.';
    throw new SkillError('USAGE', `the step summary cannot be written: ${cause.message}`, { cause, hint });
  });
}
