import {
  addObservations,
  type Evidence,
  finalReport,
  findFlips,
  type GateSettings,
  gateSettings,
  isBinary,
  judgeWave,
  mergeAccepted,
  noEvidence,
  type Observation,
  planWaves,
  raceOrder,
  refreshPlan,
  regressionVeto,
  withinVariance,
} from '../../../src/core/stats/index.ts';
import { type Dice, shuffleIndexes } from './dice.ts';
import { createProposer, type Proposal, type TrainCosts } from './proposer.ts';
import { applyEdit, type EditType, type Kind, type Mix, rollout, type Skill, seedSkill, trueScore } from './stream.ts';

export type RunInput = {
  readonly dice: Dice;
  readonly n: number;
  readonly kind: Kind;
  readonly mix: Mix;
  /** Target calls in all: baseline, search and final passes, and train rollouts if they cost anything. */
  readonly budget: number;
  readonly train?: TrainCosts;
  /** The default for this size unless given. */
  readonly settings?: GateSettings;
  /** Winners are asked again about the items that they seem to have lost. */
  readonly isVetoing?: boolean;
};

type Tally = Record<EditType, number>;

export type RunResult = {
  readonly gain: number;
  /** Reported minus true score. */
  readonly error: number;
  readonly covers: boolean;
  readonly gainCovers: boolean;
  readonly claims: boolean;
  readonly offered: Tally;
  readonly accepted: Tally;
  /** Won the race, and stopped by the regression veto. */
  readonly vetoed: Tally;
  readonly used: number;
};

/** Costs more than there is. */
const NO_MORE: Proposal = { type: 'null', trainRollouts: Number.POSITIVE_INFINITY };

const tally = (): Tally => ({ good: 0, harmful: 0, null: 0 });

/** The strict gate: one pass, a frozen score, better is better. Its whole budget goes into the search. */
export function runStrict({ dice, n, kind, mix, budget, train }: RunInput): RunResult {
  const start = seedSkill(dice, n);
  const proposer = createProposer(dice, mix, train);
  const [offered, accepted] = [tally(), tally()];
  let skill = start;
  let score = passMean(dice, kind, skill);
  const first = score;
  let used = n;
  for (;;) {
    const { type, trainRollouts } = proposer.next() ?? NO_MORE;
    if (used + trainRollouts + n > budget) break;
    used += trainRollouts + n;
    offered[type]++;
    const candidate = applyEdit(dice, skill, mix, type);
    const candidateScore = passMean(dice, kind, candidate);
    if (!(candidateScore > score)) continue;
    accepted[type]++;
    [skill, score] = [candidate, candidateScore];
    proposer.startOver();
  }
  const truth = trueScore(kind, skill);
  const gain = truth - trueScore(kind, start);
  return {
    gain,
    error: score - truth,
    covers: false,
    gainCovers: false,
    claims: score > first,
    offered,
    accepted,
    vetoed: tally(),
    used,
  };
}

function passMean(dice: Dice, kind: Kind, skill: Skill): number {
  let sum = 0;
  for (const p of skill) sum += rollout(dice, kind, p);
  return sum / skill.length;
}

