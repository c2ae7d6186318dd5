import type { Evaluation, SkillEnv } from '../../core/contracts/index.ts';
import {
  addBills,
  addStageUsage,
  type RunState,
  toEvidence,
  toObservations,
  type UsageTable,
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
import { type Held, paidSince } from '../../models/index.ts';
import type { TaskDelta } from '../../report/index.ts';
import { evaluatePasses } from '../../train/index.ts';
import type { TaskRecord } from '../task-record.ts';
import { type DocumentNight, metricOf } from './cycle-input.ts';
import { isOutOfBudget } from './night-limits.ts';

export type Proof = {
  readonly isProven: boolean;
  /** What the person is told: of a proven gain by passes made after it was proven, since proof flatters. */
  readonly gain: Estimate;
  /** Mean scores that the gain is the difference of. */
  readonly before: number;
  readonly after: number;
  readonly pValue: number;
  readonly error: number;
  /** Whole passes over the validation tasks that were made for it, of both sides together. */
  readonly passes: number;
  readonly tasks: readonly TaskDelta[];
  /** What these passes have used, by stage. The run knows nothing of them. */
  readonly usage: UsageTable;
  /** Which limit did not allow another look. */
  readonly cut?: string | undefined;
};

type Proving = Omit<DocumentNight, 'error'> & {
  readonly env: SkillEnv<TaskRecord>;
  readonly error: number;
  /** Of the search that found the block; nothing, if a person wrote it. */
  readonly state?: RunState | undefined;
  /** Up to where the search has counted the replies in its cache. */
  readonly counted?: number | undefined;
  readonly baseBlock: string;
  readonly block: string;
  /** What is kept of the limits for the passes behind a proven gain. */
  readonly reserve?: Held | undefined;
};

/** Draws that no search and no final measurement has seen. */
const PROOF_FROM = 2_000_000;
export const REPORT_FROM = 3_000_000;
export const REPORT_PASSES = 2;
/** Where no search has measured anything, but a night's proof may have seen the others. */
const REVIEW_FROM = 4_000_000;
const REVIEW_REPORT_FROM = 5_000_000;

type Sides = { readonly winner: Evidence; readonly seed: Evidence; readonly usage: UsageTable };

/** Looks at the evidence a few times, with more passes each time, until the gain is proven or not worth proving. */
export async function prove(night: Proving): Promise<Proof> {
  const { error, proofLooks: looks = PROOF_LOOKS } = night;
  const [proofFrom, reportFrom] = night.state ? [PROOF_FROM, REPORT_FROM] : [REVIEW_FROM, REVIEW_REPORT_FROM];
  let sides = night.state ? sidesOf(night.state, night) : await firstPasses(night);
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
      break; // unproven so far, and so it stays
    }
    sides = further;
    proof = proveGain(sides.winner, sides.seed, error)!;
    passes += 2 * more;
  }
  const isProven = judgeProof(proof, look, error, looks) === 'proven';
  night.budget?.release();
  if (!isProven) return { ...told(proof, sides), isProven, error, passes, cut };
  const fresh = await withPasses(
    night,
    { winner: noEvidence, seed: noEvidence, usage: sides.usage },
    { from: reportFrom, count: REPORT_PASSES },
  );
  const measured = proveGain(fresh.winner, fresh.seed, error) ?? proof;
  const reported = elsewhere(measured, proof, error * looks[look]!.share);
  return { ...told(reported, fresh), pValue: proof.pValue, isProven, error, passes: passes + 2 * REPORT_PASSES };
}

/** The sides, or which limit could not pay for them. */
const affordable = (sides: Promise<Sides>): Promise<Sides | string> =>
  sides.catch((error) => {
    if (isOutOfBudget(error)) return error.message;
    throw error;
  });

/** The gain and its interval, moved to where they lead to expect it on other tasks. */
function elsewhere(measured: NightProof, proven: NightProof, error: number): NightProof {
  const value = gainElsewhere(measured, proven, error);
  const { low, high } = measured.gain.interval;
  const moved = measured.gain.value - value;
  return { ...measured, gain: { value, interval: { low: low - moved, high } } };
}

/** The winner by its final measurement, the seed by what the search knows of it: it was not chosen for that. */
function sidesOf(state: RunState, { config }: Proving): Sides {
  const { passes } = winnerMeasurement(state)!;
  return { winner: evidenceOf(noEvidence, passes, metricOf(config)), seed: toEvidence(state.gate.seed), usage: {} };
}

const firstPasses = (night: Proving) =>
  withPasses(
    night,
    { winner: noEvidence, seed: noEvidence, usage: {} },
    { from: REVIEW_FROM, count: PROOF_LOOKS[0]!.passes },
  );

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
  const { env, models, config, store, budget, runner, work, observers, signal, counted } = night;
  const indexes = Array.from({ length: count }, (_, index) => from + index);
  let usage: UsageTable = {};
  await using open = await store.open();
  const scores = await evaluatePasses(
    {
      ...{ env, skill, config, split: 'val', target: models.target, judge: models.judge, caches: open.caches },
      budget,
      ...(runner ? { runner } : {}),
      ...(work ? { agent: work.agent } : {}),
      ...(observers ? { observers } : {}),
      ...(signal ? { signal } : {}),
      onUsage: (used) => {
        usage = used;
      },
    },
    indexes,
  );
  // All that this proof has paid for, also before it was cut off: what comes from the cache is not in the usage of these passes.
  // What an agent used is no reply that a cache could have kept.
  const bills = counted === undefined || work ? undefined : paidSince(open.caches.replies, counted);
  return { passes: scores.map(({ evaluation }) => evaluation), usage, paid: bills && addBills({}, bills) };
}

const evidenceOf = (
  before: Evidence,
  passes: readonly Pick<Evaluation, 'scores'>[],
  metric: ReturnType<typeof metricOf>,
) =>
  addObservations(
    before,
    passes.flatMap(({ scores }) => toObservations(scores, metric)),
  );

function told({ gain, pValue }: NightProof, { winner, seed, usage }: Sides) {
  const mean = (evidence: Evidence, id: string) => evidence.get(id)!.sum / evidence.get(id)!.count;
  const ids = [...winner.keys()].filter((id) => seed.has(id));
  const tasks = ids.map((id) => ({ id, before: mean(seed, id), after: mean(winner, id) }));
  const after = pooledMean(winner) ?? 0;
  return { gain, pValue, before: after - gain.value, after, tasks, usage };
}
