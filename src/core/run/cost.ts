import type { RolloutResult } from '../contracts/index.ts';
import type { SkillPart } from '../document/index.ts';
import { count, dollars, plural } from '../text/index.ts';
import type { Amounts } from './amounts.ts';
import type { RunState } from './run-state.ts';
import { addUsage, noStageUsage, type StageUsage, type UsageTable } from './stage-usage.ts';

export type Cost = {
  /** Calls that were sent, those that had to be repeated included. */
  readonly calls: number;
  readonly tokens: number;
  /** Of the calls whose price is known. */
  readonly costUsd: number;
  /** Whether the price of all calls is known. */
  readonly isPriced: boolean;
  /** Calls in flight when their process was killed, at most: the provider may have answered them. Not in the amounts above. */
  readonly mayHaveBeen?: Pick<Cost, 'calls' | 'tokens' | 'costUsd'> | undefined;
};

const GROUPS = ['trying tasks', 'scoring answers', 'finding edits'] as const;

const groupOf = (stage: string) => (stage === 'rollout' ? GROUPS[0] : stage === 'judge' ? GROUPS[1] : GROUPS[2]);

/** What a run has cost so far. */
export const totalCost = (usage: UsageTable): Cost => costOf(Object.values(usage));

/** The same by purpose; what no line of the journal has counted is a row of its own. */
export function costRows({ usage }: Pick<RunState, 'usage'>, total: Cost) {
  const rows = GROUPS.map((what) => {
    const stages = Object.entries(usage).filter(([stage]) => groupOf(stage) === what);
    return { what, ...costOf(stages.map(([, stage]) => stage)) };
  });
  const known = costOf(Object.values(usage));
  const rest = {
    what: 'unfinished work',
    calls: total.calls - known.calls,
    tokens: total.tokens - known.tokens,
    costUsd: total.costUsd - known.costUsd,
    isPriced: total.isPriced,
  };
  return [...rows, rest].filter(({ calls, tokens }) => calls > 0 || tokens > 0);
}

export function amountsIn(usage: UsageTable): Amounts {
  const { calls, tokens: totalTokens, costUsd } = costOf(Object.values(usage));
  return { calls, totalTokens, costUsd };
}

function costOf(stages: readonly Partial<StageUsage>[]): Cost {
  const each = stages.map((usage) => addUsage(noStageUsage, usage));
  const sum = (of: (usage: StageUsage) => number) => each.reduce((total, usage) => total + of(usage), 0);
  return {
    calls: sum(({ replies, cacheHits, retries }) => replies - cacheHits + retries),
    tokens: sum(({ input, output }) => input + output),
    costUsd: sum(({ costUsd }) => costUsd),
    isPriced: each.every(isPriced),
    ...unansweredIn(each),
  };
}

function unansweredIn(each: readonly StageUsage[]): Pick<Cost, 'mayHaveBeen'> {
  const all = each.reduce(addUsage, noStageUsage);
  const { unanswered: calls = 0, unansweredTokens: tokens = 0, unansweredUsd: costUsd = 0 } = all;
  return calls > 0 ? { mayHaveBeen: { calls, tokens, costUsd } } : {};
}

/** `110 calls`; after a kill `110 calls answered, 2 more may have been`. */
export function callWords({ calls, mayHaveBeen }: Pick<Cost, 'calls' | 'mayHaveBeen'>): string {
  const words = plural(calls, 'call');
  return mayHaveBeen ? `${words} answered, ${count(mayHaveBeen.calls)} more may have been` : words;
}

/** Why some calls may have been answered or not, below a table of costs; nothing without any. */
export function mayHaveBeenWords({ mayHaveBeen, isPriced }: Pick<Cost, 'mayHaveBeen' | 'isPriced'>): string[] {
  if (!mayHaveBeen) return [];
  const { calls, tokens, costUsd } = mayHaveBeen;
  const most = tokens > 0 ? `, with up to ${count(tokens)} tokens${isPriced ? ` ($${dollars(costUsd)})` : ''}` : '';
  const were = calls === 1 ? 'it was' : 'they were';
  return [`${plural(calls, 'more call')} may have been answered${most}: ${were} in flight at a kill.`];
}

