import type { AgentEstimate, CostEstimate } from '../../app/index.ts';
import { PLAIN_WORDS } from '../../core/run/index.ts';
import { count, dollars, plural } from '../../core/text/index.ts';
import { type Column, table, wrap } from '../../report/index.ts';
import type { Range } from '../../train/index.ts';
import type { Terminal } from '../terminal/terminal.ts';

const COLUMNS: readonly Column[] = [
  { title: 'for' },
  { title: 'calls', align: 'right' },
  { title: 'from – to', align: 'right', isOptional: true },
  { title: 'tokens', align: 'right' },
  { title: 'dollars', align: 'right' },
];

/** The table that people see before anything is spent, and how it was made. */
export function estimateLines(costs: CostEstimate, terminal: Pick<Terminal, 'width' | 'colors'>): string[] {
  const { width, colors } = terminal;
  const { stages, totals, totalUsd, likely } = costs;
  const rows = stages.map((stage) => [
    PLAIN_WORDS[stage.stage] ?? stage.stage,
    count(stage.likely.calls),
    span(stage.calls, count),
    count(stage.likely.inputTokens + stage.likely.outputTokens),
    stage.likelyUsd === null ? '?' : dollars(stage.likelyUsd),
  ]);
  const total = [
    ...['in all', count(likely.calls), span(totals.calls, count), count(likely.tokens)],
    likely.usd === null ? '?' : dollars(likely.usd),
  ];
  return [
    ...wrap(estimateLine(costs), width),
    '',
    ...table(COLUMNS, [...rows, total], { width, paintTitle: colors.dim }),
    '',
    ...wrap(howMade(costs), width).map((line) => colors.dim(line)),
    ...(totalUsd ? [] : [colors.dim('?: no price is known for that model.')]),
  ];
}

function howMade({ assumed, learnedFrom, agent }: CostEstimate): string {
  const learned =
    learnedFrom > 0
      ? `The likely values are learned from ${plural(learnedFrom, 'earlier run')} of this project.`
      : `No earlier run of this project is known: the likely values are what is usual, with replies of ${assumed.targetReply} and ${assumed.optimizerReply} tokens and edits of ${assumed.edit}.`;
  const ofAgent = agent === undefined ? '' : howToKnow(agent);
  const perTask = agent === undefined ? ' One call per task is assumed.' : '';
  return `${ofAgent}${learned} From: nothing is found to change. To: every step has a new candidate.${perTask} Nothing was called.`;
}

/** The same in one line. */
export function estimateLine({ totals, totalUsd, likely, agent }: CostEstimate): string {
  const before = agent === undefined ? '' : `${agentWords(agent)}; besides, `;
  const cost = totalUsd ? `$${dollars(likely.usd ?? 0)} (${span(totalUsd, dollars)})` : 'a model without a known price';
  return `estimate: ${before}about ${count(likely.calls)} calls (${span(totals.calls, count)}), ${count(likely.tokens)} tokens (${span(totals.tokens, count)}), ${cost}`;
}

/** Attempts of an agent, and what they will cost as far as that can be known. */
function agentWords(agent: AgentEstimate): string {
  const { rollouts, likelyRollouts, perRollout, mostUsd } = agent;
  const each = perRollout && `, each ${count(perRollout.tokens)} tokens${inDollars(perRollout.usd, likelyRollouts)}`;
  const cap = mostUsd === null ? '' : `, at most $${dollars(mostUsd)} by limits.maxUsd and a last call each`;
  const unknown = `, whose cost is not known before one was made${cap}`;
  const attempts = `about ${count(likelyRollouts)} attempts of the agent (${span(rollouts, count)})`;
  return `${attempts} with ${callWords(agent)}${each ? `${each}${cap}` : unknown}`;
}

const callWords = ({ calls, likelyCalls }: AgentEstimate) =>
  likelyCalls === null ? `${span(calls, count)} calls` : `about ${count(likelyCalls)} calls (${span(calls, count)})`;

const inDollars = (usd: number | null, times: number) =>
  usd === null ? ' of a model without a known price' : ` and $${dollars(usd)} as before: $${dollars(usd * times)}`;

/** How to find out what an attempt costs. */
function howToKnow({ perRollout, mostUsd }: AgentEstimate): string {
  const tried = perRollout === null ? ' What one attempt costs, shows: skillopt try.' : '';
  const cap = mostUsd === null ? ' A limit for each: limits: { maxUsd } of the target.' : '';
  return `The table is without the attempts of the agent.${tried}${cap} `;
}

export function span({ low, high }: Range, show: (value: number) => string): string {
  return low === high ? show(low) : `${show(low)}–${show(high)}`;
}
