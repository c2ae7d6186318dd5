import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseConfig } from '../../core/config.ts';
import type { SkillEnv } from '../../core/env.ts';
import { SkillError } from '../../core/errors.ts';
import { bucketsText } from '../../core/run/views/views.ts';
import { toSnakeCase } from '../../core/text/snake-case.ts';
import { loadProject } from '../../project/load-project.ts';
import { resolveRole } from '../../project/models/resolve-models.ts';
import { resolvePath } from '../../project/resolve-path.ts';
import { countLook, testTasksOf } from '../../runs/count-look.ts';
import { readSkill, type Wiring, wireRun, withDocument } from '../../runs/wire-run.ts';
import { openCaches } from '../../stores/index.ts';
import { evaluateSkill, type SkillScore } from '../../train/index.ts';
import { withEnv } from '../../train/setup/with-env.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import { setOption } from '../flags/flags.ts';
import { evalFlags, typedSettings } from '../flags/project-flags.ts';
import { interruptible } from '../interrupt.ts';
import { openProgress } from '../progress/progress.ts';
import { type EvalReport, evalLines, evalValue, summaryOf, together } from '../report/eval-report.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = Readonly<Record<string, unknown>> & {
  readonly skill: string;
  readonly split: string;
  readonly cache: boolean;
  readonly config?: string;
  readonly set: readonly string[];
  readonly out?: string;
  readonly quiet?: boolean;
};

const ALL = 'all';