/** Failed calls may be billed too, at an unknown price. */
export const isPriced = ({ unpriced, replies, cacheHits, retries, costUsd }: StageUsage): boolean =>
  unpriced === 0 && (costUsd > 0 || replies > cacheHits || retries === 0);

/** For a cell: `≥` where some calls have no known price, `?` where none has. */
export function dollarCell({ costUsd, isPriced }: Pick<Cost, 'costUsd' | 'isPriced'>): string {
  if (isPriced) return dollars(costUsd);
  return costUsd > 0 ? `≥ ${dollars(costUsd)}` : '?';
}

/** The same in a sentence. */
export function costWords(cost: Pick<Cost, 'costUsd' | 'isPriced'>): string {
  const cell = dollarCell(cost);
  return cell === '?' ? 'no price known' : cell.replace(/^(≥ )?/, (least) => (least ? 'at least $' : '$'));
}

/** Attempts of agents by whether they loaded the skill. `cutShort` hit a limit before they could. */
type LoadingCount = { readonly loaded: number; readonly unread: number; readonly cutShort: number };

function loadingOfAttempt({ errored, skillUnread, extras }: RolloutResult): keyof LoadingCount | undefined {
  if (errored) return undefined;
  if (!skillUnread) return 'loaded';
  return (extras?.ended ?? 'done') === 'done' ? 'unread' : 'cutShort';
}

export function countLoading(results: readonly RolloutResult[]): LoadingCount {
  const kinds = results.map(loadingOfAttempt);
  const count = (kind: keyof LoadingCount) => kinds.filter((one) => one === kind).length;
  return { loaded: count('loaded'), unread: count('unread'), cutShort: count('cutShort') };
}

/** A warning about attempts that did not load the skill; nothing where each did. */
export function describeUnread({ loaded = 0, unread = 0, cutShort = 0 }: Counted, parts: readonly SkillPart[] = []) {
  if (unread === 0) return undefined;
  const what = unread === 1 ? 'it says' : 'they say';
  const todo = parts.includes('description')
    ? ''
    : ' What decides about loading is the description: parts: [description].';
  const others = cutShort === 0 ? '' : ` Not counted: ${cutShortWords(cutShort)}.`;
  return `The skill was not loaded in ${unread} of ${plural(loaded + unread, 'attempt')}: ${what} nothing of its body.${others}${todo}`;
}

type Counted = Pick<StageUsage, 'loaded' | 'unread' | 'cutShort'>;

/** Texts without these marks are not of an agent, and need not be parsed. */
const MARKS = ['"skillsLoaded":', '"skillUnread":true'];

/** The attempt that a text holds, counted by whether an agent loaded the skill; nothing without an agent. */
export function loadingIn(text: string): Counted {
  if (!MARKS.some((mark) => text.includes(mark))) return {};
  const kind = loadingOfAttempt(JSON.parse(text));
  return kind === undefined ? {} : { [kind]: 1 };
}

/** In how many attempts of a run the skill was loaded; nothing without an agent. */
export function loadingOf({ loaded = 0, unread = 0, cutShort = 0 }: Counted) {
  const attempts = loaded + unread;
  return attempts + cutShort === 0 ? undefined : { loaded, attempts, ...(cutShort > 0 && { cutShort }) };
}

/** `2 attempts were ended before they had loaded it`; empty for none. */
export function cutShortWords(cutShort = 0): string {
  if (cutShort === 0) return '';
  return cutShort === 1
    ? '1 attempt was ended before it had loaded it'
    : `${plural(cutShort, 'attempt')} were ended before they had loaded it`;
}
