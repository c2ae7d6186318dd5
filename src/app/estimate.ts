import { dirname } from 'node:path';
import { type Item, knowsNoise, parseConfig, type SkillEnv, type SkillOptConfig } from '../core/contracts/index.ts';
import { addUsage, noStageUsage, type RunState, verdictOf } from '../core/run/index.ts';
import { defined } from '../core/text/index.ts';
import { countTokens } from '../models/index.ts';
import { loadPrompts } from '../pipeline/index.ts';
import {
  type Caller,
  isAgentSpec,
  isNoTarget,
  type LoadedProject,
  type ModelSpec,
  type Project,
} from '../project/index.ts';
import type { CostEstimate, Likely } from '../report/index.ts';
import { listRuns } from '../stores/index.ts';
import {
  type EstimateInput,
  estimateAttempts,
  estimateRun,
  loadRunItems,
  requireStep,
  type StageEstimate,
  sizeWords,
  withEnv,
} from '../train/index.ts';
import { loadRun } from './load-run.ts';
import { ASSUMED, estimateAgent, modelIn, priceStages, within } from './price-estimate.ts';
import { inlineFiles, type Wiring, wireRun } from './wire-run.ts';

const SAMPLE = 50;

/** What training this project will ask of its models. Makes no call. */
export async function estimateWiring({ project }: LoadedProject, wiring: Wiring): Promise<CostEstimate> {
  const { env, config: input, path, initialSkill, promptOverrides } = wiring;
  const config = parseConfig(input);
  const { items, skill } = await withEnv(env, config, async () => ({
    items: await loadRunItems(env, config),
    skill: initialSkill ?? (await env.getInitialSkill?.()) ?? '',
  }));
  requireStep(config, items, env); // before anything is spent
  const prompts = Object.values(loadPrompts({ ...env.prompts, ...promptOverrides }, config.extras));
  const question = {
    config,
    items: { train: items.train.length, val: items.val.length, test: items.test.length },
    tokens: { ...(await attemptTokens(skill, items.train, wiring)), optimizerPrompt: await meanTokens(prompts) },
    judgeCalls: judgeCallsOf(project, env),
    ...callsOf(project, env),
    hasOwnPlan: env.planTrainEpoch !== undefined,
  };
  const all = estimateRun(question);
  const runs = await earlierRuns(dirname(path), { env: env.name, project });
  const earlier = runs.filter(({ isWhole }) => isWhole);
  const isAsked = ({ role }: StageEstimate) => role !== 'target' || !isNoTarget(project.target);
  const grown = { ...question.tokens, edit: USUAL_GROWTH * question.tokens.edit };
  const perCall = tokensPerCall(estimateRun({ ...question, tokens: grown }), earlier);
  const stages = withLearnedTokens(all.filter(isAsked), perCall);
  const callsTo = likelyCalls(earlier, question);
  const likely = stages.map((stage) => likelyOf(stage, callsTo(stage), perCall));
  const priced = priceStages(stages, project, config.prices, likely);
  const rollout = all.find(({ stage }) => stage === 'rollout')!;
  const agent = estimateAgent(project, {
    rollouts: rollout.calls,
    likelyRollouts: Math.round(callsTo(rollout)),
    tasks: [...items.train, ...items.val, ...items.test],
    tokens: question.tokens,
    earlier: attemptsIn(runs, env.name),
  });
  const validation = sizeWords(items, config.maxRollouts);
  const said = defined({ validation, agent });
  return { ...priced, ...callsOf(project, env), ...learnedOf(stages, earlier), ...said };
}

type ScoredTasks = {
  readonly wiring: Wiring;
  /** The documents that are scored. */
  readonly texts: readonly string[];
  readonly tasks: readonly Item[];
  /** Whether replies of an earlier measurement are used: then it may cost nothing. */
  readonly isCached: boolean;
};

/** What scoring documents on these tasks will ask for. Makes no call. */
export async function estimateScoring({ project }: LoadedProject, scored: ScoredTasks): Promise<CostEstimate> {
  const { wiring, texts, tasks, isCached } = scored;
  const { env, path } = wiring;
  const all = tasks.length * texts.length;
  const rollouts = { low: isCached ? 0 : all, high: all };
  const tokens = await attemptTokens(texts.join(''), tasks, wiring);
  const skill = tokens.skill / texts.length;
  const attempts = { tokens, judgeCalls: judgeCallsOf(project, env), ...callsOf(project, env) };
  const runs = await earlierRuns(dirname(path), { env: env.name, project });
  const earlier = runs.filter(({ isWhole }) => isWhole);
  const isAsked = ({ role }: StageEstimate) =>
    role !== 'target' || !(isNoTarget(project.target) || isAgentSpec(project.target));
  const asked = estimateAttempts(rollouts, { low: skill, high: skill }, attempts).filter(isAsked);
  const perCall = tokensPerCall(asked, earlier);
  const stages = withLearnedTokens(asked, perCall);
  const likely = stages.map((stage) => likelyOf(stage, stage.calls.high, perCall));
  const priced = priceStages(stages, project, parseConfig(wiring.config).prices, likely);
  const ofAgent = { rollouts, likelyRollouts: all, tasks, tokens, earlier: attemptsIn(runs, env.name) };
  const agent = estimateAgent(project, ofAgent);
  return { ...priced, ...callsOf(project, env), ...learnedOf(stages, earlier), ...(agent && { agent }) };
}

