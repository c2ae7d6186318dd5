import { dirname } from 'node:path';
import { AgentLimitsSpec, type Item, knowsNoise, parseConfig, type SkillOptConfig } from '../core/contracts/index.ts';
import { addUsage, noStageUsage, type RunState, verdictOf } from '../core/run/index.ts';
import { countTokens } from '../models/index.ts';
import { loadPrompts } from '../pipeline/index.ts';
import {
  agentTargetOf,
  type Caller,
  isAgentSpec,
  isNoTarget,
  type LoadedProject,
  type ModelSpec,
  type Project,
} from '../project/index.ts';
import type { AgentEstimate, CostEstimate, Range } from '../report/index.ts';
import { TRIGGER_LIMITS, WORK_LIMITS } from '../runners/index.ts';
import { listRuns } from '../stores/index.ts';
import { type EstimateInput, estimateRun, loadRunItems, type StageEstimate, withEnv } from '../train/index.ts';
import { loadRun } from './load-run.ts';
import { ASSUMED, modelIn, priceStages } from './price-estimate.ts';
import { inlineFiles, type Wiring, wireRun } from './wire-run.ts';

const SAMPLE = 50;

/** What training this project will ask of its models. Makes no call. */
export async function estimateWiring({ project }: LoadedProject, wiring: Wiring): Promise<CostEstimate> {
  const { env, config: input, path, initialSkill, promptOverrides, skillFiles } = wiring;
  const config = parseConfig(input);
  const { items, skill } = await withEnv(env, config, async () => ({
    items: await loadRunItems(env, config),
    skill: initialSkill ?? (await env.getInitialSkill?.()) ?? '',
  }));
  const prompts = Object.values(loadPrompts({ ...env.prompts, ...promptOverrides }, config.extras));
  const question = {
    config,
    items: { train: items.train.length, val: items.val.length, test: items.test.length },
    tokens: {
      skill: await countTokens(skill),
      skillFiles: skillFiles.length === 0 ? 0 : await countTokens(inlineFiles(skillFiles)),
      item: await meanTokens(items.train.slice(0, SAMPLE).map((item) => JSON.stringify(item))),
      optimizerPrompt: await meanTokens(prompts),
      ...ASSUMED,
    },
    judgeCalls: project.judge === undefined ? 0 : (env.judgeCalls ?? 1),
    hasOwnPlan: env.planTrainEpoch !== undefined,
  };
  const all = estimateRun(question);
  const runs = await earlierRuns(dirname(path), { env: env.name, project });
  const earlier = runs.filter(({ isWhole }) => isWhole);
  const isAsked = ({ role }: StageEstimate) => role !== 'target' || !isNoTarget(project.target);
  const stages = withLearnedTokens(all.filter(isAsked), earlier);
  const priced = priceStages(stages, project, config.prices, likelyStages(stages, earlier, question));
  const rollout = all.find(({ stage }) => stage === 'rollout')!;
  const agent = estimateAgent(project, {
    rollouts: rollout.calls,
    likelyRollouts: likelyStages([rollout], earlier, question)[0]!.calls,
    tasks: [...items.train, ...items.val, ...items.test],
    earlier: runs.filter(({ state: { about } }) => about.env === env.name && about.target === 'none'),
  });
  return { ...priced, learnedFrom: earlier.length, ...(agent && { agent }) };
}

/** The same for a project that is not wired yet. */
export async function estimateProject(loaded: LoadedProject, notices?: Caller['notices']): Promise<CostEstimate> {
  const wiring = await wireRun(loaded);
  for (const warning of [...wiring.warnings, ...(wiring.env.warnings ?? [])]) notices?.warn(warning);
  return estimateWiring(loaded, wiring);
}

async function meanTokens(texts: readonly string[]): Promise<number> {
  const counts = await Promise.all(texts.map(countTokens));
  return counts.reduce((sum, count) => sum + count, 0) / Math.max(counts.length, 1);
}

type AgentAttempts = Pick<AgentEstimate, 'rollouts' | 'likelyRollouts'> & {
  /** Some may have limits of their own. */
  readonly tasks: readonly Item[];
  readonly earlier: readonly EarlierRun[];
};

