import { dirname } from 'node:path';
import { AgentLimitsSpec, type Item, parseConfig, SkillError } from '../core/contracts/index.ts';
import { addUsage, noStageUsage } from '../core/run/index.ts';
import { count, dollars } from '../core/text/index.ts';
import { costUsd, countTokens, type Price, priceOf } from '../models/index.ts';
import { loadPrompts } from '../pipeline/index.ts';
import {
  agentTargetOf,
  type Caller,
  isNoTarget,
  type LoadedProject,
  type ModelSpec,
  type Project,
} from '../project/index.ts';
import { type AgentEstimate, type CostEstimate, type Likely, rangeText } from '../report/index.ts';
import { TRIGGER_LIMITS, WORK_LIMITS } from '../runners/index.ts';
import { estimateRun, loadRunItems, type Range, type StageEstimate, withEnv } from '../train/index.ts';
import { type EarlierRun, earlierRuns, likelyStages, middleOf, within, withLearnedTokens } from './likely-cost.ts';
import { inlineFiles, type Wiring, wireRun } from './wire-run.ts';

/** Nobody knows how long replies will be. These are usual for short answers, patches of a few edits, and rules of a sentence. */
export const ASSUMED = { targetReply: 150, optimizerReply: 600, edit: 40 };
const SAMPLE = 50;

/** What training this project will ask of its models. Makes no call. */
export async function estimateWiring(
  loaded: LoadedProject,
  { env, config: input, path, initialSkill, promptOverrides, skillFiles }: Wiring,
): Promise<CostEstimate> {
  const config = parseConfig(input);
  const { items, skill } = await withEnv(env, config, async () => ({
    items: await loadRunItems(env, config),
    skill: initialSkill ?? (await env.getInitialSkill?.()) ?? '',
  }));
  const prompts = Object.values(loadPrompts({ ...env.prompts, ...promptOverrides }, config.extras));
  const tokens = {
    skill: await countTokens(skill),
    skillFiles: skillFiles.length === 0 ? 0 : await countTokens(inlineFiles(skillFiles)),
    item: await meanTokens(items.train.slice(0, SAMPLE).map((item) => JSON.stringify(item))),
    optimizerPrompt: await meanTokens(prompts),
    ...ASSUMED,
  };
  const sizes = { train: items.train.length, val: items.val.length, test: items.test.length };
  const judgeCalls = loaded.project.judge === undefined ? 0 : (env.judgeCalls ?? 1);
  const hasOwnPlan = env.planTrainEpoch !== undefined;
  const isAsked = ({ role }: StageEstimate) => role !== 'target' || !isNoTarget(loaded.project.target);
  const question = { config, items: sizes, tokens, judgeCalls, hasOwnPlan };
  const all = estimateRun(question);
  const earlier = await earlierRuns(dirname(path), { env: env.name, models: loaded.project });
  const stages = withLearnedTokens(all.filter(isAsked), earlier);
  const likely = likelyStages(stages, earlier, question);
  const stage = all.find((one) => one.stage === 'rollout')!;
  const tasks = [...items.train, ...items.val, ...items.test];
  const attempts = { stage, likely: likelyStages([stage], earlier, question)[0]!, tasks };
  const agent = estimateAgent(loaded.project, attempts, earlier, env.name);
  const priced = priceStages(stages, loaded.project, config.prices, likely);
  return { ...priced, learnedFrom: earlier.length, ...(agent && { agent }) };
}

/** The same of a project that is not wired yet. */
export async function estimateProject(loaded: LoadedProject, notices?: Caller['notices']): Promise<CostEstimate> {
  const wiring = await wireRun(loaded);
  for (const warning of [...wiring.warnings, ...(wiring.env.warnings ?? [])]) notices?.warn(warning);
  return estimateWiring(loaded, wiring);
}

type Models = Readonly<Partial<Record<StageEstimate['role'], ModelSpec | undefined>>>;

