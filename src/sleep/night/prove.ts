import { type Evaluation, isOutOfBudget, type SkillEnv } from '../../core/contracts/index.ts';
import {
  addStageUsage,
  type RunState,
  toEvidence,
  toObservations,
  type UsageTable,
  usageBeyond,
  winnerMeasurement,
} from '../../core/run/index.ts';
import {
  addObservations,
  type Estimate,
  type Evidence,
  gainElsewhere,
  judgeProof,
  type NightProof,
  noEvidence,
  PROOF_LOOKS,
  pooledMean,
  proveGain,
} from '../../core/stats/index.ts';
import { defined } from '../../core/text/index.ts';
import type { Held } from '../../models/index.ts';
import type { TaskDelta } from '../../report/index.ts';
import { evaluatePasses } from '../../train/index.ts';
import type { TaskRecord } from '../task-record.ts';
import { type DocumentNight, metricOf } from './cycle-input.ts';

export type Proof = Readonly<Record<'before' | 'after' | 'pValue' | 'error' | 'passes', number>> & {
  readonly isProven: boolean;
  /** The proof had succeeded, and the attempts for the report took it back. */
  readonly isUnconfirmed?: boolean | undefined;
  /** A proven gain is measured again by passes made after the proof, since the proof itself overstates it. */
  readonly gain: Estimate;
  readonly tasks: readonly TaskDelta[];
  /** Usage of these passes by stage, which the run does not contain. */
  readonly usage: UsageTable;
  readonly cut?: string | undefined;
};

export const gainOf = (proof: Proof | undefined) =>
  proof ? { value: proof.gain.value, ...proof.gain.interval } : null;

type Proving = Omit<DocumentNight, 'error'> & {
  readonly env: SkillEnv<TaskRecord>;
  readonly error: number;
  /** The search that found the block; `undefined` if a person wrote it. */
  readonly state?: RunState | undefined;
  readonly baseBlock: string;
  readonly block: string;
  /** Kept of the limits for the passes after a proven gain. */
  readonly reserve?: Held | undefined;
};

/** Draws that no search and no final measurement has seen. */
const PROOF_FROM = 2_000_000;
export const REPORT_FROM = 3_000_000;
export const REPORT_PASSES = 2;
/** For blocks that a person wrote: the night's proof may have used the draws above. */
const REVIEW_FROM = 4_000_000;
const REVIEW_REPORT_FROM = 5_000_000;

type Sides = { readonly winner: Evidence; readonly seed: Evidence; readonly usage: UsageTable };
const NO_SIDES: Sides = { winner: noEvidence, seed: noEvidence, usage: {} };

/** Looks at the evidence a few times, with more passes each time, until the gain is proven or not worth proving. */
export async function prove(night: Proving): Promise<Proof> {
  const { error, proofLooks: looks = PROOF_LOOKS } = night;
  const [proofFrom, reportFrom] = night.state ? [PROOF_FROM, REPORT_FROM] : [REVIEW_FROM, REVIEW_REPORT_FROM];
  const firstDraws = { from: REVIEW_FROM, count: PROOF_LOOKS[0]!.passes };
  let sides = night.state ? sidesOf(night.state, night) : await withPasses(night, NO_SIDES, firstDraws);
  let proof = proveGain(sides.winner, sides.seed, error)!;
  let passes = looks[0]!.passes;
  let look = 0;
  let cut: string | undefined;
  if (night.reserve) night.budget?.hold(night.reserve);
  for (; judgeProof(proof, look, error, looks) === 'look-again'; look += 1) {
    const more = looks[look + 1]!.passes - looks[look]!.passes;
    const further = await affordable(withPasses(night, sides, { from: proofFrom + passes, count: more }));
    if (typeof further === 'string') {
      cut = further;
      break; // it stays unproven
    }
    sides = further;
    proof = proveGain(sides.winner, sides.seed, error)!;
    passes += 2 * more;
  }
  const isProven = judgeProof(proof, look, error, looks) === 'proven';
  night.budget?.release();
  if (!isProven) return { ...measuredBy(proof, sides), isProven, error, passes, cut };
  const freshDraws = { from: reportFrom, count: REPORT_PASSES };
  const fresh = await withPasses(night, { ...NO_SIDES, usage: sides.usage }, freshDraws);
  const measured = proveGain(fresh.winner, fresh.seed, error) ?? proof;
  const all = proveGain(together(sides.winner, fresh.winner), together(sides.seed, fresh.seed), error) ?? proof;
  const gain = shownGain(measured, { proof, all }, error * looks[look]!.share);
  // What is proposed is proven by the number that is shown, and the attempts that nothing was chosen by do not deny it.
  const isConfirmed = gain.interval.low >= LEAST_SHOWN && measured.gain.value > 0;
  const shown = measuredBy({ ...measured, gain, pValue: proof.pValue }, fresh);
  const told = { ...shown, isProven: isConfirmed, isUnconfirmed: !isConfirmed };
  return { ...told, error, passes: passes + 2 * REPORT_PASSES };
}

