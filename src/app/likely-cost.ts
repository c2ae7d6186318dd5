import { knowsNoise, type SkillOptConfig } from '../core/contracts/index.ts';
import { addUsage, noStageUsage, type RunState, verdictOf } from '../core/run/index.ts';
import { isAgentSpec, type ModelSpec } from '../project/index.ts';
import type { Likely } from '../report/index.ts';
import { listRuns } from '../stores/index.ts';
import { type EstimateInput, estimateRun, type Range, type StageEstimate } from '../train/index.ts';
import { loadRun } from './load-run.ts';

/** A finished run of the same project, and how much it says about the next one. */
export type EarlierRun = { readonly state: RunState; readonly weight: number };

/** The newest say the most, and a journal may be long. */
const MOST_RUNS = 5;
/** A run with other models or another environment is better than none. */
const OF_OTHERS = 0.2;

type Kind = {
  readonly env: string;
  readonly models: Readonly<Partial<Record<'target' | 'optimizer', ModelSpec | undefined>>>;
};

/** The finished runs in a folder, the newest first. Those that cannot be read, or in which something was broken, teach nothing. */
export async function earlierRuns(folder: string, kind: Kind): Promise<EarlierRun[]> {
  const found: EarlierRun[] = [];
  for (const { path } of await listRuns(folder).catch(() => [])) {
    if (found.length === MOST_RUNS) break;
    const state = await loadRun(path).then(
      (run) => run.state,
      () => undefined,
    );
    if (state?.isDone && state.config && verdictOf(state).kind !== 'broken')
      found.push({ state, weight: weightOf(state, kind) });
  }
  return found;
}

function weightOf({ about }: RunState, { env, models }: Kind): number {
  const isSameEnv = about.env === env;
  const areSameModels = names(about.target, models.target) && names(about.optimizer, models.optimizer);
  return (isSameEnv ? 1 : OF_OTHERS) * (areSameModels ? 1 : OF_OTHERS);
}

/** Whether the identity of a model is that of the one that a project names. */
function names(id: string, spec: ModelSpec | undefined): boolean {
  if (isAgentSpec(spec)) return id === 'none'; // where an agent works, a run has no other target
  const [provider, name] = typeof spec === 'string' ? spec.split(/:(.*)/s) : [spec?.provider, spec?.model];
  if (provider === 'simulated') return id.startsWith('sim-');
  return typeof name === 'string' && id.includes(name.split('@')[0]!);
}

/**
 * What each stage will probably ask for. A run lies somewhere between the least that it can need and the most: where such
 * runs usually lie and where the earlier ones of this project lay, the next one is expected.
 */
export function likelyStages(
  stages: readonly StageEstimate[],
  earlier: readonly EarlierRun[],
  input: EstimateInput,
): Likely[] {
  const placed = earlier.map((run) => ({ ...run, estimates: estimateRun(likeInput(run.state, input)) }));
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

export const within = ({ low, high }: Range, value: number) => Math.min(high, Math.max(low, value));

/** The stages, with room for what earlier runs needed for a call: replies may be longer than is assumed, or shorter. */
export function withLearnedTokens(stages: readonly StageEstimate[], earlier: readonly EarlierRun[]): StageEstimate[] {
  return stages.map((stage) => {
    const perCall = tokensPerCall(stage, earlier);
    const room = (of: 'inputTokens' | 'outputTokens') => ({
      low: Math.min(stage[of].low, Math.round(stage.calls.low * perCall[of])),
      high: Math.max(stage[of].high, Math.round(stage.calls.high * perCall[of])),
    });
    return { ...stage, inputTokens: room('inputTokens'), outputTokens: room('outputTokens') };
  });
}

/**
 * Where runs lay in simulated worlds, of attempts and of questions to the optimizer. A gate that knows noise seldom needs all
 * that it may ask for; where a batch gives several candidates the search is mostly over in the second epoch, however many
 * there may be.
 */
function usualPlace(stage: StageEstimate['stage'], { gate, proposalsPerBatch, numEpochs }: SkillOptConfig): number {
  const isAttempt = stage === 'rollout' || stage === 'judge';
  const unused = proposalsPerBatch > 1 ? Math.max(1, numEpochs / 2) : 1;
  if (knowsNoise(gate)) return (isAttempt ? 0.18 : 0.25) / unused;
  if (proposalsPerBatch > 1) return (isAttempt ? 0.39 : 0.18) / unused;
  return isAttempt ? 0.75 : 0.6;
}

const likeInput = ({ config, items }: RunState, input: EstimateInput): EstimateInput => ({
  ...input,
  config: config!,
  items: { train: items.train ?? 0, val: items.val ?? 0, test: items.test ?? 0 },
});

type PlacedRun = EarlierRun & { readonly estimates: readonly StageEstimate[] };

/** Between the least (0) and the most (1) of a stage. What is usual counts as much as one run. */
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

/** More than this share out of the cache, and the run was paid for by another. */
const MOST_CACHED = 0.2;

function askedOf({ usage, about }: RunState, stage: string) {
  const { replies, cacheHits, rollouts, input, output } = addUsage(noStageUsage, usage[stage] ?? {});
  if (about.target === 'none' && rollouts !== undefined) return { calls: rollouts, input, output }; // an agent replies many times in each
  const calls = cacheHits > MOST_CACHED * replies ? replies : replies - cacheHits;
  return { calls, input, output };
}

/** Without knowing a run's mode, the middle by factors: a night that finds little is as usual as one that finds much. */
const middle = ({ low, high }: Range) => Math.round(Math.sqrt(Math.max(1, low) * Math.max(1, high)));

export const middleOf = ({ calls, inputTokens, outputTokens }: StageEstimate): Likely =>
  calls.high === 0
    ? { calls: 0, inputTokens: 0, outputTokens: 0 }
    : { calls: middle(calls), inputTokens: middle(inputTokens), outputTokens: middle(outputTokens) };

/** As earlier runs had them; where none asked, as they are assumed. */
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
