import { type Item, type RolloutResult, shuffle } from '../../core/contracts/index.ts';
import { toKnowledge, toObservations } from '../../core/run/index.ts';
import {
  DEFAULT_BATCH_SIZE,
  findFlips,
  knownOf,
  raceOrder,
  regressionVeto,
  unmetItems,
} from '../../core/stats/index.ts';
import { defined } from '../../core/text/index.ts';
import { requireWorkingEnv } from '../rollout/require-scores.ts';
import { runRollout } from '../rollout/rollout.ts';
import { type StageDeps, settleAll } from '../stage-deps.ts';
import { type AcceptanceRule, askRule, type GateRound, type GateRuling, type RuleContext } from './acceptance-rule.ts';
import { findBlame, type JudgedCandidate, type RaceInput } from './race-input.ts';
import {
  type AskedAgain,
  figuresOf,
  type JudgedRace,
  type Judgement,
  mayWinEarly,
  metIn,
  type RaceResults,
  scoresIn,
  toRuleEvidence,
  toVerdict,
  whyTooFew,
} from './race-verdict.ts';

/** The candidate, what decides about it, and what it is raced with. */
export type Race = {
  readonly skill: string;
  readonly rule: AcceptanceRule;
  /** The run keeps evidence of each task: limits hold, a winner may be vetoed, and the decision is kept with its figures. */
  readonly keepsEvidence: boolean;
  readonly input: RaceInput;
  readonly deps: StageDeps;
};

/** The candidate meets the tasks that its rule asks for, round after round, until the rule has decided and nothing is vetoed. */
export async function judgeByRace(race: Race): Promise<JudgedCandidate> {
  const judged = await raceSkill(race);
  const asked = judged.judgement.verdict === 'accept' ? await vetoRegressions(judged.shown, race) : undefined;
  return toVerdict(judged, asked, race.input);
}

/** The race alone. Where a rule asks for more than is left, it is asked once more, with what was seen. */
export async function raceSkill(race: Race): Promise<JudgedRace> {
  const order = orderItems(race.input);
  let [shown, isLast]: [RaceResults, boolean] = [{ attempts: [], refreshed: [], rounds: [], waves: [] }, false];
  for (;;) {
    const judged = judge(shown, { order, isLast }, race);
    if (isOver(judged, race)) return judged;
    const { round, price } = nextRound(judged, order, race);
    shown = judged.shown;
    if (price <= leftFor(shown, race)) shown = await rollRound(round, shown, race);
    else if (isLast || !mayEndNow(shown, race)) return stopped(shown, price, race);
    else isLast = true;
  }
}

type Said = GateRuling | Judgement;
type SaidOf = { readonly shown: RaceResults; readonly judgement: Said };
type Asking = Pick<RuleContext, 'order' | 'isLast'>;

/** What a race says now, with what it has shown; its waves are noted as soon as the candidate goes on or is done. */
function judge(shown: RaceResults, asking: Asking, race: Race): SaidOf {
  const { rule, input, keepsEvidence } = race;
  const standing = keepsEvidence ? figuresOf(shown, input) : undefined;
  const judgement =
    whyOut(shown, standing?.invalid, input) ??
    askRule(rule, toRuleEvidence(shown, input), toContext(shown, asking, race));
  const { verdict, reason } = judgement;
  if (!standing || shown.attempts.length === 0 || asksCurrentAlone(judgement)) return { shown, judgement };
  const { expectedGain, chance } = standing.figures;
  const wave = { met: metIn(shown.attempts).size, expectedGain, chance, verdict, reason };
  return { judgement, shown: { ...shown, waves: [...shown.waves, wave] } };
}

const asksCurrentAlone = (said: Said) => 'current' in said && (said.candidate ?? []).length === 0;

/** What no rule is asked about: a candidate that makes tasks throw, and too few results. */
function whyOut(shown: RaceResults, invalid: string | undefined, input: RaceInput): Judgement | undefined {
  if (shown.blame) {
    const { threw, total, reason } = shown.blame;
    return { verdict: 'reject', reason: `${threw} of ${total} tasks threw: ${reason}` };
  }
  const reason = whyTooFew(shown, input) ?? invalid;
  return reason === undefined ? undefined : { verdict: 'invalid', reason };
}

