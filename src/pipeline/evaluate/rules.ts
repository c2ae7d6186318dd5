import { computeScore, selectGateScore } from '../../core/contracts/index.ts';
import {
  disputedItems,
  exactRace,
  hardestFirst,
  judgeWave,
  planWaves,
  settingsFor,
  startable,
  unmetItems,
} from '../../core/stats/index.ts';
import { defined } from '../../core/text/index.ts';
import type { AcceptanceRule, GateAttempt, GateRuling, RuleContext, RuleEvidence } from './acceptance-rule.ts';

/**
 * `gate: paired`, the rule that knows noise: the candidate meets the tasks in two waves, and is out or taken as soon as the rest
 * is not worth its price; one that stays in doubt is attempted once more. A task that the current skill never attempted is
 * attempted under both.
 */
export const pairedRule: AcceptanceRule = (evidence, context) => {
  if (evidence.attempts.length === 0) return nextWave('nothing to compare yet', evidence, context);
  const { verdict, reason, needs } = judgeByGain(evidence, context);
  if (verdict === 'accept') return settleFirst(reason, evidence, context) ?? { verdict, reason };
  if (verdict === 'reject') return { verdict, reason };
  if (verdict !== 'continue') return { verdict: 'inconclusive', reason, ...defined({ needs }) };
  const isOpen = remainingOf(evidence, context).length > 0;
  if (isOpen) return context.isLast ? { verdict: 'inconclusive', reason } : nextWave(reason, evidence, context);
  return { verdict, reason, candidate: context.order, onlyIfLeft: priceOfSecond(context) };
};

/** A shorter skill gets no second pass. Otherwise as much must be left again, to ask about what a winner has lost. */
const priceOfSecond = ({ ids, isShorter }: RuleContext) => (isShorter ? Number.POSITIVE_INFINITY : 2 * ids.length);

function judgeByGain(evidence: RuleEvidence, context: RuleContext) {
  const { attempts, candidate, current } = evidence;
  const met = metIn(attempts);
  const remaining = remainingOf(evidence, context);
  const isEnd = remaining.length === 0;
  const settings = settingsOf(evidence, context);
  return judgeWave({
    ...{ knowledge: current, observed: candidate, remaining },
    missing: [...met].filter((id) => !candidate.has(id)),
    maxMissingShare: 1, // where too many are missing, no rule is asked
    settings: { ...settings, hasSecondPass: settings.hasSecondPass && !(context.isLast && isEnd) },
    isSecondPass: attempts.length > met.size,
    isLast: context.isLast && !isEnd,
    isShorter: context.isShorter,
    ...defined({ leastLead: context.leastLead }),
  });
}

const settingsOf = ({ before }: RuleEvidence, { ids, batchSize }: RuleContext) => settingsFor(before, ids, batchSize);

/** Beside a wave the current skill attempts what it has not met; beside the first one everything, if it is in doubt. */
function nextWave(reason: string, evidence: RuleEvidence, context: RuleContext): GateRuling {
  const { order, ids, isDoubted, rolloutsLeft } = context;
  const { attempts, before } = evidence;
  const met = metIn(attempts);
  const end = planWaves(order.length, settingsOf(evidence, context)).find((count) => count > met.size) ?? order.length;
  const wave = order.filter((id) => !met.has(id)).slice(0, end - met.size);
  const isAllAsked = isDoubted && attempts.length === 0 && wave.length + ids.length <= rolloutsLeft;
  return { verdict: 'continue', reason, candidate: wave, current: isAllAsked ? ids : unmetItems(before, wave) };
}

/** Before a winner is taken, the current skill is asked again where they differ and it was asked only once. */
function settleFirst(reason: string, evidence: RuleEvidence, context: RuleContext): GateRuling | undefined {
  const isSettled = evidence.rounds.at(-1)?.candidate.length === 0;
  const disputed = new Set(disputedItems(evidence.current, evidence.candidate));
  if (isSettled || disputed.size === 0 || disputed.size > context.rolloutsLeft) return undefined;
  return { verdict: 'continue', reason, current: context.ids.filter((id) => disputed.has(id)) };
}

/** `gate: strict`, the rule of the paper: one pass, one number. A tie is rejected. */
export const strictRule: AcceptanceRule = (evidence, context) => {
  const remaining = remainingOf(evidence, context);
  if (remaining.length > 0) return { verdict: 'continue', reason: 'one pass decides', candidate: remaining };
  const { ids, metric, mixedWeight, currentScore, bestScore } = context;
  const [hard, soft] = computeScore(inOrderOf(ids, evidence.attempts));
  const score = selectGateScore(hard, soft, metric, mixedWeight);
  const bar = Math.min(currentScore, bestScore); // beating either is enough
  return { verdict: score > bar ? 'accept' : 'reject', reason: `${score} against ${bar}` };
};

/** In the order of a whole pass: sums of floats depend on their order, and so would a tie. */
export function inOrderOf<Attempt extends { readonly id: string }>(
  ids: readonly string[],
  attempts: readonly Attempt[],
): Attempt[] {
  const byId = new Map(attempts.map((attempt) => [attempt.id, attempt]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Not the number of workers: the record says how many tasks a loser has met. */
const MOST_AT_ONCE = 8;

/** `racing: exact`: the strict rule, stopped as soon as it is certain that the candidate loses. The hardest tasks decide early. */
export const exactRule: AcceptanceRule = (evidence, context) => {
  const remaining = remainingOf(evidence, context);
  if (remaining.length === 0) return strictRule(evidence, context);
  const { currentScore, bestScore, metric } = context;
  const finished = evidence.attempts.map(({ score }) => score);
  const race = { bar: Math.min(currentScore, bestScore), finished, isPlainMean: metric !== 'mixed' };
  const { state, upperBound } = exactRace({ ...race, remaining: remaining.length });
  if (state === 'cannot-win') return { verdict: 'reject', reason: `at most ${upperBound} against ${race.bar}` };
  const count = startable({ ...race, inFlight: 0, waiting: remaining.length, limit: MOST_AT_ONCE });
  const hardest = hardestFirst(remaining, evidence.before.own);
  return { verdict: 'continue', reason: 'not certain yet', candidate: hardest.slice(0, count) };
};

/** `useGate: false`: one pass measures a candidate, and it is taken. */
export const openRule: AcceptanceRule = (evidence, context) => {
  const remaining = remainingOf(evidence, context);
  if (remaining.length > 0) return { verdict: 'continue', reason: 'one pass measures', candidate: remaining };
  return { verdict: 'accept', reason: 'no gate' };
};

const metIn = (attempts: readonly GateAttempt[]) => new Set(attempts.map(({ id }) => id));

function remainingOf({ attempts }: RuleEvidence, { ids }: RuleContext): string[] {
  const met = metIn(attempts);
  return ids.filter((id) => !met.has(id));
}
