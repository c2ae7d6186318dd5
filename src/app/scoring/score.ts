import { dirname, join } from 'node:path';
import {
  bucketScores,
  type Item,
  parseConfig,
  type SkillEnv,
  SkillError,
  toEvaluation,
} from '../../core/contracts/index.ts';
import { addStageUsage, type RunObserver, totalCost, type UsageTable } from '../../core/run/index.ts';
import { skillHash } from '../../core/text/index.ts';
import { type Budget, createBudget, LimitReached } from '../../models/index.ts';
import { whyUnscored } from '../../pipeline/index.ts';
import type { LoadedProject, ScoringModels } from '../../project/index.ts';
import type { ScoredDocument, SkillScore } from '../../report/index.ts';
import { countTestLook, openCaches } from '../../stores/index.ts';
import { evaluatePasses, hashTasks, splitItems, withEnv } from '../../train/index.ts';
import { readSkill, type Wiring, wireRun, withDocument } from '../wire-run.ts';
import type { Elsewhere } from '../work-elsewhere.ts';

/** A document to be scored, wired into the project with the files that belong to it. */
export type Subject = { readonly document: string; readonly text: string; readonly wiring: Wiring };

export async function wireDocument(loaded: LoadedProject, path: string, document: string): Promise<Subject> {
  const { text, file } = await readSkill(path, loaded.project);
  return { document, text, wiring: await wireRun(withDocument(loaded, file), 'score') };
}

type Asked = { readonly isForced?: boolean | undefined; readonly onWarning: (message: string) => void };

/** Warns of what is doubtful about the tasks. Throws where no true number can be measured from them, unless it is forced. */
export function requireTrueTasks(subjects: readonly Pick<Subject, 'wiring'>[], { isForced, onWarning }: Asked): void {
  const { refusal } = subjects[0]!.wiring; // all have the same tasks
  if (refusal && !isForced) throw refusal;
  const warnings = subjects.flatMap(({ wiring }) => [...wiring.warnings, ...(wiring.env.warnings ?? [])]);
  for (const warning of new Set(warnings)) onWarning(warning);
}

export type ScoringOptions = ScoringModels & {
  readonly plan: SplitPlan;
  /** Whether cached replies are used. */
  readonly isCached: boolean;
  readonly observers: readonly RunObserver[];
  readonly signal: AbortSignal;
  readonly onWarning: (message: string) => void;
  /** What the attempts for a document need to be made by workers. */
  readonly elsewhere?: ((wiring: Wiring) => Promise<Elsewhere>) | undefined;
};

/** Scores documents one after the other on the same tasks, within one set of limits. With caches nothing is paid twice. */
export async function scoreDocuments(subjects: readonly Subject[], options: ScoringOptions): Promise<ScoredDocument[]> {
  const { config, path } = subjects[0]!.wiring;
  const caches = options.isCached ? await openCaches(join(dirname(path), '.eval'), config) : undefined;
  const { maxCalls, maxTotalTokens, maxCostUsd, maxMinutes } = parseConfig(config);
  const limits = { maxCalls, maxTotalTokens, maxCostUsd, maxMinutes };
  const isLimited = Object.values(limits).some((limit) => limit !== undefined);
  const shared = { ...options, ...(isLimited && { budget: createBudget(limits) }), ...(caches && { caches }) };
  const scored: ScoredDocument[] = [];
  try {
    for (const subject of subjects) scored.push(await scoreDocument(subject, shared));
    return scored;
  } catch (error) {
    if (caches !== undefined || !(error instanceof LimitReached)) throw error;
    const hint = `Raise ${error.limit} and start again: without a cache it begins from the start.`;
    throw new LimitReached(error.limit, { message: error.message, hint });
  } finally {
    caches?.close();
  }
}

type Scoring = ScoringOptions & { readonly budget?: Budget; readonly caches?: Awaited<ReturnType<typeof openCaches>> };

async function scoreDocument({ document, text, wiring }: Subject, scoring: Scoring): Promise<ScoredDocument> {
  const { plan, target, judge, agent, isCached, onWarning, elsewhere, ...options } = scoring;
  const { env } = wiring;
  const config = { ...wiring.config, maxErroredShare: 1 }; // checked below, when there is something to show
  const splits: Record<string, SkillScore> = {};
  let usage: UsageTable = {};
  const onUsage = (used: UsageTable) => {
    usage = addStageUsage(usage, used);
  };
  const moved = await elsewhere?.(wiring);
  try {
    for (const split of plan.names) {
      const pass = { ...options, env, skill: text, split, target, judge, agent, config, onUsage, ...moved };
      [splits[split]] = (await evaluatePasses(pass, [0])) as [SkillScore];
    }
  } finally {
    await moved?.runner?.close?.();
  }
  const taskTypes = env.getTaskTypes?.() ?? [];
  const { maxErroredShare } = parseConfig(wiring.config);
  const whys = Object.values(splits).map(({ results }) => whyUnscored(results, maxErroredShare));
  // Counted before anybody sees the score. Without a cache it is another look at the same skill.
  const conditions = [agent?.id ?? target.id, judge?.id, wiring.config.extras, ...(isCached ? [] : [Date.now()])];
  const look = { by: 'eval', document, skill: text, conditions } as const;
  return {
    ...{ document, text, splits, taskTypes, whole: together(splits, taskTypes) },
    cost: totalCost(usage),
    testLooks: await countLook(plan.testTasks, look, wiring, onWarning),
    version: env.version,
    unmeasured: whys.find((why) => why !== undefined),
  };
}

