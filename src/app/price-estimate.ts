import { AgentLimitsSpec, type Item, SkillError, type SkillOptConfigInput } from '../core/contracts/index.ts';
import { addUsage, noStageUsage, type RunState } from '../core/run/index.ts';
import { count, dollars } from '../core/text/index.ts';
import { costUsd, type Price, type Prices, priceOf } from '../models/index.ts';
import { agentTargetOf, type ModelSpec, type Project } from '../project/index.ts';
import { type AgentEstimate, type CostEstimate, type Likely, type Range, rangeText } from '../report/index.ts';
import { TRIGGER_LIMITS, WORK_LIMITS } from '../runners/index.ts';
import type { StageEstimate } from '../train/index.ts';

/** Tokens. Nobody knows how long replies will be: these are usual for short answers, patches of a few edits, and one rule. */
export const ASSUMED = { targetReply: 150, optimizerReply: 600, edit: 40 };

/** An agent with tools calls its model several times for a task, and sends everything before again. */
export const USUAL_ATTEMPT = { turns: { low: 4, high: 15 }, tokensPerTurn: 15_000 };

type Models = Readonly<Partial<Record<StageEstimate['role'], ModelSpec | undefined>>>;

export function priceStages(
  estimates: readonly StageEstimate[],
  models: Models,
  prices: Prices,
  likely: readonly Likely[] = estimates.map(middleOf),
): CostEstimate {
  const stages = estimates.map((stage, at) => {
    const price = priceOfSpec(models[stage.role], prices);
    const expected = likely[at]!;
    if (!price) return { ...stage, usd: null, likely: expected, likelyUsd: null };
    const cost = (input: number, output: number) => costUsd({ input, cached: 0, output }, price);
    const { inputTokens, outputTokens } = stage;
    const usd = { low: cost(inputTokens.low, outputTokens.low), high: cost(inputTokens.high, outputTokens.high) };
    return { ...stage, usd, likely: expected, likelyUsd: cost(expected.inputTokens, expected.outputTokens) };
  });
  const total = (key: keyof Likely) => addUp(stages.map((stage) => stage[key]))!;
  const [calls, inputTokens, outputTokens] = [total('calls'), total('inputTokens'), total('outputTokens')];
  const totalUsd = addUp(stages.map(({ usd }) => usd));
  const sum = (key: keyof Likely) => likely.reduce((all, stage) => all + stage[key], 0);
  return {
    stages,
    totals: { calls, inputTokens, outputTokens, tokens: addUp([inputTokens, outputTokens])! },
    totalUsd,
    assumed: ASSUMED,
    likely: {
      calls: sum('calls'),
      tokens: sum('inputTokens') + sum('outputTokens'),
      usd: totalUsd && stages.reduce((all, { likelyUsd }) => all + (likelyUsd ?? 0), 0),
    },
    learnedFrom: 0,
    areRepliesKnown: false,
  };
}

function priceOfSpec(spec: ModelSpec | undefined, prices: Prices): Price | undefined {
  const { provider, name } = modelIn(spec);
  if (provider === 'simulated' || provider === 'handoff') return { input: 0, cachedInput: 0, output: 0 };
  return name === undefined ? undefined : priceOf(name, prices);
}

/** The provider and the model of `provider:model@address`, or of a block. */
export function modelIn(spec: ModelSpec | undefined) {
  const [provider, name] = typeof spec === 'string' ? spec.split(/:(.*)/s) : [spec?.provider, spec?.model];
  return { provider, name: typeof name === 'string' ? name.split('@')[0]! : undefined };
}

/** Null if one of them is unknown. */
function addUp(ranges: readonly (Range | null)[]): Range | null {
  const known = ranges.filter((range) => range !== null);
  if (known.length < ranges.length) return null;
  const sum = (end: keyof Range) => known.reduce((all, range) => all + range[end], 0);
  return { low: sum('low'), high: sum('high') };
}

