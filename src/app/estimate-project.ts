import { dirname } from 'node:path';
import { type Item, parseConfig } from '../core/contracts/index.ts';
import { costUsd, countTokens, type Price, priceOf } from '../models/index.ts';
import { loadPrompts } from '../pipeline/index.ts';
import { isNoTarget, type LoadedProject, type ModelSpec } from '../project/index.ts';
import type { CostEstimate, Likely } from '../report/index.ts';
import { estimateRun, loadRunItems, type Range, type StageEstimate, withEnv } from '../train/index.ts';
import { estimateAgent } from './agent-estimate.ts';
import { earlierRuns, likelyStages, middleOf, withLearnedTokens } from './likely-cost.ts';
import { inlineFiles } from './overlay-env.ts';
import type { Wiring } from './wire-run.ts';

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
    item: await meanTokens(items.train.slice(0, SAMPLE).map(toText)),
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
    const likelyUsd = price ? usdOfLikely(expected, price) : null;
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

const usdOfLikely = ({ inputTokens, outputTokens }: Likely, price: Price) =>
  costUsd({ input: inputTokens, cached: 0, output: outputTokens }, price);

const toText = (item: Item) => JSON.stringify(item);

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