export const define: DefineCommand = (command, terminal) => {
  command
    .requiredOption('--skill <path>', 'document to score, or a folder with a SKILL.md')
    .option('--split <name>', `train, val or test, or ${ALL}: each of them, and together`, 'test')
    .option('--out <dir>', 'write results.json, summary.json and buckets.json there')
    .option('--no-cache', 'ask the model again, even for what is known')
    .option('--config <path>', 'project file (default: skillopt.config.yaml, .json, .mjs or .ts in this folder)')
    .option('--quiet', 'no progress, only warnings and the result')
    .option('--json', 'one JSON object on stdout');
  for (const option of [setOption(), ...evalFlags()]) command.addOption(option);
  command.addHelpText('after', EXAMPLES).action((flags: Flags) => evaluate(flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt eval --skill runs/demo/best_skill.md', 'score on the test split'],
  ['skillopt eval --skill SKILL.md --split val', 'on the split that the gate uses'],
  ['skillopt eval --skill SKILL.md --split all', 'on every split; a look at the test tasks like any other'],
  ['skillopt eval --skill SKILL.md --out scores', 'keep every result'],
  ['skillopt eval --skill SKILL.md --set env.limit=20', "with a setting in SkillOpt's words"],
]);

async function evaluate(
  { skill: document, split, cache, config, set: overrides, out, quiet, ...flags }: Flags,
  terminal: Terminal,
): Promise<void> {
  const { io } = terminal;
  const loaded = await loadProject({ ...typedSettings(flags), config, overrides, cwd: io.cwd() });
  loaded.warnings.forEach(terminal.warn);
  const { text: skill, file } = await readSkill(resolvePath(io.cwd(), document));
  const wiring = await wireRun(withDocument(loaded, file));
  wiring.warnings.forEach(terminal.warn);
  wiring.env.warnings?.forEach(terminal.warn);
  const caller = { env: io.env, notices: terminal };
  const target = await resolveRole(loaded, 'target', caller);
  const judge = loaded.project.judge === undefined ? undefined : await resolveRole(loaded, 'judge', caller);
  const outDirectory = out === undefined ? undefined : await openFolder(resolvePath(io.cwd(), out), out);
  // Before the cache makes a folder.
  const plan = await withEnv(wiring.env, parseConfig(wiring.config), () => planSplits(wiring, split));
  for (const reason of plan.leftOut) terminal.warn(`left out: ${reason}`);
  const caches = cache ? await openCaches(join(dirname(wiring.path), '.eval'), wiring.config) : undefined;
  const progress = openProgress(terminal, { isQuiet: quiet ?? false });
  try {
    const options = { env: wiring.env, skill, target, judge, config: wiring.config, observers: [progress] };
    const splits = await interruptible({ io, onStop: progress.log }, (signal) =>
      scoreEach(plan.names, (name) =>
        evaluateSkill({ ...options, split: name, signal, ...(caches ? { caches } : {}) }),
      ),
    );
    progress.close();
    // Before anybody sees the score. Replies that are asked for again are another look at the same skill.
    const conditions = [target.id, judge?.id, wiring.config.extras, ...(cache ? [] : [Date.now()])];
    const look = { by: 'eval', document, skill, conditions } as const;
    const testLooks = await countLook(plan.testTasks, look, wiring, terminal.warn);
    const report = { document, split, testLooks, splits, taskTypes: wiring.env.getTaskTypes?.() ?? [] };
    if (outDirectory !== undefined) await writeReport(outDirectory, report);
    terminal.answer(evalValue(report), evalLines(report, terminal));
  } finally {
    progress.close();
    caches?.close();
  }
}

type SplitPlan = {
  readonly names: readonly string[];
  /** Why other splits are not among them. */
  readonly leftOut: readonly string[];
  /** The hash of the test tasks, if they are among them. */
  readonly testTasks: string | undefined;
};

async function planSplits(wiring: Wiring, split: string): Promise<SplitPlan> {
  const { env, config } = wiring;
  if (split !== ALL) {
    if ((await env.getItems(split)).length === 0) throw emptySplit(env, split);
    return { names: [split], leftOut: [], testTasks: await testTasksOf(wiring, split) };
  }
  const { selectionSplit, testSplit } = parseConfig(config);
  const wanted = [...new Set(['train', selectionSplit, testSplit])];
  const reasons = new Map<string, string>();
  for (const name of wanted) {
    const reason = await whyEmpty(env, name);
    if (reason !== undefined) reasons.set(name, reason);
  }
  const names = wanted.filter((name) => !reasons.has(name));
  if (names.length === 0) throw emptySplit(env, wanted.join(', '));
  const testTasks = names.includes(testSplit) ? await testTasksOf(wiring, testSplit) : undefined;
  return { names, leftOut: [...reasons.values()], testTasks };
}

/** An environment may have no such split at all, and say so. */
async function whyEmpty(env: SkillEnv, split: string): Promise<string | undefined> {
  try {
    return (await env.getItems(split)).length > 0 ? undefined : `the ${split} split of ${env.name} is empty`;
  } catch (error) {
    if (error instanceof SkillError && error.code === 'TASKS_INVALID') return error.message;
    throw error;
  }
}

function emptySplit(env: SkillEnv, split: string): SkillError {
  const hint = `Give some tasks the split "${split}", or choose another with --split.`;
  return new SkillError('TASKS_INVALID', `The ${split} split of ${env.name} is empty.`, { hint });
}

/** One after the other: how many calls are in flight is one setting. */
async function scoreEach(names: readonly string[], score: (name: string) => Promise<SkillScore>) {
  const scores: Record<string, SkillScore> = {};
  for (const name of names) scores[name] = await score(name);
  return scores;
}

/** All tasks together, and where there are several splits each in a folder of its own. */
async function writeReport(directory: string, report: EvalReport): Promise<void> {
  await writeScore(directory, together(report));
  const parts = Object.entries(report.splits);
  if (parts.length === 1) return;
  for (const [name, score] of parts) {
    await mkdir(join(directory, name), { recursive: true });
    await writeScore(join(directory, name), score);
  }
}

/** Now, not when everything has been paid for. */
async function openFolder(path: string, shown: string): Promise<string> {
  await mkdir(path, { recursive: true }).catch((cause: Error) => {
    const hint = 'Name a folder that is not there yet, or one that you may write into.';
    throw new SkillError('USAGE', `--out ${shown} cannot be written: ${cause.message}`, { cause, hint });
  });
  return path;
}

async function writeScore(directory: string, score: SkillScore): Promise<void> {
  const files = { results: score.results, summary: summaryOf(score) };
  const types = Object.keys(score.buckets).filter((type) => type !== 'overall');
  for (const [name, value] of Object.entries(files)) {
    await writeFile(join(directory, `${name}.json`), `${JSON.stringify(toSnakeCase(value), null, 2)}\n`);
  }
  await writeFile(join(directory, 'buckets.json'), bucketsText(score.evaluation.scores, types));
}