/** The geometric middle, where nothing else is known: a night that finds little is as usual as one that finds much. */
function middleOf({ calls, inputTokens, outputTokens }: StageEstimate): Likely {
  if (calls.high === 0) return { calls: 0, inputTokens: 0, outputTokens: 0 };
  const middle = ({ low, high }: Range) => Math.round(Math.sqrt(Math.max(1, low) * Math.max(1, high)));
  return { calls: middle(calls), inputTokens: middle(inputTokens), outputTokens: middle(outputTokens) };
}

type AgentAttempts = Pick<AgentEstimate, 'rollouts' | 'likelyRollouts'> & {
  /** Some may have limits of their own. */
  readonly tasks: readonly Item[];
  readonly tokens: { readonly skill: number; readonly item: number };
  readonly earlier: readonly RunState[];
};

/** What attempts of an agent will take; undefined if the target is a model. */
export function estimateAgent(project: Project, attempts: AgentAttempts): AgentEstimate | undefined {
  const target = agentTargetOf(project);
  if (target === undefined) return undefined;
  const { rollouts, likelyRollouts, tasks, tokens, earlier } = attempts;
  const isTrigger = project.env === 'trigger';
  const own = { ...target.limits, ...project.workspace?.limits };
  const ofTasks = (key: 'maxTurns' | 'maxUsd', usual: number) => tasks.map((task) => limitsOf(task)?.[key] ?? usual);
  const turns = rangeOf(ofTasks('maxTurns', own.maxTurns ?? (isTrigger ? TRIGGER_LIMITS : WORK_LIMITS).maxTurns!));
  const mostUsd = rangeOf(ofTasks('maxUsd', own.maxUsd ?? Number.POSITIVE_INFINITY)).high;
  // A query may be asked several times, and two more attempts show first that loading can be seen.
  const [runs, first] = isTrigger ? [project.workspace?.runs ?? 1, 2] : [1, 0];
  const calls = { low: first + rollouts.low * runs, high: (first + rollouts.high * runs) * turns.high };
  const measured = meanAttempt(earlier);
  const usual = { calls: isTrigger ? 2 * runs : Math.min(USUAL_CALLS, turns.high), tokens: tokens.skill + tokens.item };
  const perRollout = measured ?? usualAttempt(usual, priceOfSpec(project.target, project.prices), mostUsd);
  return {
    rollouts,
    likelyRollouts,
    calls,
    callsToBegin: turns.low + 1, // limits of an attempt are looked at between two calls, so the last one comes on top
    likelyCalls: within(calls, Math.round(likelyRollouts * perRollout.calls)),
    perRollout,
    isMeasured: measured !== undefined,
    mostUsd: Number.isFinite(mostUsd) ? mostUsd * rollouts.high : null,
  };
}

export const within = ({ low, high }: Range, value: number) => Math.min(high, Math.max(low, value));

const rangeOf = (values: readonly number[]): Range =>
  values.reduce(({ low, high }, value) => ({ low: Math.min(low, value), high: Math.max(high, value) }), {
    low: values[0] ?? 0,
    high: values[0] ?? 0,
  });

const limitsOf = ({ limits }: Item & { readonly limits?: unknown }) => AgentLimitsSpec.safeParse(limits).data;

/** Between the fewest and the most, as a product. */
const USUAL_CALLS = Math.round(Math.sqrt(USUAL_ATTEMPT.turns.low * USUAL_ATTEMPT.turns.high));

/** Each call sends again what the one before it sent, which the provider has cached. */
function usualAttempt(own: { calls: number; tokens: number }, price: Price | undefined, mostUsd: number) {
  const { calls } = own;
  const perCall = USUAL_ATTEMPT.tokensPerTurn + own.tokens;
  const usage = { input: calls * perCall, cached: (calls - 1) * perCall, output: calls * ASSUMED.targetReply };
  const usd = price === undefined ? null : Math.min(mostUsd, costUsd(usage, price));
  return { calls, tokens: Math.round(usage.input + usage.output), usd };
}

