import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseConfig } from '../../core/config.ts';
import type { SkillEnv } from '../../core/env.ts';
import { SkillError } from '../../core/errors.ts';
import { toSnakeCase } from '../../core/snake-case.ts';
import { openCaches } from '../../stores/index.ts';
import { evaluateSkill, type SkillScore } from '../../train/index.ts';
import { bucketsText } from '../../train/views.ts';
import { withEnv } from '../../train/with-env.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import { interruptible, STOPPING } from '../interrupt.ts';
import { openProgress } from '../progress/progress.ts';
import { loadProject } from '../project/load-project.ts';
import { printWarnings } from '../project/print-warnings.ts';
import { evalFlags, projectInput } from '../project/project-flags.ts';
import { resolveModel } from '../project/resolve-model.ts';
import { readSkill, wireRun } from '../project/wire-run.ts';
import { countTasks, taskCount } from '../report/scored-tasks.ts';
import { testLookLines } from '../report/test-look-lines.ts';
import { countLook, testTasksOf } from '../runs/count-look.ts';
import { percent } from '../terminal/figures.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { oneLine } from '../terminal/text-width.ts';

type Flags = Readonly<Record<string, unknown>> & {
  readonly skill: string;
  readonly split: string;
  readonly cache: boolean;
  readonly config?: string;
  readonly out?: string;
  readonly quiet?: boolean;
};

export const define: DefineCommand = (command, terminal) => {
  command
    .requiredOption('--skill <path>', 'document to score')
    .option('--split <name>', 'train, val or test', 'test')
    .option('--out <dir>', 'write results.json, summary.json and buckets.json there')
    .option('--no-cache', 'ask the model again, even for what is known')
    .option('--config <path>', 'project file (default: skillopt.config.yaml, .json or .mjs in this folder)')
    .option('--quiet', 'no progress, only warnings and the result')
    .option('--json', 'one JSON object on stdout');
  for (const option of evalFlags()) command.addOption(option);
  command.addHelpText('after', EXAMPLES).action((flags: Flags) => evaluate(flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt eval --skill runs/demo/best_skill.md', 'score on the test split'],
  ['skillopt eval --skill SKILL.md --split val', 'on the split that the gate uses'],
  ['skillopt eval --skill SKILL.md --out scores', 'keep every result'],
]);

async function evaluate(
  { skill: document, split, cache, config, out, quiet, ...flags }: Flags,
  terminal: Terminal,
): Promise<void> {
  const { io } = terminal;
  const loaded = await loadProject({ flags: projectInput(flags), config, cwd: io.cwd() });
  printWarnings(loaded, terminal);
  const skill = await readSkill(resolve(io.cwd(), document));
  const wiring = await wireRun({ ...loaded, project: { ...loaded.project, skill: undefined } });
  const resolveRole = (role: 'target' | 'judge') =>
    resolveModel(loaded.project[role], { role, env: io.env, directory: loaded.directory });
  const target = await resolveRole('target');
  const judge = loaded.project.judge === undefined ? undefined : await resolveRole('judge');
  // Before the cache makes a folder.
  const testTasks = await withEnv(wiring.env, parseConfig(wiring.config), async () => {
    await requireItems(wiring.env, split);
    return testTasksOf(wiring, split);
  });
  const caches = cache ? await openCaches(join(dirname(wiring.path), '.eval'), wiring.config) : undefined;
  const progress = openProgress(terminal, { isQuiet: quiet ?? false });
  try {
    const { env, config } = wiring;
    const score = await interruptible({ io, onStop: () => progress.log(STOPPING) }, (signal) =>
      evaluateSkill({
        env,
        skill,
        split,
        target,
        judge,
        config,
        observers: [progress],
        signal,
        ...(caches ? { caches } : {}),
      }),
    );
    progress.close();
    // Before anybody sees the score. Replies that are asked for again are another look at the same skill.
    const conditions = [target.id, judge?.id, config.extras, ...(cache ? [] : [Date.now()])];
    const look = { by: 'eval', document, skill, conditions } as const;
    const testLooks = await countLook(testTasks, look, wiring, terminal);
    if (out !== undefined) await writeScore(resolve(io.cwd(), out), score);
    answer(score, { document, split, testLooks }, terminal);
  } finally {
    progress.close();
    caches?.close();
  }
}

async function requireItems(env: SkillEnv, split: string): Promise<void> {
  if ((await env.getItems(split)).length > 0) return;
  const hint = `Give some tasks the split "${split}", or choose another with --split.`;
  throw new SkillError('TASKS_INVALID', `The ${split} split of ${env.name} is empty.`, { hint });
}

async function writeScore(directory: string, score: SkillScore): Promise<void> {
  const files = { results: score.results, summary: summaryOf(score) };
  const types = Object.keys(score.buckets).filter((type) => type !== 'overall');
  await mkdir(directory, { recursive: true });
  for (const [name, value] of Object.entries(files)) {
    await writeFile(join(directory, `${name}.json`), `${JSON.stringify(toSnakeCase(value), null, 2)}\n`);
  }
  await writeFile(join(directory, 'buckets.json'), bucketsText(score.evaluation.scores, types));
}

function summaryOf({ evaluation: { hard, soft, scores } }: SkillScore) {
  return { hard, soft, n: scores.length, errored: scores.filter((score) => score.errored).length };
}

type Question = { readonly document: string; readonly split: string; readonly testLooks: number | undefined };

function answer(score: SkillScore, { document, split, testLooks }: Question, terminal: Terminal): void {
  const { bold, dim } = terminal.colors;
  const { hard, soft } = score.evaluation;
  const { scored, total } = countTasks([score.evaluation]);
  const tasks = taskCount({ scored, total }, `${split} task`);
  const types = Object.entries(score.buckets).filter(([type]) => type !== 'overall');
  const columns = [
    { title: 'task type', isElastic: true },
    ...['hard', 'soft', 'tasks'].map((title) => ({ title, align: 'right' as const })),
  ];
  const rows = types.map(([type, bucket]) => [
    oneLine(type),
    percent(bucket.hard),
    percent(bucket.soft),
    String(bucket.total),
  ]);
  const details = rows.length > 0 ? ['', ...table(columns, rows, { width: terminal.width, paintTitle: dim })] : [];
  const headline = `${bold(percent(hard))} hard, ${percent(soft)} soft on ${tasks}${scored < total ? ',' : ''} with ${document}`;
  const looks = testLookLines(testLooks, terminal.colors);
  const value = { skill: document, split, ...summaryOf(score), testLooks, buckets: score.buckets };
  terminal.answer(value, [headline, ...looks, ...details]);
}