/** Stages with what they cost, and all of them together. */
export function priceStages(
  estimates: readonly StageEstimate[],
  models: Models,
  prices: Readonly<Record<string, Price>>,
  likely: readonly Likely[] = estimates.map(middleOf),
): CostEstimate {
  const stages = estimates.map((stage, at) => {
    const price = priceOfSpec(models[stage.role], prices);
    const expected = likely[at]!;
    const likelyUsd = price
      ? costUsd({ input: expected.inputTokens, cached: 0, output: expected.outputTokens }, price)
      : null;
    return { ...stage, usd: price ? usdOf(stage, price) : null, likely: expected, likelyUsd };
  });
  const usd = addUp(stages.map(({ usd }) => usd));
  const dollars = usd && stages.reduce((sum, { likelyUsd }) => sum + (likelyUsd ?? 0), 0);
  const sum = (of: keyof Likely) => likely.reduce((all, stage) => all + stage[of], 0);
  return {
    ...{ stages, totals: totalsOf(stages), totalUsd: usd, assumed: ASSUMED },
    likely: { calls: sum('calls'), tokens: sum('inputTokens') + sum('outputTokens'), usd: dollars },
    learnedFrom: 0,
  };
}

async function meanTokens(texts: readonly string[]): Promise<number> {
  const counts = await Promise.all(texts.map(countTokens));
  return counts.reduce((sum, count) => sum + count, 0) / Math.max(counts.length, 1);
}

function priceOfSpec(spec: ModelSpec | undefined, prices: Readonly<Record<string, Price>>): Price | undefined {
  const [provider, name] = typeof spec === 'string' ? spec.split(/:(.*)/s) : [spec?.provider, spec?.model];
  if (provider === 'simulated' || provider === 'handoff') return { input: 0, cachedInput: 0, output: 0 };
  return typeof name === 'string' ? priceOf(name.split('@')[0]!, prices) : undefined;
}

function usdOf({ inputTokens, outputTokens }: StageEstimate, price: Price): Range {
  const usd = (end: keyof Range) => costUsd({ input: inputTokens[end], cached: 0, output: outputTokens[end] }, price);
  return { low: usd('low'), high: usd('high') };
}

function totalsOf(stages: readonly StageEstimate[]): CostEstimate['totals'] {
  const [inputTokens, outputTokens, calls] = (['inputTokens', 'outputTokens', 'calls'] as const).map(
    (key) => addUp(stages.map((stage) => stage[key]))!,
  ) as [Range, Range, Range];
  return { calls, inputTokens, outputTokens, tokens: addUp([inputTokens, outputTokens])! };
}

function addUp(ranges: readonly (Range | null)[]): Range | null {
  return ranges.reduce((sum, range) => sum && range && { low: sum.low + range.low, high: sum.high + range.high }, {
    low: 0,
    high: 0,
  } as Range | null);
}

type Attempts = {
  readonly stage: StageEstimate;
  readonly likely: Likely;
  /** Some may have limits of their own. */
  readonly tasks: readonly Item[];
};

/** Nothing where the target is no agent. */
function estimateAgent(
  project: Project,
  { stage, likely, tasks }: Attempts,
  earlier: readonly EarlierRun[],
  env: string,
): AgentEstimate | undefined {
  const target = agentTargetOf(project);
  if (target === undefined) return undefined;
  const own = { ...target.limits, ...project.workspace?.limits };
  const most = (key: 'maxTurns' | 'maxUsd', usual: number) =>
    tasks.map((task) => limitsOf(task)?.[key] ?? usual).reduce((one, other) => Math.max(one, other), 0);
  const mostUsd = most('maxUsd', own.maxUsd ?? Number.POSITIVE_INFINITY);
  const alike = earlier.filter(({ state: { about } }) => about.env === env && about.target === 'none');
  const perRollout = meanAttempt(alike);
  const calls = callsOf(project, stage.calls, most('maxTurns', own.maxTurns ?? usualTurns(project)));
  return {
    rollouts: stage.calls,
    likelyRollouts: likely.calls,
    calls,
    likelyCalls: perRollout && within(calls, Math.round(likely.calls * perRollout.calls)),
    perRollout,
    mostUsd: Number.isFinite(mostUsd) ? mostUsd * stage.calls.high : null,
  };
}

/** A task may have limits of its own. */
const limitsOf = ({ limits }: Item & { readonly limits?: unknown }) => AgentLimitsSpec.safeParse(limits).data;

