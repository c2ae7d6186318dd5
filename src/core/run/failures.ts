import type { AgentEnd, AgentRun, RolloutResult, Trajectory, TrajectoryStep } from '../contracts/index.ts';
import { head } from '../text/index.ts';

/** How many attempts failed for one reason, and the task of the first of them. */
type Failed = { readonly count: number; readonly task: string };

/** Attempts at which nothing was right, by the reason. */
export type FailureTable = Readonly<Record<string, Failed>>;

/** The most frequent reason among the attempts at which nothing was right. */
export type Failure = Failed & { readonly reason: string; readonly attempts: number };

/** Neither a text nor a step of an agent. */
export const NO_ANSWER = 'no answer';
/** For reasons beyond `MOST_REASONS`. */
const OTHERS = 'another reason';

const MOST_REASONS = 20;
const LONGEST_REASON = 200;

export function addFailures(a: FailureTable, b: FailureTable | undefined): FailureTable {
  if (b === undefined) return a;
  const sum = { ...a };
  for (const [reason, { count, task }] of Object.entries(b)) {
    const key = Object.hasOwn(sum, reason) || Object.keys(sum).length < MOST_REASONS ? reason : OTHERS;
    const known = Object.hasOwn(sum, key) ? sum[key]! : { count: 0, task };
    sum[key] = { ...known, count: known.count + count };
  }
  return sum;
}

export function mostFrequentFailure(table: FailureTable): Failure | undefined {
  const rows = Object.entries(table);
  const attempts = rows.reduce((sum, [, { count }]) => sum + count, 0);
  const [first, ...others] = rows.filter(([reason]) => reason !== OTHERS);
  if (first === undefined) return undefined;
  const [reason, failed] = others.reduce((most, row) => (row[1].count > most[1].count ? row : most), first);
  return { ...failed, reason, attempts };
}

/** An attempt as a table: empty where it has no score, `undefined` where a part of it was right. */
export function failureOf(result: RolloutResult): FailureTable | undefined {
  const { id, hard, soft, errored } = result;
  if (errored) return {};
  return hard > 0 || soft > 0 ? undefined : { [reasonOf(result)]: { count: 1, task: id } };
}

function reasonOf({ failReason, predictedAnswer, extras = {} }: RolloutResult): string {
  const { ended = 'done', endReason, trajectory } = extras as AgentExtras;
  if (ended !== 'done') return ENDS[ended]?.(endReason) ?? `it was ended: ${ended}`;
  if (predictedAnswer?.trim() === '' && !trajectory?.steps?.some(isWork)) return NO_ANSWER;
  return head((failReason || 'not right').replace(/\s+/g, ' ').trim(), LONGEST_REASON);
}

const isWork = ({ source, message, tool_calls: calls = [] }: TrajectoryStep) =>
  source === 'agent' && (message.trim() !== '' || calls.length > 0);

type AgentExtras = Partial<Pick<AgentRun, 'ended' | 'endReason'>> & { readonly trajectory?: Partial<Trajectory> };

const ENDS: Readonly<Record<Exclude<AgentEnd, 'done'>, (why?: string) => string>> = {
  timeout: () => 'its time was up (limits.timeoutMs)',
  turns: () => 'it had used all its turns (limits.maxTurns)',
  budget: () => 'it had spent what it may (limits.maxUsd, limits.maxTokens)',
  resources: (limit) => `it took more than it may of this machine${limit === undefined ? '' : ` (limits.${limit})`}`,
  killed: (signal) => `its program was killed from inside the sandbox${signal === undefined ? '' : ` (${signal})`}`,
};
