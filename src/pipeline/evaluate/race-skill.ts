import { type Item, type RolloutResult, shuffle } from '../../core/contracts/index.ts';
import { toKnowledge, toObservations } from '../../core/run/index.ts';
import {
  DEFAULT_BATCH_SIZE,
  disputedItems,
  findFlips,
  knownOf,
  planWaves,
  type RaceSettings,
  raceOrder,
  regressionVeto,
  settingsFor,
  unmetItems,
} from '../../core/stats/index.ts';
import { requireWorkingEnv, whyInvalid } from '../rollout/require-scores.ts';
import { runRollout } from '../rollout/rollout.ts';
import { type StageDeps, settleAll } from '../stage-deps.ts';
import { findBlame, type JudgedCandidate, type RaceInput } from './race-input.ts';
import {
  type AskedAgain,
  type HowToJudge,
  type JudgedRace,
  judge,
  type RaceResults,
  scoresIn,
  shareOf,
  toEvidences,
  toVerdict,
} from './race-verdict.ts';

/** The candidate, and what it is raced with. */
type Race = { readonly skill: string; readonly input: RaceInput; readonly deps: StageDeps };

/**
 * The gate that knows noise: the candidate meets the items in two waves, and is out or taken as soon as the rest is not
 * worth its price; one that stays in doubt is rolled out once more. An item on which the current skill was never rolled
 * out is rolled out under both.
 */
export async function raceSkill(skill: string, input: RaceInput, deps: StageDeps): Promise<JudgedCandidate> {
  const race = { skill, input, deps };
  const settings = settingsOf(input);
  const order = orderItems(input);
  let shown: RaceResults = { results: [], confirmation: [], refreshed: [], waves: [] };
  for (const end of planWaves(order.length, settings)) {
    const wave = order.slice(shown.results.length, end);
    const own = ownFor(wave, shown, input);
    if (!isPaidFor(wave.length + own.length, shown, input)) return stopRace(shown, settings, race);
    const judged = await judgeSettled(await rollWave({ wave, own }, shown, race), { settings }, race);
    if (isOver(judged, input)) return conclude(judged, race);
    shown = judged.shown;
  }
  if (!input.isShorter && isPaidFor(2 * order.length, shown, input)) shown = await rollSecond(order, shown, race);
  return conclude(await judgeSettled(shown, { settings: { ...settings, hasSecondPass: false } }, race), race);
}

/** An early winner is not taken where the veto must see every task, or where many rollouts gave no result. */
function isOver({ judgement, shown }: JudgedRace, input: RaceInput): boolean {
  if (judgement.verdict !== 'accept') return judgement.verdict !== 'continue';
  return shown.results.length === input.items.length || mayWinEarly(shown, input);
}

const mayWinEarly = ({ results }: RaceResults, { config }: RaceInput) =>
  !config.regressionVeto && whyInvalid(results, shareOf(config)) === undefined;

function settingsOf({ items, state, config }: RaceInput): RaceSettings {
  const { batchSize = DEFAULT_BATCH_SIZE } = config;
  const ids = items.map(({ id }) => id);
  return settingsFor(toKnowledge(state.gate), ids, Math.min(batchSize, state.items.train ?? batchSize));
}

/** A seeded order, then the telling items first. */
function orderItems({ items, state, seed = 0 }: RaceInput): Item[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const knowledge = toKnowledge(state.gate);
  const rateOf = (id: string) => {
    const { sum, count } = knownOf(knowledge, id);
    return count === 0 ? 0.5 : sum / count;
  };
  return raceOrder(shuffle([...byId.keys()], seed), rateOf).map((id) => byId.get(id)!);
}

/** What the current skill is rolled out on beside a wave: what it has not met; beside the first one all, if it is in doubt. */
function ownFor(wave: readonly Item[], shown: RaceResults, input: RaceInput): readonly Item[] {
  const isInDoubt = (input.isDoubted ?? false) && shown.results.length === 0;
  return isInDoubt && isPaidFor(wave.length + input.items.length, shown, input) ? input.items : unmetOf(wave, input);
}

function unmetOf(wave: readonly Item[], { state }: RaceInput): Item[] {
  const ids = wave.map(({ id }) => id);
  const unmet = new Set(unmetItems(toKnowledge(state.gate), ids));
  return wave.filter(({ id }) => unmet.has(id));
}

const isPaidFor = (rollouts: number, shown: RaceResults, input: RaceInput) =>
  rollouts <= (leftAfter(shown, input) ?? Number.POSITIVE_INFINITY);

function leftAfter({ results, confirmation, refreshed, blame }: RaceResults, { rolloutsLeft }: RaceInput) {
  const spent = results.length + confirmation.length + refreshed.length + (blame?.asked ?? 0);
  return rolloutsLeft === undefined ? undefined : rolloutsLeft - spent;
}

type BothSides = { readonly wave: readonly Item[]; readonly own: readonly Item[] };