/** Less than this is `+0.0 points` in a report. */
const LEAST_SHOWN = 0.0005;

function together(one: Evidence, other: Evidence): Evidence {
  const both = new Map(one);
  for (const [id, { sum, sumSquares, count }] of other) {
    const known = both.get(id) ?? { sum: 0, sumSquares: 0, count: 0 };
    both.set(id, { sum: known.sum + sum, sumSquares: known.sumSquares + sumSquares, count: known.count + count });
  }
  return both;
}

const affordable = (sides: Promise<Sides>): Promise<Sides | string> =>
  sides.catch((error) => {
    if (isOutOfBudget(error)) return error.message;
    throw error;
  });

/** What can be expected on other tasks, between the lower end by all attempts and the upper end by those that nothing was chosen by. */
function shownGain(measured: NightProof, { proof, all }: Record<'proof' | 'all', NightProof>, error: number): Estimate {
  const { low } = all.gain.interval; // `gainElsewhere` may come to less, down to 0, where the tasks differ much
  const value = Math.max(low, gainElsewhere(measured, proof, error));
  return { value, interval: { low, high: Math.max(value, measured.gain.interval.high) } };
}

/** The winner counts by its final measurement alone; the seed was not chosen, so all its measurements count. */
function sidesOf(state: RunState, { config }: Proving): Sides {
  const { passes } = winnerMeasurement(state)!;
  return { winner: evidenceOf(noEvidence, passes, metricOf(config)), seed: toEvidence(state.gate.seed), usage: {} };
}

type Draws = { readonly from: number; readonly count: number };

async function withPasses(night: Proving, { winner, seed, usage }: Sides, draws: Draws): Promise<Sides> {
  const metric = metricOf(night.config);
  const after = await passesOf(night, night.block, draws);
  const before = await passesOf(night, night.baseBlock, draws);
  return {
    winner: evidenceOf(winner, after.passes, metric),
    seed: evidenceOf(seed, before.passes, metric),
    usage: before.paid ?? [after, before].reduce((sum, used) => addStageUsage(sum, used.usage), usage),
  };
}

async function passesOf(night: Proving, skill: string, { from, count }: Draws) {
  const { env, models, config, store, budget, runner, work, observers, signal, state } = night;
  const indexes = Array.from({ length: count }, (_, index) => from + index);
  let usage: UsageTable = {};
  await using open = await store.open();
  const evaluated = { env, skill, config, split: 'val', target: models.target, judge: models.judge } as const;
  const shared = {
    caches: open.caches,
    ledger: open.ledger,
    budget,
    runner,
    agent: work?.agent,
    observers: observers ?? [],
  };
  const onUsage = (used: UsageTable) => {
    usage = used;
  };
  const scores = await evaluatePasses({ ...evaluated, ...shared, ...defined({ signal }), onUsage }, indexes);
  // The usage of these passes lacks what a proof that was cut off has paid for before: the ledger of the search has it.
  const paid = open.ledger && state && usageBeyond(open.ledger.spent().usage, state.usage);
  return { passes: scores.map(({ evaluation }) => evaluation), usage, paid };
}

type Passes = readonly Pick<Evaluation, 'scores'>[];

function evidenceOf(before: Evidence, passes: Passes, metric: ReturnType<typeof metricOf>): Evidence {
  const observations = passes.flatMap(({ scores }) => toObservations(scores, metric));
  return addObservations(before, observations);
}

function measuredBy({ gain, pValue }: NightProof, { winner, seed, usage }: Sides) {
  const mean = (evidence: Evidence, id: string) => evidence.get(id)!.sum / evidence.get(id)!.count;
  const ids = [...winner.keys()].filter((id) => seed.has(id));
  const tasks = ids.map((id) => ({ id, before: mean(seed, id), after: mean(winner, id) }));
  const after = pooledMean(winner) ?? 0;
  return { gain, pValue, before: after - gain.value, after, tasks, usage };
}
