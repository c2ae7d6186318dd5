import type { Calibration } from '../core/stats/index.ts';
import { count, dollars, oneLine, percent, plural, points } from '../core/text/index.ts';
import { type Column, type LineStyle, rightColumns, type TextStyle, table, wrap } from './layout.ts';
import { PLAIN_WORDS } from './verdict-words.ts';

/** From the least to the most. */
export type Range = { readonly low: number; readonly high: number };

/** What a stage will probably ask for. */
export type Likely = { readonly calls: number; readonly inputTokens: number; readonly outputTokens: number };

type EstimatedStage = Readonly<Record<keyof Likely, Range>> & {
  readonly stage: string;
  readonly role: 'target' | 'optimizer' | 'judge';
};

/** What a run will ask of its models, and what that costs. */
export type CostEstimate = {
  readonly stages: readonly (EstimatedStage & {
    readonly usd: Range | null;
    readonly likely: Likely;
    readonly likelyUsd: number | null;
  })[];
  readonly totals: Readonly<Record<'calls' | 'inputTokens' | 'outputTokens' | 'tokens', Range>>;
  /** `null` when a model has no known price. Simulated models cost nothing. */
  readonly totalUsd: Range | null;
  readonly assumed: Readonly<Record<'targetReply' | 'optimizerReply' | 'edit', number>>;
  readonly likely: { readonly calls: number; readonly tokens: number; readonly usd: number | null };
  /** How many validation tasks are used, where the rollouts cannot afford all. */
  readonly validation?: string;
  /** How many earlier runs of this project the likely values are learned from. */
  readonly learnedFrom: number;
  /** Whether these models made the replies of an earlier run. Otherwise their length is assumed. */
  readonly areRepliesKnown: boolean;
  /** How often an attempt asks the target, where it is not once. */
  readonly targetCalls?: Range;
  /** If the target is an agent: its attempts, which are in none of the figures above. */
  readonly agent?: AgentEstimate;
};

/** What attempts of an agent will take. How long it works on a task is known only afterwards. */
export type AgentEstimate = {
  readonly rollouts: Range;
  readonly likelyRollouts: number;
  /** Calls of its model, which count for `maxCalls`: at least one per attempt, at most `limits.maxTurns`. */
  readonly calls: Range;
  /** How many must be free before an attempt begins: it may take so many. */
  readonly callsToBegin: number;
  readonly likelyCalls: number;
  /** Of one attempt. `usd` is `null` without a price. */
  readonly perRollout: { readonly calls: number; readonly tokens: number; readonly usd: number | null };
  /** Whether that is the mean of earlier attempts in this project, of unfinished runs too. Otherwise it is what is usual. */
  readonly isMeasured: boolean;
  /** What all attempts can cost by `limits.maxUsd`, not counting the last call of each. `null` if that is not set. */
  readonly mostUsd: number | null;
};

const COLUMNS: readonly Column[] = [
  { title: 'for' },
  ...rightColumns(['calls']),
  ...rightColumns(['from – to'], true),
  ...rightColumns(['tokens', 'dollars']),
];

export function estimateLines(costs: CostEstimate, { width, colors }: LineStyle): string[] {
  const { stages, totals, totalUsd, likely } = costs;
  const rows = stages.map((stage) => [
    PLAIN_WORDS[stage.stage] ?? stage.stage,
    count(stage.likely.calls),
    rangeText(stage.calls, count),
    count(stage.likely.inputTokens + stage.likely.outputTokens),
    stage.likelyUsd === null ? '?' : dollars(stage.likelyUsd),
  ]);
  const total = [
    ...['in all', count(likely.calls), rangeText(totals.calls, count), count(likely.tokens)],
    likely.usd === null ? '?' : dollars(likely.usd),
  ];
  return [
    ...wrap(estimateLine(costs), width),
    ...(costs.validation === undefined ? [] : wrap(costs.validation, width)),
    '',
    ...table(COLUMNS, [...rows, total], { width, colors }),
    '',
    ...wrap(howMade(costs), width).map((line) => colors.dim(line)),
    ...(totalUsd ? [] : [colors.dim('?: no price is known for that model.')]),
  ];
}

function howMade({ assumed, learnedFrom, areRepliesKnown, targetCalls, agent }: CostEstimate): string {
  const runs = plural(learnedFrom, 'earlier run');
  const replies = `replies of ${assumed.targetReply} and ${assumed.optimizerReply} tokens and edits of ${assumed.edit}`;
  const ofOthers = areRepliesKnown ? '' : ` Other models replied there, so tokens are what is usual: ${replies}.`;
  const learned =
    learnedFrom === 0
      ? `No earlier run of this project is known: the likely values are what is usual, with ${replies}.`
      : `The likely ${areRepliesKnown ? 'values' : 'calls'} are learned from ${runs} of this project.${ofOthers}`;
  const ofAgent = agent === undefined ? '' : howToKnow(agent);
  const calls = targetCalls ? `${rangeText(targetCalls, count)} calls per task are` : 'One call per task is';
  const perTask = agent === undefined ? ` ${calls} assumed.` : '';
  return `${ofAgent}${learned} From: nothing is found to change. To: every step has a new candidate.${perTask} Nothing was called.`;
}