function together(splits: ScoredDocument['splits'], taskTypes: readonly string[]): SkillScore {
  const scores = Object.values(splits);
  if (scores.length === 1) return scores[0]!;
  const results = scores.flatMap((score) => score.results);
  const evaluation = toEvaluation(results);
  return { evaluation, results, buckets: bucketScores(evaluation.scores, taskTypes) };
}

/** Each of the splits that a run uses. */
export const ALL_SPLITS = 'all';

type SplitPlan = {
  readonly names: readonly string[];
  readonly tasks: readonly Item[];
  /** Why other splits are not among them. */
  readonly leftOut: readonly string[];
  /** The hash of the test tasks, if they are among them. */
  readonly testTasks: string | undefined;
};

/** The splits that a document is scored on. Throws when there is nothing to score it on. */
export const planSplits = (wiring: Wiring, split: string): Promise<SplitPlan> =>
  withEnv(wiring.env, parseConfig(wiring.config), () => planInEnv(wiring, split));

/** Throws where the right answers of a benchmark do not score 1, unless it is forced; warns where an empty answer does. */
export async function requireTrueScores({ env, config }: Wiring, { isForced, onWarning }: Asked): Promise<void> {
  if (env.card === undefined) return; // other environments would run verifiers, which takes long
  try {
    const trial = await withEnv(env, parseConfig(config), async () => env.tryScoring?.());
    if (trial?.warning !== undefined) onWarning(trial.warning);
  } catch (error) {
    if (!isForced || !(error instanceof SkillError)) throw error;
    onWarning(error.message);
  }
}

async function planInEnv(wiring: Wiring, split: string): Promise<SplitPlan> {
  const { env } = wiring;
  const config = parseConfig(wiring.config);
  const tasksOf = (name: string) => splitItems(env, name, config);
  if (split !== ALL_SPLITS) {
    const tasks = await tasksOf(split);
    if (tasks.length === 0) throw emptySplit(env, split);
    return { names: [split], tasks, leftOut: [], testTasks: await testTasksOf(wiring, split) };
  }
  const { selectionSplit, testSplit } = config;
  const wanted = [...new Set(['train', selectionSplit, testSplit])];
  const [names, leftOut]: [string[], string[]] = [[], []];
  const tasks: Item[] = [];
  for (const name of wanted) {
    const reason = await whyEmpty(env, name);
    (reason === undefined ? names : leftOut).push(reason ?? name);
    if (reason === undefined) tasks.push(...(await tasksOf(name)));
  }
  if (names.length === 0) throw emptySplit(env, wanted.join(', '));
  const testTasks = names.includes(testSplit) ? await testTasksOf(wiring, testSplit) : undefined;
  return { names, tasks, leftOut, testTasks };
}

/** An environment may throw for a split that it does not have. */
async function whyEmpty(env: SkillEnv, split: string): Promise<string | undefined> {
  try {
    return (await env.getItems(split)).length > 0 ? undefined : `the ${split} split of ${env.name} is empty`;
  } catch (error) {
    if (error instanceof SkillError && error.code === 'TASKS_INVALID') return error.message;
    throw error;
  }
}

function emptySplit(env: SkillEnv, split: string): SkillError {
  const hint = `Give some tasks the split "${split}", or choose another split.`;
  return new SkillError('TASKS_INVALID', `The ${split} split of ${env.name} is empty.`, { hint });
}

/** A measurement outside a run. Repeating it shows nothing new, so it is counted once. */
type Look = {
  readonly by: 'eval' | 'calibrate';
  readonly document: string;
  readonly skill: string;
  /** What else the scores depend on. */
  readonly conditions: readonly unknown[];
};

/** The hash of the test tasks when `split` holds them, whatever it is called. The environment must be set up. */
export async function testTasksOf({ env, config }: Wiring, split: string): Promise<string | undefined> {
  const { testSplit } = parseConfig(config);
  const tasks = await hashTasks(env, split);
  if (split === testSplit) return tasks;
  const testTasks = await hashTasks(env, testSplit).catch(() => undefined); // an environment may have none
  return tasks === testTasks ? tasks : undefined;
}

/**
 * Counts a look at the test tasks from outside a run, if it is one, and returns how many there are. If the folder cannot be
 * written, a warning says that the look is not counted: that is no reason to hide a score.
 */
export async function countLook(
  testTasks: string | undefined,
  { by, document, skill, conditions }: Look,
  { path }: Wiring,
  onWarning: (message: string) => void,
): Promise<number | undefined> {
  if (testTasks === undefined) return undefined;
  const hash = skillHash(skill);
  const run = `${by} ${skillHash(JSON.stringify([hash, ...conditions]))}`;
  const entry = { at: new Date().toISOString(), by, run, tasks: testTasks, subjects: { [document]: hash } };
  try {
    return (await countTestLook(dirname(path), entry)).total;
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    onWarning(`this look at the test tasks is not counted: ${error.message}`);
    return undefined;
  }
}
