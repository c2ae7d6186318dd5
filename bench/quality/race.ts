import {
  addObservations,
  addOwn,
  disputedItems,
  type Evidence,
  judgeWave,
  type Knowledge,
  knownOf,
  noEvidence,
  type Observation,
  planWaves,
  raceOrder,
  settingsFor,
  unmetItems,
  type WaveInput,
  type WaveJudgement,
} from '../../src/public/stats.ts';

type Roll = (ids: readonly string[]) => Observation[];

export type RaceInput = {
  readonly knowledge: Knowledge;
  /** In the order in which equals are met. */
  readonly ids: readonly string[];
  readonly batchSize: number;
  readonly candidate: Roll;
  readonly current: Roll;
  /** Rollouts that may still be made. */
  readonly left?: () => number;
  /** Whether the current skill may owe its score to luck. */
  readonly isDoubted?: boolean;
  /** Whether the candidate only leaves something out. */
  readonly isShorter?: boolean;
  /** What is rolled out inside is rolled out at the same time. */
  readonly together?: (work: () => void) => void;
};

export type RaceResult = {
  readonly verdict: WaveJudgement['verdict'];
  /** What the candidate is expected to gain, by what was seen. */
  readonly expectedGain: number;
  readonly observed: Evidence;
  /** With the rollouts of the current skill that were missing. */
  readonly knowledge: Knowledge;
};

/** A race as the trainer runs it, by the library's own functions. */
export function race({ ids, batchSize, candidate, current, ...input }: RaceInput): RaceResult {
  const {
    left = () => Number.POSITIVE_INFINITY,
    isDoubted = false,
    isShorter = false,
    together = (work) => work(),
  } = input;
  let { knowledge } = input;
  const settings = settingsFor(knowledge, ids, batchSize);
  const order = raceOrder(ids, (id) => rateOf(input.knowledge, id));
  let observed: Evidence = noEvidence;
  const judgeOnce = (more: Partial<WaveInput>) => {
    const remaining = order.filter((id) => !observed.has(id));
    return judgeWave({ knowledge, observed, remaining, settings, isShorter, ...more });
  };
  const judge = (more: Partial<WaveInput> = {}) => {
    const judged = judgeOnce(more);
    const disputed = judged.verdict === 'accept' ? disputedItems(knowledge, observed) : [];
    if (disputed.length === 0 || left() < disputed.length) return judged;
    knowledge = addOwn(knowledge, current(disputed));
    return judgeOnce(more);
  };
  for (const end of planWaves(ids.length, settings)) {
    const wave = order.slice(observed.size, end);
    const isAsked = isDoubted && observed.size === 0 && left() >= wave.length + ids.length;
    const own = isAsked ? ids : unmetItems(knowledge, wave);
    if (left() < wave.length + own.length) {
      const { verdict, expectedGain } =
        observed.size === 0 ? { verdict: 'inconclusive' as const, expectedGain: 0 } : judge({ isLast: true });
      return { verdict: verdict === 'continue' ? 'inconclusive' : verdict, expectedGain, observed, knowledge };
    }
    together(() => {
      knowledge = addOwn(knowledge, current(own));
      observed = addObservations(observed, candidate(wave));
    });
    const { verdict, expectedGain } = judge();
    if (verdict !== 'continue') return { verdict, expectedGain, observed, knowledge };
  }
  const isSecondPass = !isShorter && left() >= 2 * ids.length;
  if (isSecondPass) observed = addObservations(observed, candidate(ids));
  const { verdict, expectedGain } = judge({ settings: { ...settings, hasSecondPass: false }, isSecondPass });
  return { verdict, expectedGain, observed, knowledge };
}

function rateOf(knowledge: Knowledge, id: string): number {
  const { sum, count } = knownOf(knowledge, id);
  return count === 0 ? 0.5 : sum / count;
}