async function attemptTokens(skill: string, items: readonly Item[], { skillFiles, env }: Wiring) {
  const text = await meanTokens(items.slice(0, SAMPLE).map((item) => JSON.stringify(item)));
  return {
    skill: await countTokens(skill),
    skillFiles: skillFiles.length === 0 ? 0 : await countTokens(inlineFiles(skillFiles)),
    item: text + (env.needsImages ? TOKENS_OF_IMAGE : 0),
    ...ASSUMED,
  };
}

/** A page that fills the view of a model. */
const TOKENS_OF_IMAGE = 1_200;

/** An agent's calls are estimated apart. */
const callsOf = ({ target }: Project, { targetCalls }: SkillEnv) =>
  targetCalls === undefined || isAgentSpec(target) ? {} : { targetCalls };

const judgeCallsOf = ({ judge }: Project, { judgeCalls = 1 }: SkillEnv) => (judge === undefined ? 0 : judgeCalls);
const attemptsIn = (runs: readonly EarlierRun[], env: string) =>
  runs.map(({ state }) => state).filter(({ about }) => about.env === env && about.target === 'none');

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

/** A run of the same project, and how much it says about the next one. Of one that is not whole, only what its attempts cost. */
type EarlierRun = {
  readonly state: RunState;
  readonly weight: number;
  readonly isWhole: boolean;
  /** Whose replies are as long as those of the next one will be. */
  readonly sameModels: Readonly<Record<StageEstimate['role'], boolean>>;
};

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
    const target = isModel(about.target, project.target);
    const optimizer = isModel(about.optimizer, project.optimizer);
    const weight = (about.env === env ? 1 : WEIGHT_OF_OTHERS) * (target && optimizer ? 1 : WEIGHT_OF_OTHERS);
    // A journal does not name the judge: it is seldom changed.
    found.push({ state: run.state, weight, isWhole, sameModels: { target, optimizer, judge: true } });
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
 * How often each stage will probably be asked. A run lies somewhere between the least that it can need and the most. The next one
 * is expected where such runs usually lie, and where the earlier runs of this project lay.
 */
function likelyCalls(earlier: readonly EarlierRun[], input: EstimateInput): (stage: StageEstimate) => number {
  const placed = earlier.map((run) => {
    const { config, items } = run.state;
    const { train = 0, val = 0, test = 0 } = items;
    return { ...run, estimates: estimateRun({ ...input, config: config!, items: { train, val, test } }) };
  });
  return ({ stage, calls }) => within(calls, calls.low + placeOf(stage, placed, input) * (calls.high - calls.low));
}

function likelyOf(stage: StageEstimate, calls: number, perCall: PerCall): Likely {
  const { inputTokens, outputTokens } = perCall(stage);
  return {
    calls: Math.round(calls),
    inputTokens: Math.round(calls * inputTokens),
    outputTokens: Math.round(calls * outputTokens),
  };
}

/** How many runs the estimate is learned from, and whether these models made the replies in one of them. */
const learnedOf = (stages: readonly StageEstimate[], earlier: readonly EarlierRun[]) => ({
  learnedFrom: earlier.length,
  areRepliesKnown: stages.every(({ role }) => earlier.some(({ sameModels }) => sameModels[role])),
});

/** Widens the token ranges to what earlier runs needed per call: replies may be longer or shorter than is assumed. */
function withLearnedTokens(stages: readonly StageEstimate[], perCall: PerCall): StageEstimate[] {
  return stages.map((stage) => {
    const tokens = perCall(stage);
    const widened = (of: keyof typeof tokens) => ({
      low: Math.min(stage[of].low, Math.round(stage.calls.low * tokens[of])),
      high: Math.max(stage[of].high, Math.round(stage.calls.high * tokens[of])),
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
    if (!range || range.high <= range.low || state.config?.maxRollouts !== config.maxRollouts) return []; // a limit is always reached
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

/**
 * How much a skill grows, of what it would with every edit of every step. In the projects of `npm run bench -- estimate` it was a
 * tenth, by lines of 15 tokens where 40 are assumed.
 */
const USUAL_GROWTH = 1 / 3;

type PerCall = (stage: StageEstimate) => Readonly<Record<'inputTokens' | 'outputTokens', number>>;

/** As in earlier runs with the same model; where none asked it, as is usual. */
function tokensPerCall(usual: readonly StageEstimate[], earlier: readonly EarlierRun[]): PerCall {
  return ({ stage, role }) => {
    const asked = earlier
      .filter(({ sameModels }) => sameModels[role])
      .map(({ state, weight }) => ({ weight, ...askedOf(state, stage) }))
      .filter((one) => one.calls > 0);
    const total = asked.reduce((sum, { weight }) => sum + weight, 0);
    const mean = (of: 'input' | 'output') =>
      asked.reduce((sum, one) => sum + (one.weight * one[of]) / one.calls, 0) / total;
    if (total > 0) return { inputTokens: mean('input'), outputTokens: mean('output') };
    const { calls, inputTokens, outputTokens } = usual.find((one) => one.stage === stage)!;
    const most = Math.max(1, calls.high);
    return { inputTokens: inputTokens.high / most, outputTokens: outputTokens.high / most };
  };
}