export function estimateLine({ totals, totalUsd, likely, agent }: CostEstimate): string {
  const ofAgent = agent && `${inAll(agent, likely.usd, totalUsd)}${agentWords(agent)}`;
  if (ofAgent && totals.calls.high === 0) return `estimate: ${ofAgent}`;
  const cost = totalUsd
    ? `$${dollars(likely.usd ?? 0)} (${rangeText(totalUsd, dollars)})`
    : 'a model without a known price';
  return `estimate: ${ofAgent ? `${ofAgent}; besides, ` : ''}about ${count(likely.calls)} calls (${rangeText(totals.calls, count)}), ${count(likely.tokens)} tokens (${rangeText(totals.tokens, count)}), ${cost}`;
}

/** What the agent and the other models cost together: the likely figure first, then the most. */
function inAll({ likelyRollouts, perRollout, mostUsd }: AgentEstimate, besides: number | null, range: Range | null) {
  if (perRollout.usd === null || besides === null || range === null) return '';
  const most = mostUsd === null ? '' : `, at most $${dollars(mostUsd + range.high)}`;
  return `about $${dollars(likelyRollouts * perRollout.usd + besides)}${most}: `;
}

function agentWords({ rollouts, likelyRollouts, calls, likelyCalls, perRollout, ...agent }: AgentEstimate): string {
  const { tokens, usd } = perRollout;
  const attempts = `about ${plural(likelyRollouts, 'attempt')} of the agent (${rangeText(rollouts, count)})`;
  const asked = `about ${count(likelyCalls)} calls (${rangeText(calls, count)})`;
  const how = agent.isMeasured ? 'as before' : 'as is usual, until one has run';
  const cost =
    usd === null
      ? `of a model without a known price, ${how}`
      : `and $${dollars(usd)}, ${how}: $${dollars(usd * likelyRollouts)}`;
  const cap =
    agent.mostUsd === null ? '' : `, at most $${dollars(agent.mostUsd)} by limits.maxUsd and a last call each`;
  return `${attempts} with ${asked}, each ${count(tokens)} tokens ${cost}${cap}`;
}

function howToKnow({ isMeasured, mostUsd }: AgentEstimate): string {
  const tried = isMeasured ? '' : ' To see what one attempt costs: skillopt try.';
  const cap = mostUsd === null ? ' To limit each attempt: limits: { maxUsd } in the target.' : '';
  return `The table does not include the attempts of the agent.${tried}${cap} `;
}

export function rangeText({ low, high }: Range, show: (value: number) => string): string {
  return low === high ? show(low) : `${show(low)}–${show(high)}`;
}

/** What passes of one skill say about the judge. All but the shares are in units of a score. */
export type JudgeFigures = {
  readonly judgements: number;
  /** Standard deviation of one judgement about its answer's score. `null`: nothing was judged twice. */
  readonly judgeNoise: number | null;
  /** Standard deviation of an answer's score about its task's mean, without the judge's part. */
  readonly rolloutNoise: number | null;
  /** How much more an answer gets for standing first. `null`: no answer stood beside another. */
  readonly positionBias: number | null;
  readonly failedShare: number;
  /** Share of answers without a judgement. */
  readonly unjudgedShare: number;
};

export function judgeLines(figures: JudgeFigures, { colors }: Pick<TextStyle, 'colors'>): string[] {
  const { judgements, judgeNoise, rolloutNoise, positionBias, failedShare, unjudgedShare } = figures;
  const noise = (deviation: number | null) =>
    deviation === null ? 'not known: no answer was judged twice' : `±${(100 * deviation).toFixed(1)} points`;
  return [
    '',
    colors.dim(`the judge, by ${plural(judgements, 'judgement')} (standard deviations of one)`),
    `  noise of the judge: ${noise(judgeNoise)}`,
    `  noise of the answers themselves: ${noise(rolloutNoise)}`,
    ...(positionBias === null ? [] : [`  for standing first: ${points(positionBias)} points`]),
    `  judgements that failed: ${percent(failedShare)}, answers without a score: ${percent(unjudgedShare)}`,
  ];
}

/** How much of a score is noise, and what it takes to prove a gain. */
export function calibrationLines(result: Calibration, passes: number, { colors }: LineStyle): string[] {
  const { items, score, noiseFloor, smallestGain, flakiest, needs, warning } = result;
  const inPoints = (share: number) => `${(100 * share).toFixed(1)} points`;
  return [
    `${colors.bold(percent(score))} on ${plural(items, 'task')}, ${plural(passes, 'pass', 'passes')} of the same skill`,
    `noise of one pass: ±${inPoints(noiseFloor)} (standard deviation)`,
    `smallest gain that can be proven here: ${inPoints(smallestGain)} (80 % power)`,
    ...needs.map(
      ({ gain, items: needed, repeats }) =>
        `to prove ${inPoints(gain)}: ${plural(needed, 'task')}${repeats === undefined ? '' : `, or ${plural(repeats, 'pass', 'passes')} over these`}`,
    ),
    ...(flakiest.length > 0 ? ['', colors.dim('tasks that answer differently each time')] : []),
    ...flakiest.map(({ id, mean, rollouts }) => `  ${oneLine(id)}  ${percent(mean)} of ${rollouts}`),
    ...(warning === undefined ? [] : ['', `${colors.yellow('warning:')} ${warning}`]),
  ];
}
