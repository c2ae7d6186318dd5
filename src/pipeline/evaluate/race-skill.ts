import { type RolloutResult, shuffle } from '../../core/contracts/index.ts';
import { toKnowledge } from '../../core/run/index.ts';
import {
  DEFAULT_BATCH_SIZE,
  disputedItems,
  type Knowledge,
  knownOf,
  planWaves,
  type RaceSettings,
  raceOrder,
  settingsFor,
  unmetItems,
  type WaveJudgement,
} from '../../core/stats/index.ts';
import { whyInvalid } from '../rollout/require-scores.ts';
import { rollAgain } from '../rollout/roll-again.ts';
import { runRollout } from '../rollout/rollout.ts';
import { settleAll } from '../settle-all.ts';
import type { StageDeps } from '../stage-deps.ts';
import { findBlame } from './find-blame.ts';
import { judge, nothingShown, type Shown, shareOf, toEvidences, toVerdict } from './judge-race.ts';
import type { JudgedCandidate, RaceInput } from './race-input.ts';
import { vetoRegressions } from './veto-regressions.ts';

/**
 * The gate that knows noise: the candidate meets the items in two waves, and is out or taken as soon as the rest is not
 * worth its price; one that stays in doubt is rolled out once more. An item on which the current skill was never rolled
 * out is rolled out under both.
 */
export async function raceSkill(skill: string, input: RaceInput, deps: StageDeps): Promise<JudgedCandidate> {
  const settings = settingsOf(input);
  const order = orderItems(input);
  let shown = nothingShown;
  for (const end of planWaves(order.length, settings)) {
    const wave = order.slice(shown.results.length, end);
    if (!isPaidFor(wave.length + unmetOf(wave, input).length, shown, input)) return stopRace(shown, input);
    shown = await settleDisputes(await rollWave(skill, wave, shown, input, deps), settings, input, deps);
    const judgement = judge(shown, settings, input);
    if (isOver(judgement, shown, input)) return conclude(skill, shown, judgement, input, deps);
  }
  const last = { ...settings, hasSecondPass: false };
  if (isPaidFor(2 * order.length, shown, input)) shown = await rollSecond(skill, order, shown, input, deps);
  shown = await settleDisputes(shown, last, input, deps);
  return conclude(skill, shown, judge(shown, last, input), input, deps);
}

/**
 * With the veto a winner must have met every task: only those can be seen to be lost. So must one of which many rollouts gave
 * no result.
 */
function isOver({ verdict }: WaveJudgement, { results }: Shown, { items, config }: RaceInput): boolean {
  if (verdict !== 'accept') return verdict !== 'continue';
  const isEarly = results.length < items.length;
  return !(isEarly && (config.regressionVeto || whyInvalid(results, shareOf(config)) !== undefined));
}

function settingsOf({ items, state, config }: RaceInput): RaceSettings {
  const { batchSize = DEFAULT_BATCH_SIZE } = config;
  const ids = items.map(({ id }) => id);
  return settingsFor(toKnowledge(state.gate), ids, Math.min(batchSize, state.items.train ?? batchSize));
}

/** A seeded order, then the telling items first. */
function orderItems({ items, state, seed = 0 }: RaceInput): RaceInput['items'] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const knowledge = toKnowledge(state.gate);
  return raceOrder(shuffle([...byId.keys()], seed), (id) => rateOf(knowledge, id)).map((id) => byId.get(id)!);
}

function rateOf(knowledge: Knowledge, id: string): number {
  const { sum, count } = knownOf(knowledge, id);
  return count === 0 ? 0.5 : sum / count;
}

function unmetOf(wave: RaceInput['items'], { state }: RaceInput): RaceInput['items'] {
  const unmet = new Set(
    unmetItems(
      toKnowledge(state.gate),
      wave.map(({ id }) => id),
    ),
  );
  return wave.filter(({ id }) => unmet.has(id));
}

/** Whether so many more rollouts are left to the search. */
function isPaidFor(rollouts: number, shown: Shown, { rolloutsLeft }: RaceInput): boolean {
  return rolloutsLeft === undefined || spentOn(shown) + rollouts <= rolloutsLeft;
}