/** A query may be put several times, and two more pieces of work show first that loading can be seen. */
function callsOf({ env, workspace }: Project, { low, high }: Range, turns: number): Range {
  const isTrigger = env === 'trigger';
  const runs = isTrigger ? (workspace?.runs ?? 1) : 1;
  const first = isTrigger ? 2 : 0;
  return { low: first + low * runs, high: (first + high * runs) * turns };
}

const usualTurns = ({ env }: Project) => (env === 'trigger' ? TRIGGER_LIMITS : WORK_LIMITS).maxTurns!;

function meanAttempt(earlier: readonly EarlierRun[]): AgentEstimate['perRollout'] {
  const total = earlier.map(({ state }) => state.usage.rollout ?? noStageUsage).reduce(addUsage, noStageUsage);
  const { rollouts = 0, replies, input, output, costUsd, unpriced } = total;
  if (rollouts === 0 || input + output === 0) return null;
  const usd = unpriced > 0 ? null : costUsd / rollouts;
  return { calls: replies / rollouts, tokens: Math.round((input + output) / rollouts), usd };
}

type Caps = {
  readonly maxCalls?: number | undefined;
  readonly maxTotalTokens?: number | undefined;
  readonly maxCostUsd?: number | undefined;
};

type Compared = {
  readonly limit: string;
  readonly cap: number;
  readonly need: Range;
  readonly show: (value: number) => string;
  /** The amount with its unit. */
  readonly name: (amount: string) => string;
};

/** Throws `BUDGET_EXHAUSTED` when even the least that a run can need is above a cap: it would stop before its end. */
export function requireWithinCaps(costs: CostEstimate, caps: Caps): void {
  const [first] = compare(costs, caps).filter(({ need, cap }) => need.low > cap);
  if (!first) return;
  const { limit, need, show, name, cap } = first;
  throw new SkillError(
    'BUDGET_EXHAUSTED',
    `this run needs at least ${name(show(need.low))}, and ${limit} is ${name(show(cap))}`,
    {
      hint: 'Raise the limit, train on less (skillopt estimate shows the stages), or ignore the estimate.',
    },
  );
}

/** What to tell of a cap that the run may reach, and may not. */
export function capWarnings(costs: CostEstimate, caps: Caps): string[] {
  return compare(costs, caps)
    .filter(({ need, cap }) => need.low <= cap && need.high > cap)
    .map(
      ({ limit, need, show, name, cap }) =>
        `this run may need ${name(reach(need, show))}; it stops at ${limit} ${show(cap)}`,
    );
}

const unit = (word: string) => (amount: string) => `${amount} ${word}${amount === '1' ? '' : 's'}`;

/** How far nobody knows before an agent has worked once. */
const reach = (need: Range, show: (value: number) => string) =>
  Number.isFinite(need.high) ? rangeText(need, show) : `${show(need.low)} or more`;

function compare(costs: CostEstimate, { maxCalls, maxTotalTokens, maxCostUsd }: Caps): Compared[] {
  const { calls, tokens, usd } = needsOf(costs);
  const all = [
    { limit: 'maxCalls', cap: maxCalls, need: calls, show: count, name: unit('call') },
    { limit: 'maxTotalTokens', cap: maxTotalTokens, need: tokens, show: count, name: unit('token') },
    { limit: 'maxCostUsd', cap: maxCostUsd, need: usd, show: dollars, name: (amount: string) => `$${amount}` },
  ];
  return all.filter((row): row is Compared => row.cap !== undefined && row.need !== null);
}

/** With what the agent will take: limits are of the whole run. */
function needsOf({ totals, totalUsd, agent }: CostEstimate) {
  const { calls, tokens } = totals;
  if (agent === undefined) return { calls, tokens, usd: totalUsd };
  const { rollouts, perRollout, mostUsd } = agent;
  const usual = (of: 'tokens' | 'usd') => rollouts.high * (perRollout?.[of] ?? Number.POSITIVE_INFINITY);
  return {
    calls: { low: calls.low + agent.calls.low, high: calls.high + agent.calls.high },
    tokens: { low: tokens.low, high: tokens.high + usual('tokens') },
    usd: totalUsd && { low: totalUsd.low, high: totalUsd.high + (mostUsd ?? usual('usd')) },
  };
}