/** Both sides at the same time. */
async function rollWave({ wave, own }: BothSides, shown: RaceResults, race: Race): Promise<RaceResults> {
  const { skill, input, deps } = race;
  const [candidate, refreshed] = await settleAll([
    runRollout({ env: input.env, skill, items: wave, isPart: true }, deps),
    rollCurrent(own, shown, race),
  ] as const);
  const results = [...shown.results, ...candidate];
  return withBlame({ ...shown, results, refreshed: [...shown.refreshed, ...refreshed] }, results, race);
}

async function rollSecond(order: readonly Item[], shown: RaceResults, race: Race): Promise<RaceResults> {
  const { skill, input, deps } = race;
  const confirmation = await runRollout({ env: input.env, skill, items: order, sampleIndex: 1, isPart: true }, deps);
  return withBlame({ ...shown, confirmation }, confirmation, race);
}

async function withBlame(shown: RaceResults, results: readonly RolloutResult[], { skill, input, deps }: Race) {
  const measured = { skill, results, total: input.items.length, rolloutsLeft: leftAfter(shown, input) };
  return { ...shown, blame: await findBlame(measured, input, deps) };
}

const rollCurrent = (items: readonly Item[], shown: RaceResults, race: Race) =>
  rollAgain(
    items.map((item) => ({ item, times: 1 })),
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

/** What was seen, and what it says now. */
async function judgeSettled(seen: RaceResults, how: HowToJudge, race: Race): Promise<JudgedRace> {
  const { shown, judgement } = await settleDisputes(seen, how, race);
  const { verdict, reason, expectedGain, chance } = judgement;
  const wave = { met: shown.results.length, expectedGain, chance, verdict, reason };
  return { shown: { ...shown, waves: [...shown.waves, wave] }, judgement };
}

/** Before a winner is taken, the current skill is asked again where they differ and it was asked only once. */
async function settleDisputes(shown: RaceResults, how: HowToJudge, race: Race): Promise<JudgedRace> {
  const { input } = race;
  const judgement = judge(shown, how, input);
  if (judgement.verdict !== 'accept') return { shown, judgement };
  const { observed, knowledge } = toEvidences(shown, input);
  const disputed = new Set(disputedItems(knowledge, observed));
  if (!isPaidFor(disputed.size, shown, input)) return { shown, judgement };
  const asked = input.items.filter(({ id }) => disputed.has(id));
  const settled = { ...shown, refreshed: [...shown.refreshed, ...(await rollCurrent(asked, shown, race))] };
  return { shown: settled, judgement: judge(settled, how, input) };
}

/** No rollouts are left for the next wave: the expected gain decides, unless the veto would have to see the rest. */
async function stopRace(shown: RaceResults, settings: RaceSettings, race: Race): Promise<JudgedCandidate> {
  if (shown.results.length > 0 && mayWinEarly(shown, race.input)) {
    return conclude(await judgeSettled(shown, { settings, isLast: true }, race), race);
  }
  const judgement = judge(shown, { settings }, race.input);
  const reason = `no rollouts are left after ${shown.results.length} of ${race.input.items.length} items`;
  return toVerdict({ shown, judgement: { ...judgement, verdict: 'inconclusive', reason } }, undefined, race.input);
}

async function conclude(judged: JudgedRace, race: Race): Promise<JudgedCandidate> {
  const asked = judged.judgement.verdict === 'accept' ? await vetoRegressions(judged.shown, race) : undefined;
  return toVerdict(judged, asked, race.input);
}

/**
 * A winner is asked about the items that it seems to have lost: each is rolled out again on both sides before it counts.
 * Without the veto only protected items are asked about. `undefined` if there is nothing to ask.
 */
async function vetoRegressions(shown: RaceResults, race: Race): Promise<AskedAgain | undefined> {
  const { items, config, state } = race.input;
  const { observed, knowledge } = toEvidences(shown, race.input);
  const protectedItems = new Set(config.protectedItems);
  const found = findFlips({ incumbent: knowledge.own, candidate: observed, protectedItems });
  const flips = found.filter(({ isProtected }) => config.regressionVeto || isProtected);
  if (flips.length === 0) return undefined;
  const asked = 2 * flips.reduce((sum, { rerolls }) => sum + rerolls, 0);
  if (!isPaidFor(asked, shown, race.input)) {
    const reason = `no rollouts are left to ask about ${flips.length} tasks that seem to be lost`;
    return { veto: { isVetoed: true, regressions: [], reason }, incumbent: [], candidate: [] };
  }
  const rerolls = items.flatMap((item) => {
    const flip = flips.find(({ id }) => id === item.id);
    return flip ? [{ item, times: flip.rerolls }] : [];
  });
  const nextDraw = (id: string) => countOf(id, shown.results) + countOf(id, shown.confirmation);
  const [incumbent, candidate] = await settleAll([
    rollAgain(rerolls, { skill: state.current.skill, nextDraw: nextCurrentDraw(shown, race.input) }, race),
    rollAgain(rerolls, { skill: race.skill, nextDraw, isCompared: true }, race),
  ] as const);
  const [before, after] = [incumbent, candidate].map((results) => toObservations(scoresIn(results), config));
  return { veto: regressionVeto({ flips, incumbent: before!, candidate: after! }), incumbent, candidate };
}