function estimateAgent(project: Project, attempts: AgentAttempts): AgentEstimate | undefined {
  const target = agentTargetOf(project);
  if (target === undefined) return undefined;
  const { rollouts, likelyRollouts, tasks, earlier } = attempts;
  const isTrigger = project.env === 'trigger';
  const own = { ...target.limits, ...project.workspace?.limits };
  const ofTasks = (key: 'maxTurns' | 'maxUsd', usual: number) => tasks.map((task) => limitsOf(task)?.[key] ?? usual);
  const turns = rangeOf(ofTasks('maxTurns', own.maxTurns ?? (isTrigger ? TRIGGER_LIMITS : WORK_LIMITS).maxTurns!));
  const mostUsd = rangeOf(ofTasks('maxUsd', own.maxUsd ?? Number.POSITIVE_INFINITY)).high;
  // A query may be asked several times, and two more attempts show first that loading can be seen.
  const [runs, first] = isTrigger ? [project.workspace?.runs ?? 1, 2] : [1, 0];
  const calls = { low: first + rollouts.low * runs, high: (first + rollouts.high * runs) * turns.high };
  const perRollout = meanAttempt(earlier);
  return {
    rollouts,
    likelyRollouts,
    calls,
    callsToBegin: turns.low + 1, // limits of an attempt are looked at between two calls, so the last one comes on top
    likelyCalls: perRollout && within(calls, Math.round(likelyRollouts * perRollout.calls)),
    perRollout,
    mostUsd: Number.isFinite(mostUsd) ? mostUsd * rollouts.high : null,
  };
}

const rangeOf = (values: readonly number[]): Range =>
  values.reduce(({ low, high }, value) => ({ low: Math.min(low, value), high: Math.max(high, value) }), {
    low: values[0] ?? 0,
    high: values[0] ?? 0,
  });

const limitsOf = ({ limits }: Item & { readonly limits?: unknown }) => AgentLimitsSpec.safeParse(limits).data;

function meanAttempt(earlier: readonly EarlierRun[]): AgentEstimate['perRollout'] {
  const total = earlier.map(({ state }) => state.usage.rollout ?? noStageUsage).reduce(addUsage, noStageUsage);
  const { rollouts = 0, replies, input, output, costUsd, unpriced } = total;
  if (rollouts === 0 || input + output === 0) return null;
  const usd = unpriced > 0 ? null : costUsd / rollouts;
  return { calls: replies / rollouts, tokens: Math.round((input + output) / rollouts), usd };
}

/** A run of the same project, and how much it says about the next one. Of one that is not whole, only what its attempts cost. */
type EarlierRun = { readonly state: RunState; readonly weight: number; readonly isWhole: boolean };

/** The newest runs say the most, and a journal may be long. */
const MOST_RUNS = 5;
/** The weight of a run with other models or another environment, which is better than none. */
const WEIGHT_OF_OTHERS = 0.2;

type NextRun = { readonly env: string; readonly project: Project };

async function earlierRuns(folder: string, { env, project }: NextRun): Promise<EarlierRun[]> {
  const found: EarlierRun[] = [];
  for (const { path } of await listRuns(folder).catch(() => [])) {
    if (found.filter(({ isWhole }) => isWhole).length === MOST_RUNS) break;
    const run = await loadRun(path).catch(() => undefined);
    if (!run?.state.config) continue;
    const { about, isDone } = run.state;
    const isWhole = isDone && verdictOf(run.state).kind !== 'broken';
    const areSameModels = isModel(about.target, project.target) && isModel(about.optimizer, project.optimizer);
    const weight = (about.env === env ? 1 : WEIGHT_OF_OTHERS) * (areSameModels ? 1 : WEIGHT_OF_OTHERS);
    found.push({ state: run.state, weight, isWhole });
  }
  return found;
}

/** Whether the id of a model is that of the model that a project names. */
function isModel(id: string, spec: ModelSpec | undefined): boolean {
  if (isAgentSpec(spec)) return id === 'none'; // where an agent works, a run has no other target
  const { provider, name } = modelIn(spec);
  if (provider === 'simulated') return id.startsWith('sim-');
  return name !== undefined && id.includes(name);
}

/**
 * What each stage will probably ask for. A run lies somewhere between the least that it can need and the most. The next one is
 * expected where such runs usually lie, and where the earlier runs of this project lay.
 */