/** The default gate by the library's own functions: A/A, refreshes, waves, and two fresh passes at the end. */
export function runDefault(input: RunInput): RunResult {
  const { dice, n, kind, mix, budget, train } = input;
  const settings = input.settings ?? gateSettings(n);
  const ids = Array.from({ length: n }, (_, i) => `${i}`);
  const start = seedSkill(dice, n);
  const twice = (skill: Skill) => addObservations(noEvidence, [...ids, ...ids].map(roll(input, skill)));
  const proposer = createProposer(dice, mix, train);
  const [offered, accepted, vetoed] = [tally(), tally(), tally()];
  let [skill, evidence, isSeed] = [start, twice(start), true];
  let seedEvidence = evidence;
  const mostRollouts = settings.confirmThreshold === undefined ? n : 2 * n;
  let used = 4 * n; // the A/A passes, and the final ones in reserve
  for (;;) {
    const { type, trainRollouts } = proposer.next() ?? NO_MORE;
    const refreshed = refreshPlan({
      items: ids,
      incumbent: evidence,
      share: settings.refreshShare,
      draw: dice.uniform(),
    });
    if (used + trainRollouts + refreshed.length + mostRollouts > budget) break;
    used += trainRollouts + refreshed.length;
    evidence = addObservations(evidence, refreshed.map(roll(input, skill)));
    if (isSeed) seedEvidence = evidence;
    offered[type]++;
    const candidate = applyEdit(dice, skill, mix, type);
    const { isAccepted, observed, rollouts } = raceCandidate({
      input,
      settings,
      ids,
      candidate,
      evidence,
      seedEvidence,
    });
    used += rollouts;
    if (!isAccepted) continue;
    const check = input.isVetoing ? checkFlips({ input, skill, candidate, evidence, observed }) : NO_CHECK;
    if (used + check.rollouts > budget) break; // a winner that cannot be checked is not taken
    used += check.rollouts;
    if (check.isVetoed) {
      vetoed[type]++;
      continue;
    }
    accepted[type]++;
    [skill, isSeed] = [candidate, false];
    evidence = mergeAccepted({ incumbent: evidence, candidate: observed, keptRollouts: settings.keptRollouts });
    proposer.startOver();
  }
  const truth = trueScore(kind, skill);
  const gain = truth - trueScore(kind, start);
  const report = finalReport({ fresh: twice(skill), seed: seedEvidence });
  const holds = ({ low, high }: { low: number; high: number }, value: number) => low <= value && value <= high;
  return {
    gain,
    error: report.score!.value - truth,
    covers: holds(report.score!.interval, truth),
    gainCovers: holds(report.gain!.interval, gain),
    claims: report.isClaimed,
    offered,
    accepted,
    vetoed,
    used,
  };
}

const NO_CHECK = { isVetoed: false, rollouts: 0 };

type Winner = {
  readonly input: RunInput;
  readonly skill: Skill;
  readonly candidate: Skill;
  readonly evidence: Evidence;
  readonly observed: Evidence;
};

/** Every flip is rolled out again on both sides. */
function checkFlips({ input, skill, candidate, evidence, observed }: Winner) {
  const flips = findFlips({ incumbent: evidence, candidate: observed });
  const again = flips.flatMap(({ id, rerolls }) => Array<string>(rerolls).fill(id));
  const rerolled = (side: Skill) => again.map(roll(input, side));
  const { isVetoed } = regressionVeto({ flips, incumbent: rerolled(skill), candidate: rerolled(candidate) });
  return { isVetoed, rollouts: 2 * again.length };
}

function roll({ dice, kind }: RunInput, skill: Skill) {
  return (id: string): Observation => ({ id, score: rollout(dice, kind, skill[+id]!) });
}

type Race = {
  readonly input: RunInput;
  readonly settings: GateSettings;
  readonly ids: readonly string[];
  readonly candidate: Skill;
  readonly evidence: Evidence;
  readonly seedEvidence: Evidence;
};

/** The candidate's rollouts, and how many of them there were. */
function raceCandidate({ input, settings, ids, candidate, evidence, seedEvidence }: Race) {
  const shuffled = shuffleIndexes(input.dice, ids.length).map((i) => ids[i]!);
  const order = raceOrder(shuffled, evidence);
  const scoreKind = isBinary(evidence) ? ('binary' as const) : ('graded' as const);
  const noise = withinVariance(seedEvidence) ?? 0.25;
  const fixed = { incumbent: evidence, scoreKind, withinVariance: noise, settings };
  let observed: Evidence = noEvidence;
  for (const end of planWaves(ids.length, settings)) {
    observed = addObservations(observed, order.slice(observed.size, end).map(roll(input, candidate)));
    const { verdict } = judgeWave({ ...fixed, observed, remaining: order.slice(end) });
    if (verdict !== 'continue') return { isAccepted: verdict === 'accept', observed, rollouts: end };
  }
  observed = addObservations(observed, order.map(roll(input, candidate)));
  const { verdict } = judgeWave({ ...fixed, observed, remaining: [] });
  return { isAccepted: verdict === 'accept', observed, rollouts: 2 * ids.length };
}
