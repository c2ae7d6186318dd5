import { parseConfig, type SkillOptConfigInput } from '../../core/contracts/index.ts';
import { isAgentSpec, type ModelSpec } from '../../project/index.ts';
import type { CostEstimate } from '../../report/index.ts';
import type { MinerKind, Page } from '../../sleep/index.ts';
import { estimateRun, type Range, type StageEstimate } from '../../train/index.ts';
import { ASSUMED, priceStages } from '../estimate.ts';

type NightModels = {
  readonly target?: ModelSpec | undefined;
  readonly optimizer?: ModelSpec | undefined;
  readonly judge?: ModelSpec | undefined;
};

type NightEstimateInput = {
  readonly config: SkillOptConfigInput;
  readonly pages: readonly Page[];
  readonly miner: MinerKind;
  readonly models: NightModels;
  readonly maxTasks: number;
  readonly fractions: { readonly val: number; readonly test: number };
  /** Documents that are trained one after the other: a skill, the memory. */
  readonly documents: number;
  /** Tokens of the longest of them. */
  readonly skillTokens: number;
  /** Tokens of all pages together. */
  readonly pageTokens: number;
};

export type NightEstimate = CostEstimate & { readonly minutes: Range; readonly tasks: Range };

/** A miner's own words, and a reply of up to three tasks. */
const [MINER_PROMPT, MINER_REPLY] = [700, 400];
/** A call of an agent CLI starts a program; a call of an API does not. */
const SECONDS_PER_CALL = { api: { low: 2, high: 6 }, cli: { low: 6, high: 20 } };
/** An agent with tools calls its model several times for a task, and shows it all that was said before. */
const TURNS = { low: 4, high: 15 };
const TOKENS_PER_TURN = 15_000;

/** What a night would ask of its models. Makes no call: how many tasks a miner will find is a range. */
export function estimateNight(input: NightEstimateInput): NightEstimate {
  const tasks = taskRange(input);
  const nights = (['low', 'high'] as const).map((end) => stagesOf(input, tasks[end]));
  const attempts = combine(nights[0]!, nights[1]!, input.documents);
  const stages = [...miningOf(input), ...(isAgentSpec(input.models.target) ? attempts.map(withTurns) : attempts)];
  const costs = priceStages(stages, input.models, parseConfig(input.config).prices);
  return { ...costs, tasks, minutes: minutesOf(stages, input) };
}

/** By rule there is one task a session; a model finds none to three. */
function taskRange({ pages, miner, maxTasks }: NightEstimateInput): Range {
  const most = (perSession: number) => Math.min(maxTasks, Math.ceil(pages.length * perSession));
  return miner === 'model' ? { low: most(0.5), high: most(3) } : { low: most(1), high: most(1) };
}

function stagesOf(input: NightEstimateInput, tasks: number): StageEstimate[] {
  const [val, test] = [input.fractions.val, input.fractions.test].map((share) => Math.round(tasks * share)) as [
    number,
    number,
  ];
  const items = { train: Math.max(0, tasks - val - test), val, test };
  if (items.train === 0 || items.val === 0) return [];
  const item = input.pageTokens / Math.max(1, input.pages.length);
  const tokens = { skill: input.skillTokens, item, optimizerPrompt: 900, ...ASSUMED };
  return estimateRun({ config: parseConfig(input.config), items, tokens, judgeCalls: 1 });
}

function miningOf({ pages, miner, pageTokens }: NightEstimateInput): StageEstimate[] {
  if (miner === 'heuristic' || pages.length === 0) return [];
  const read = pageTokens + pages.length * MINER_PROMPT;
  const same = (value: number): Range => ({ low: value, high: value });
  const written = pages.length * MINER_REPLY;
  return [
    {
      stage: 'mine',
      role: 'optimizer',
      calls: same(pages.length),
      inputTokens: same(read),
      outputTokens: same(written),
    },
  ];
}

/** From the cheapest night with few tasks to the dearest with many. */
function combine(few: readonly StageEstimate[], many: readonly StageEstimate[], documents: number): StageEstimate[] {
  return many.map((stage) => {
    const low = few.find((one) => one.stage === stage.stage);
    const range = (key: 'calls' | 'inputTokens' | 'outputTokens'): Range => ({
      low: low?.[key].low ?? 0,
      high: stage[key].high * documents,
    });
    return {
      ...stage,
      calls: range('calls'),
      inputTokens: range('inputTokens'),
      outputTokens: range('outputTokens'),
    };
  });
}

/** Most of what it is shown again comes from the provider's cache; tokens they are all the same. */
function withTurns(stage: StageEstimate): StageEstimate {
  if (stage.role !== 'target') return stage;
  const { low, high } = { low: stage.calls.low * TURNS.low, high: stage.calls.high * TURNS.high };
  const inputTokens = { low: low * TOKENS_PER_TURN, high: high * TOKENS_PER_TURN };
  return { ...stage, calls: { low, high }, inputTokens };
}

function minutesOf(stages: readonly StageEstimate[], { models, config }: NightEstimateInput): Range {
  const { workers } = parseConfig(config);
  const minutes = (end: keyof Range) =>
    stages.reduce((sum, { role, calls }) => sum + (calls[end] * secondsOf(models[role])[end]) / workers / 60, 0);
  return { low: minutes('low'), high: minutes('high') };
}

function secondsOf(spec: ModelSpec | undefined): Range {
  const name = typeof spec === 'string' ? spec : String(spec?.provider ?? '');
  if (/^(?:simulated|handoff)/.test(name)) return { low: 0, high: 0 };
  return /^[\w-]+-cli\b/.test(name) || isAgentSpec(spec) ? SECONDS_PER_CALL.cli : SECONDS_PER_CALL.api;
}