function toContext(shown: RaceResults, asking: Asking, race: Race): RuleContext {
  const { items, state, config, isDoubted = false, isShorter = false } = race.input;
  const { batchSize = DEFAULT_BATCH_SIZE, gateMetric: metric, gateMixedWeight: mixedWeight, leastLead } = config;
  return {
    ids: items.map(({ id }) => id),
    order: [...asking.order],
    rolloutsLeft: leftFor(shown, race),
    currentScore: state.current.score,
    bestScore: state.best.score,
    ...{ metric, mixedWeight, isDoubted, isShorter, isLast: asking.isLast, ...defined({ leastLead }) },
    batchSize: Math.min(batchSize, state.items.train ?? batchSize),
  };
}

/** A seeded order, then the telling items first. */
function orderItems({ items, state, seed = 0 }: RaceInput): string[] {
  const knowledge = toKnowledge(state.gate);
  const rateOf = (id: string) => {
    const { sum, count } = knownOf(knowledge, id);
    return count === 0 ? 0.5 : sum / count;
  };
  return raceOrder(shuffle([...metIn(items)], seed), rateOf);
}

/** An early winner is not taken where the veto must see every task, or where many rollouts gave no result. */
function isOver({ shown, judgement }: JudgedRace, { input, keepsEvidence }: Race): boolean {
  if (judgement.verdict !== 'accept') return judgement.verdict !== 'continue';
  return !keepsEvidence || isWhole(shown, input) || mayWinEarly(shown, input);
}

const isWhole = ({ attempts }: RaceResults, { items }: RaceInput) => metIn(attempts).size >= items.length;

const mayEndNow = (shown: RaceResults, { input }: Race) =>
  shown.attempts.length > 0 && (isWhole(shown, input) || mayWinEarly(shown, input));

/** What the rule asks for; or the rest, where a winner must meet every task. */
function nextRound({ shown, judgement }: SaidOf, order: readonly string[], { input }: Race) {
  if (judgement.verdict === 'continue') {
    const { candidate = [], current = [], onlyIfLeft = 0 } = judgement as Extract<GateRuling, { verdict: 'continue' }>;
    return { round: { candidate, current }, price: Math.max(onlyIfLeft, candidate.length + current.length) };
  }
  const met = metIn(shown.attempts);
  const candidate = order.filter((id) => !met.has(id));
  const current = unmetItems(toKnowledge(input.state.gate), candidate);
  return { round: { candidate, current }, price: candidate.length + current.length };
}

/** A rule that goes on for ever is stopped: no task needs more attempts than these. */
const MOST_PER_TASK = 20;

/** Attempts that a rule may still ask for. The strict gate makes one pass, whatever `maxRollouts` leaves. */
function leftFor(shown: RaceResults, { input, keepsEvidence }: Race): number {
  const asked = shown.rounds.reduce((sum, { candidate, current }) => sum + candidate.length + current.length, 0);
  const most = MOST_PER_TASK * input.items.length - asked;
  return keepsEvidence ? Math.min(most, leftAfter(shown, input) ?? most) : most;
}

const spentOn = ({ attempts, refreshed, blame }: RaceResults) =>
  attempts.length + refreshed.length + (blame?.asked ?? 0);

const leftAfter = (shown: RaceResults, { rolloutsLeft }: RaceInput) =>
  rolloutsLeft === undefined ? undefined : rolloutsLeft - spentOn(shown);

/** Nothing is left for what the rule asks for, and what was seen may not decide. */
function stopped(shown: RaceResults, price: number, { input }: Race): JudgedRace {
  const isSpent = price > (leftAfter(shown, input) ?? Number.POSITIVE_INFINITY);
  const what = isSpent ? 'no rollouts are left' : `the rule asked for more than ${MOST_PER_TASK} attempts a task`;
  const reason = `${what} after ${metIn(shown.attempts).size} of ${input.items.length} items`;
  return { shown, judgement: { verdict: 'inconclusive', reason } };
}

/** Both sides at the same time. */
async function rollRound(round: GateRound, shown: RaceResults, race: Race): Promise<RaceResults> {
  const [candidate, refreshed] = await settleAll([
    rollCandidate(round.candidate, shown, race),
    rollCurrent(round.current, shown, race),
  ] as const);
  const attempts = [...shown.attempts, ...candidate];
  const next = { ...shown, attempts, refreshed: [...shown.refreshed, ...refreshed], rounds: [...shown.rounds, round] };
  return candidate.length === 0 ? next : withBlame(next, race);
}

