import { mean, sum } from '../interval.ts';
import type { Pair, Run } from './compare-in-world.ts';

export type Figures = ReturnType<typeof figuresOf>;

const LARGE_GAIN = 0.15;
/** Where the peer gains less than this, or loses, the gains are compared with this. */
const LEAST_GAIN = 0.005;

/** What came of one world, over its seeds. Pairs of figures are the naive peer's and ours. */
export function figuresOf(pairs: readonly Pair[]) {
  const naive = pairs.map((pair) => pair.naive);
  const ours = pairs.map((pair) => pair.ours);
  const of = (runs: readonly Run[], figure: (run: Run) => number) => mean(runs.map(figure));
  const both = (figure: (run: Run) => number) => [of(naive, figure), of(ours, figure)] as const;
  const ratio = (figure: (run: Run) => number) => of(ours, figure) / Math.max(1e-9, of(naive, figure));
  const strict = pairs.flatMap((pair) => pair.strict ?? []);
  const differences = pairs.map((pair) => pair.ours.gain - pair.naive.gain);
  const large = ours.filter(({ gain }) => gain >= LARGE_GAIN);
  return {
    runs: pairs.length,
    naiveGain: of(naive, (run) => run.gain),
    gain: of(ours, (run) => run.gain),
    ratio:
      of(ours, (run) => run.gain) /
      Math.max(
        LEAST_GAIN,
        of(naive, (run) => run.gain),
      ),
    t: tOf(differences),
    ...(strict.length > 0
      ? {
          strict: {
            gain: of(strict, (run) => run.gain),
            claims: of(strict, (run) => Number(run.claims)),
            optimizerCalls: of(strict, (run) => run.optimizerCalls),
            ourOptimizerCalls: of(ours, (run) => run.optimizerCalls),
            t: tOf(pairs.map((pair) => pair.ours.gain - pair.strict!.gain)),
          },
        }
      : {}),
    error: of(ours, (run) => run.error),
    naiveError: of(naive, (run) => run.error),
    covers: of(ours, (run) => Number(run.covers)),
    reports: freshOf(ours).length,
    freshError: sum(freshOf(ours).map(({ error }) => error)),
    freshCovers: sum(freshOf(ours).map(({ covers }) => Number(covers))),
    naiveReports: freshOf(naive).length,
    naiveFreshError: sum(freshOf(naive).map(({ error }) => error)),
    claims: of(ours, (run) => Number(run.claims)),
    naiveClaims: of(naive, (run) => Number(run.claims)),
    large: large.length,
    largeClaims: large.filter(({ claims }) => claims).length,
    believedError: sum(ours.map((run) => run.believedError)),
    accepts: sum(ours.map((run) => run.accepts)),
    nullAccepted: both((run) => run.accepted.null),
    harmfulAccepted: both((run) => run.accepted.harmful),
    lines: {
      added: both((run) => run.lines.added),
      useless: both((run) => run.lines.useless),
      copied: both((run) => run.lines.copied),
    },
    used: { tokens: both((run) => run.tokens), rounds: both((run) => run.rounds) },
    calls: of(ours, (run) => run.calls),
    optimizerCalls: ratio((run) => run.optimizerCalls),
    tokens: ratio((run) => run.tokens),
    rounds: ratio((run) => run.rounds),
  };
}

/** Of the runs that ship something new. */
const freshOf = (runs: readonly Run[]) => runs.flatMap(({ fresh }) => fresh ?? []);

/** Of the mean of paired differences. */
function tOf(differences: readonly number[]): number {
  const middle = mean(differences);
  const variance = sum(differences.map((value) => (value - middle) ** 2)) / Math.max(1, differences.length - 1);
  return variance === 0 ? 0 : middle / Math.sqrt(variance / differences.length);
}