const spentOn = ({ results, confirmation, refreshed, blame }: Shown) =>
  results.length + confirmation.length + refreshed.length + (blame?.asked ?? 0);
const leftAfter = (shown: Shown, { rolloutsLeft }: RaceInput) =>
  rolloutsLeft === undefined ? undefined : rolloutsLeft - spentOn(shown);
const drawsOf = (id: string, results: readonly RolloutResult[]) => results.filter((result) => result.id === id).length;

/** Both sides at the same time. */
async function rollWave(
  skill: string,
  wave: RaceInput['items'],
  shown: Shown,
  input: RaceInput,
  deps: StageDeps,
): Promise<Shown> {
  const { env, items } = input;
  const current = currentSide(shown, input);
  const [candidate, own] = await settleAll([
    runRollout({ env, skill, items: wave, isPart: true }, deps),
    rollAgain(
      unmetOf(wave, input).map((item) => ({ item, times: 1 })),
      current,
      input,
      deps,
    ),
  ] as const);
  const results = [...shown.results, ...candidate];
  const next = { ...shown, results, refreshed: [...shown.refreshed, ...own] };
  const measured = { skill, results, total: items.length, rolloutsLeft: leftAfter(next, input) };
  return { ...next, blame: await findBlame(measured, input, deps) };
}

/** The current skill, and the next draw of each item under it. */
function currentSide({ refreshed }: Shown, { state }: RaceInput) {
  const drawn = (id: string) => refreshed.filter((score) => score.id === id).length;
  return { skill: state.current.skill, from: (id: string) => (state.gate.draws[id] ?? 0) + drawn(id) };
}

/** Before a winner is taken, the current skill is asked again where they differ and it was asked only once. */
async function settleDisputes(shown: Shown, settings: RaceSettings, input: RaceInput, deps: StageDeps): Promise<Shown> {
  if (judge(shown, settings, input).verdict !== 'accept') return shown;
  const { observed, knowledge } = toEvidences(shown, input);
  const disputed = new Set(disputedItems(knowledge, observed));
  if (!isPaidFor(disputed.size, shown, input)) return shown;
  const wanted = input.items.filter(({ id }) => disputed.has(id)).map((item) => ({ item, times: 1 }));
  const own = await rollAgain(wanted, currentSide(shown, input), input, deps);
  return { ...shown, refreshed: [...shown.refreshed, ...own] };
}

async function rollSecond(
  skill: string,
  order: RaceInput['items'],
  shown: Shown,
  input: RaceInput,
  deps: StageDeps,
): Promise<Shown> {
  const { env } = input;
  const confirmation = await runRollout({ env, skill, items: order, sampleIndex: 1, isPart: true }, deps);
  const next = { ...shown, confirmation };
  const measured = { skill, results: confirmation, total: order.length, rolloutsLeft: leftAfter(next, input) };
  return { ...next, blame: await findBlame(measured, input, deps) };
}

/** No rollouts are left for the next wave: what was seen decides nothing. */
function stopRace(shown: Shown, input: RaceInput): JudgedCandidate {
  const judged = judge(shown, { ...settingsOf(input), hasSecondPass: false }, input);
  const { met, total } = { met: shown.results.length, total: input.items.length };
  const reason = `no rollouts are left after ${met} of ${total} items`;
  return toVerdict(shown, { ...judged, verdict: 'inconclusive', reason }, undefined, input);
}

/** A winner may still be stopped by what surely got worse. */
async function conclude(
  skill: string,
  shown: Shown,
  judgement: WaveJudgement,
  input: RaceInput,
  deps: StageDeps,
): Promise<JudgedCandidate> {
  if (judgement.verdict !== 'accept') return toVerdict(shown, judgement, undefined, input);
  const { observed, knowledge } = toEvidences(shown, input);
  const winner = {
    skill,
    observed,
    incumbent: knowledge.own,
    nextDraw: (id: string) => drawsOf(id, shown.results) + drawsOf(id, shown.confirmation),
    rolloutsLeft: leftAfter(shown, input),
    nextIncumbentDraw: currentSide(shown, input).from,
  };
  return toVerdict(shown, judgement, await vetoRegressions(winner, input, deps), input);
}