function likelyStages(stages: readonly StageEstimate[], earlier: readonly EarlierRun[], input: EstimateInput) {
  const placed = earlier.map((run) => {
    const { config, items } = run.state;
    const { train = 0, val = 0, test = 0 } = items;
    return { ...run, estimates: estimateRun({ ...input, config: config!, items: { train, val, test } }) };
  });
  return stages.map((stage) => {
    const place = placeOf(stage.stage, placed, input);
    const calls = within(stage.calls, stage.calls.low + place * (stage.calls.high - stage.calls.low));
    const { inputTokens, outputTokens } = tokensPerCall(stage, earlier);
    return {
      calls: Math.round(calls),
      inputTokens: Math.round(calls * inputTokens),
      outputTokens: Math.round(calls * outputTokens),
    };
  });
}

const within = ({ low, high }: Range, value: number) => Math.min(high, Math.max(low, value));

/** Widens the token ranges to what earlier runs needed per call: replies may be longer or shorter than is assumed. */
function withLearnedTokens(stages: readonly StageEstimate[], earlier: readonly EarlierRun[]): StageEstimate[] {
  return stages.map((stage) => {
    const perCall = tokensPerCall(stage, earlier);
    const widened = (of: 'inputTokens' | 'outputTokens') => ({
      low: Math.min(stage[of].low, Math.round(stage.calls.low * perCall[of])),
      high: Math.max(stage[of].high, Math.round(stage.calls.high * perCall[of])),
    });
    return { ...stage, inputTokens: widened('inputTokens'), outputTokens: widened('outputTokens') };
  });
}

/**
 * Where runs lay in simulated worlds, for attempts and for questions to the optimizer. A gate that knows noise seldom needs all
 * that it may ask for. Where a batch gives several candidates, the search is mostly over in the second epoch.
 */
function usualPlace(stage: StageEstimate['stage'], { gate, proposalsPerBatch, numEpochs }: SkillOptConfig): number {
  const isAttempt = stage === 'rollout' || stage === 'judge';
  const unused = proposalsPerBatch > 1 ? Math.max(1, numEpochs / 2) : 1;
  if (knowsNoise(gate)) return (isAttempt ? 0.18 : 0.25) / unused;
  if (proposalsPerBatch > 1) return (isAttempt ? 0.39 : 0.18) / unused;
  return isAttempt ? 0.75 : 0.6;
}

type PlacedRun = EarlierRun & { readonly estimates: readonly StageEstimate[] };

/** Between the least (0) and the most (1) of a stage. The usual place counts as much as one run. */
function placeOf(stage: StageEstimate['stage'], runs: readonly PlacedRun[], { config }: EstimateInput): number {
  const shares = runs.flatMap(({ state, weight, estimates }) => {
    const range = estimates.find((estimate) => estimate.stage === stage)?.calls;
    if (!range || range.high <= range.low) return [];
    const place = (askedOf(state, stage).calls - range.low) / (range.high - range.low);
    // A run in another mode says how much above or below the usual this project lies.
    return [{ weight, place: (place * usualPlace(stage, config)) / usualPlace(stage, state.config!) }];
  });
  const all = [...shares, { weight: 1, place: usualPlace(stage, config) }];
  return all.reduce((sum, one) => sum + one.weight * one.place, 0) / all.reduce((sum, { weight }) => sum + weight, 0);
}

/** If a larger share came from the cache, another run paid for this one, and its cached replies count as calls. */
const MOST_CACHED = 0.2;

function askedOf({ usage, about }: RunState, stage: string) {
  const { replies, cacheHits, rollouts, input, output } = addUsage(noStageUsage, usage[stage] ?? {});
  if (about.target === 'none' && rollouts !== undefined) return { calls: rollouts, input, output }; // an agent replies many times in each
  const calls = cacheHits > MOST_CACHED * replies ? replies : replies - cacheHits;
  return { calls, input, output };
}

/** As in earlier runs; where none asked, as assumed. */
function tokensPerCall({ stage, calls, inputTokens, outputTokens }: StageEstimate, earlier: readonly EarlierRun[]) {
  const asked = earlier
    .map(({ state, weight }) => ({ weight, ...askedOf(state, stage) }))
    .filter((one) => one.calls > 0);
  const total = asked.reduce((sum, { weight }) => sum + weight, 0);
  const mean = (of: 'input' | 'output') =>
    asked.reduce((sum, one) => sum + (one.weight * one[of]) / one.calls, 0) / total;
  if (total > 0) return { inputTokens: mean('input'), outputTokens: mean('output') };
  const most = Math.max(1, calls.high);
  return { inputTokens: inputTokens.high / most, outputTokens: outputTokens.high / most };
}