function meanAttempt(earlier: readonly RunState[]): AgentEstimate['perRollout'] | undefined {
  const total = earlier.map(({ usage }) => usage.rollout ?? noStageUsage).reduce(addUsage, noStageUsage);
  const { rollouts = 0, replies, input, output, costUsd, unpriced } = total;
  if (rollouts === 0 || input + output === 0) return undefined;
  const usd = unpriced > 0 ? null : costUsd / rollouts;
  return { calls: replies / rollouts, tokens: Math.round((input + output) / rollouts), usd };
}

type Caps = Pick<SkillOptConfigInput, 'maxCalls' | 'maxTotalTokens' | 'maxCostUsd'>;

/** Throws `BUDGET_EXHAUSTED` when even the least that a run can need is above a cap: it would stop before its end. */
export function requireWithinCaps(costs: CostEstimate, caps: Caps): void {
  const exceeded = compareWithCaps(costs, caps).find(({ need, cap }) => need.low > cap);
  if (!exceeded) return;
  const { limit, need, show, name, cap } = exceeded;
  const isOfOne = limit === 'maxCalls' && need.low === costs.agent?.callsToBegin;
  const why = isOfOne ? ' (one attempt of the agent may take so many: limits.maxTurns)' : '';
  const message = `this run needs at least ${name(show(need.low))}${why}, and ${limit} is ${name(show(cap))}`;
  const hint = 'Raise the limit, train on less (skillopt estimate shows the stages), or ignore the estimate.';
  throw new SkillError('BUDGET_EXHAUSTED', message, { hint });
}

export function capWarnings(costs: CostEstimate, caps: Caps): string[] {
  return compareWithCaps(costs, caps)
    .filter(({ need, cap }) => need.low <= cap && need.high > cap)
    .map(({ limit, need, show, name, cap }) => {
      const reach = Number.isFinite(need.high) ? rangeText(need, show) : `${show(need.low)} or more`;
      return `this run may need ${name(reach)}; it stops at ${limit} ${show(cap)}`;
    });
}

const unit = (word: string) => (amount: string) => `${amount} ${word}${amount === '1' ? '' : 's'}`;

function compareWithCaps(costs: CostEstimate, { maxCalls, maxTotalTokens, maxCostUsd }: Caps) {
  const { calls, tokens, usd } = needsOf(costs);
  const rows = [
    { limit: 'maxCalls', cap: maxCalls, need: calls, show: count, name: unit('call') },
    { limit: 'maxTotalTokens', cap: maxTotalTokens, need: tokens, show: count, name: unit('token') },
    { limit: 'maxCostUsd', cap: maxCostUsd, need: usd, show: dollars, name: (amount: string) => `$${amount}` },
  ];
  return rows.flatMap(({ cap, need, ...row }) => (cap === undefined || need === null ? [] : [{ ...row, cap, need }]));
}

/** Includes what the agent will take: limits are for the whole run. The high end is unknown before an agent has worked once. */
function needsOf({ totals, totalUsd, agent }: CostEstimate) {
  const { calls, tokens } = totals;
  if (agent === undefined) return { calls, tokens, usd: totalUsd };
  const { rollouts, perRollout, isMeasured, mostUsd } = agent;
  const usual = (of: 'tokens' | 'usd') =>
    rollouts.high * ((isMeasured ? perRollout[of] : null) ?? Number.POSITIVE_INFINITY);
  return {
    calls: { low: Math.max(calls.low + agent.calls.low, agent.callsToBegin), high: calls.high + agent.calls.high },
    tokens: { low: tokens.low, high: tokens.high + usual('tokens') },
    usd: totalUsd && { low: totalUsd.low, high: totalUsd.high + (mostUsd ?? usual('usd')) },
  };
}