/** Each task by its next draw, those of one draw together. */
async function rollCandidate(ids: readonly string[], shown: RaceResults, { skill, input, deps }: Race) {
  const draws = new Map<number, string[]>();
  for (const id of ids) {
    const draw = countOf(id, shown.attempts);
    draws.set(draw, [...(draws.get(draw) ?? []), id]);
  }
  const rolled = [...draws].map(([sampleIndex, same]) =>
    runRollout({ env: input.env, skill, items: itemsOf(same, input), sampleIndex, isPart: true }, deps),
  );
  return (await settleAll(rolled)).flat();
}

function itemsOf(ids: readonly string[], { items }: RaceInput): Item[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  return ids.map((id) => byId.get(id)!);
}

/** By the latest attempt at each task. */
async function withBlame(shown: RaceResults, { skill, input, deps }: Race): Promise<RaceResults> {
  const results = [...new Map(shown.attempts.map((result) => [result.id, result])).values()];
  const measured = { skill, results, total: input.items.length, rolloutsLeft: leftAfter(shown, input) };
  return { ...shown, blame: await findBlame(measured, input, deps) };
}

const rollCurrent = (ids: readonly string[], shown: RaceResults, race: Race) =>
  rollAgain(
    itemsOf(ids, race.input).map((item) => ({ item, times: 1 })),
    { skill: race.input.state.current.skill, nextDraw: nextCurrentDraw(shown, race.input) },
    race,
  );

function nextCurrentDraw({ refreshed }: RaceResults, { state }: RaceInput) {
  return (id: string) => (state.gate.draws[id] ?? 0) + countOf(id, refreshed);
}

const countOf = (id: string, drawn: readonly { readonly id: string }[]) => drawn.filter((one) => one.id === id).length;

type RaceSide = {
  readonly skill: string;
  /** The next draw of an item under this skill. */
  readonly nextDraw: (id: string) => number;
  /** The current skill attempts the same items: it shows whether the environment works. */
  readonly isCompared?: boolean;
};
type Reroll = { readonly item: Item; readonly times: number };

/** New draws of some items under one skill, all at the same time, in the order given. */
async function rollAgain(
  rerolls: readonly Reroll[],
  { skill, nextDraw, isCompared = false }: RaceSide,
  { input: { env, items }, deps }: Race,
): Promise<readonly RolloutResult[]> {
  const rolled = rerolls.flatMap(({ item, times }) =>
    Array.from({ length: times }, (_, index) =>
      runRollout({ env, skill, items: [item], sampleIndex: nextDraw(item.id) + index, isPart: true }, deps),
    ),
  );
  const results = (await settleAll(rolled)).flat();
  if (!isCompared) requireWorkingEnv(results, items.length);
  return results;
}

/**
 * A winner is asked about the items that it seems to have lost: each is rolled out again on both sides before it counts.
 * Without the veto only protected items are asked about. `undefined` if there is nothing to ask.
 */
async function vetoRegressions(shown: RaceResults, race: Race): Promise<AskedAgain | undefined> {
  const { items, config, state } = race.input;
  const { candidate: observed, current: known } = toRuleEvidence(shown, race.input);
  const protectedItems = new Set(config.protectedItems);
  const found = findFlips({ incumbent: known.own, candidate: observed, protectedItems });
  const flips = found.filter(({ isProtected }) => config.regressionVeto || isProtected);
  if (flips.length === 0) return undefined;
  const asked = 2 * flips.reduce((sum, { rerolls }) => sum + rerolls, 0);
  if (asked > (leftAfter(shown, race.input) ?? Number.POSITIVE_INFINITY)) {
    const reason = `no rollouts are left to ask about ${flips.length} tasks that seem to be lost`;
    return { veto: { isVetoed: true, regressions: [], reason }, incumbent: [], candidate: [] };
  }
  const rerolls = items.flatMap((item) => {
    const flip = flips.find(({ id }) => id === item.id);
    return flip ? [{ item, times: flip.rerolls }] : [];
  });
  const nextDraw = (id: string) => countOf(id, shown.attempts);
  const [incumbent, candidate] = await settleAll([
    rollAgain(rerolls, { skill: state.current.skill, nextDraw: nextCurrentDraw(shown, race.input) }, race),
    rollAgain(rerolls, { skill: race.skill, nextDraw, isCompared: true }, race),
  ] as const);
  const [before, after] = [incumbent, candidate].map((results) => toObservations(scoresIn(results), config));
  return { veto: regressionVeto({ flips, incumbent: before!, candidate: after! }), incumbent, candidate };
}
