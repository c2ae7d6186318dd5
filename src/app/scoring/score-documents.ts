import { dirname, join } from 'node:path';
import { bucketScores, parseConfig, toEvaluation } from '../../core/contracts/index.ts';
import { addStageUsage, type RunObserver, totalCost, type UsageTable } from '../../core/run/index.ts';
import { type Budget, createBudget, LimitReached } from '../../models/index.ts';
import { whyUnscored } from '../../pipeline/index.ts';
import type { LoadedProject, ScoringModels } from '../../project/index.ts';
import type { ScoredDocument, SkillScore } from '../../report/index.ts';
import { openCaches } from '../../stores/index.ts';
import { evaluatePasses } from '../../train/index.ts';
import { countLook } from '../count-look.ts';
import { readSkill, type Wiring, wireRun, withDocument } from '../wire-run.ts';
import type { SplitPlan } from './plan-splits.ts';

/** A document to be scored, with the project around it: the files that belong to it are its own. */
export type Subject = {
  /** As the user calls it. */
  readonly document: string;
  readonly text: string;
  readonly wiring: Wiring;
};

export async function wireDocument(loaded: LoadedProject, path: string, document: string): Promise<Subject> {
  const { text, file } = await readSkill(path, loaded.project);
  return { document, text, wiring: await wireRun(withDocument(loaded, file)) };
}

export type ScoringOptions = ScoringModels & {
  readonly plan: SplitPlan;
  /** Whether what is known need not be asked for again. */
  readonly isCached: boolean;
  readonly observers: readonly RunObserver[];
  readonly signal: AbortSignal;
  readonly onWarning: (message: string) => void;
};

/** Scores documents one after the other on the same tasks, within one set of limits. With caches nothing is paid twice. */
export async function scoreDocuments(subjects: readonly Subject[], options: ScoringOptions): Promise<ScoredDocument[]> {
  const { config, path } = subjects[0]!.wiring;
  const caches = options.isCached ? await openCaches(join(dirname(path), '.eval'), config) : undefined;
  const budget = budgetOf(subjects[0]!.wiring);
  const scored: ScoredDocument[] = [];
  try {
    for (const subject of subjects) {
      scored.push(await scoreDocument(subject, { ...options, ...(budget && { budget }), ...(caches && { caches }) }));
    }
    return scored;
  } catch (error) {
    throw caches === undefined && error instanceof LimitReached ? nothingKept(error) : error;
  } finally {
    caches?.close();
  }
}

/** A limit is said to be resumed from, which needs the replies so far. */
const nothingKept = ({ limit, message }: LimitReached) =>
  new LimitReached(limit, {
    message,
    hint: `Raise ${limit} and start again: without a cache it begins from the start.`,
  });

function budgetOf({ config }: Wiring): Budget | undefined {
  const { maxCalls, maxTotalTokens, maxCostUsd, maxMinutes } = parseConfig(config);
  const limits = { maxCalls, maxTotalTokens, maxCostUsd, maxMinutes };
  return Object.values(limits).some((limit) => limit !== undefined) ? createBudget(limits) : undefined;
}

type Scoring = ScoringOptions & {
  readonly budget?: Budget;
  readonly caches?: Awaited<ReturnType<typeof openCaches>>;
};

async function scoreDocument({ document, text, wiring }: Subject, scoring: Scoring): Promise<ScoredDocument> {
  const { plan, target, judge, agent, isCached, onWarning, ...options } = scoring;
  const { env } = wiring;
  const config = { ...wiring.config, maxErroredShare: 1 }; // judged below, when there is something to show
  const splits: Record<string, SkillScore> = {};
  let usage: UsageTable = {};
  const onUsage = (used: UsageTable) => {
    usage = addStageUsage(usage, used);
  };
  for (const split of plan.names) {
    const pass = { ...options, env, skill: text, split, target, judge, agent, config, onUsage };
    [splits[split]] = (await evaluatePasses(pass, [0])) as [SkillScore];
  }
  const taskTypes = env.getTaskTypes?.() ?? [];
  const { maxErroredShare } = parseConfig(wiring.config);
  const whys = Object.values(splits).map(({ results }) => whyUnscored(results, maxErroredShare));
  // Before anybody sees the score. Replies that are asked for again are another look at the same skill.
  const conditions = [agent?.id ?? target.id, judge?.id, wiring.config.extras, ...(isCached ? [] : [Date.now()])];
  const look = { by: 'eval', document, skill: text, conditions } as const;
  return {
    ...{ document, text, splits, taskTypes, whole: together(splits, taskTypes) },
    cost: totalCost({ usage, isDone: true }),
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
