import { mean, sum } from '../interval.ts';
import { runAll } from '../pool.ts';
import { type Row, SHOWN_ONLY } from '../row.ts';
import type { BenchOptions, Section } from '../section.ts';
import type { CompareInput } from './compare-in-world.ts';
import { type Figures, figuresOf } from './figures.ts';
import { JUDGING_SEED, randomWorlds, TUNING_SEED } from './random-worlds.ts';
import type { WorldSpec } from './world-spec.ts';
import { FAMILY, NULL_WORLDS, SCORE_WORLDS } from './worlds.ts';

/** Seeds from here on judge; to tune, take others: `--from 5000000`. */
const JUDGING_FROM = 1_000;
const FIRST_TUNING_SEED = 5_000_000;
const RANDOM_WORLDS = 200;

/** Where the peer gains next to nothing a ratio says little: no world counts for more than this in the mean. */
const MOST_RATIO = 3;

type Judged = { readonly spec: WorldSpec; readonly figures: Figures };

/** Search and gate in worlds that were fixed before they were tuned, beside the naive peer, at equal target calls. */
export const familySection: Section = {
  name: 'family',
  async run(options, say) {
    const groups = groupsOf(options);
    const inputs = groups.flatMap(({ worlds, seeds }) => worlds.map((spec) => inputOf(spec, seeds, options)));
    const costOf = ({ spec, seeds }: CompareInput) => spec.budget * seeds;
    const pairs = await runAll('family', inputs, { costOf, say });
    const judged = inputs.map(({ spec }, index): Judged => ({ spec, figures: figuresOf(pairs[index]!) }));
    return { rows: groups.flatMap(({ worlds, rowsOf }) => rowsOf(judged.splice(0, worlds.length))) };
  },
};

type Group = {
  readonly worlds: readonly WorldSpec[];
  readonly seeds: number;
  rowsOf(judged: readonly Judged[]): Row[];
};

function groupsOf({ isQuick, seeds, from = JUDGING_FROM }: BenchOptions): Group[] {
  const count = (usual: number) => seeds ?? Math.ceil(usual / (isQuick ? 8 : 1));
  const random = randomWorlds(RANDOM_WORLDS, from >= FIRST_TUNING_SEED ? TUNING_SEED : JUDGING_SEED);
  return [
    { worlds: FAMILY, seeds: count(160), rowsOf: familyRows },
    { worlds: random, seeds: count(24), rowsOf: randomRows },
    { worlds: SCORE_WORLDS, seeds: count(120), rowsOf: scoreRows },
    { worlds: NULL_WORLDS, seeds: count(300), rowsOf: nullRows },
  ];
}

const inputOf = (spec: WorldSpec, seeds: number, { from = JUDGING_FROM }: BenchOptions): CompareInput => ({
  spec,
  seeds,
  from,
});

const times = (value: number) => value.toFixed(2);
const points = (value: number, digits = 1) => (100 * value).toFixed(digits).replace('-', '−');

function familyRows(judged: readonly Judged[]): Row[] {
  const all = judged.map(({ figures }) => figures);
  const ratios = all.map(({ ratio }) => Math.min(MOST_RATIO, ratio));
  const sums = sum(all.map(({ gain }) => gain)) / sum(all.map(({ naiveGain }) => naiveGain));
  const worst = judged.reduce((a, b) => (b.figures.ratio < a.figures.ratio ? b : a));
  const isWon = mean(ratios) >= 1.4 && sums >= 1.25 && worst.figures.ratio >= 0.95;
  return [
    {
      what: `family of ${judged.length} worlds: true gain`,
      goal: 'mean ≥ 1.4 ×, sums ≥ 1.25 ×, none below 0.95 ×',
      measured: `mean ${times(mean(ratios))} ×, sums ${times(sums)} ×, worst ${times(worst.figures.ratio)} × (${worst.spec.name})`,
      holds: isWon,
      figures: { ratios, mean: mean(ratios), sums },
    },
    costRow(`family of ${judged.length} worlds`, all),
    honestyRow(`family of ${judged.length} worlds`, judged),
    believedRow(all),
    ...judged.map(worldRow),
  ];
}

function costRow(name: string, all: readonly Figures[]): Row {
  const [calls, tokens, rounds] = (['optimizerCalls', 'tokens', 'rounds'] as const).map((key) =>
    all.map((f) => f[key]),
  );
  const shown = (values: readonly number[]) => `${times(mean(values))} (most ${times(Math.max(...values))})`;
  return {
    what: `${name}: optimizer calls, tokens, rounds`,
    goal: '≤ 2 ×, ≤ 2 ×, ≤ 1.3 × in the mean',
    measured: `${shown(calls!)} ×, ${shown(tokens!)} ×, ${shown(rounds!)} ×`,
    holds: mean(calls!) <= 2 && mean(tokens!) <= 2 && mean(rounds!) <= 1.3,
    figures: { calls: calls!, tokens: tokens!, rounds: rounds! },
  };
}

/** In each world the reported score is near the truth; intervals and claims are pooled, since single worlds have few runs. */
function honestyRow(name: string, judged: readonly Judged[]): Row {
  const all = judged.map(({ figures }) => figures);
  const worst = judged.reduce((a, b) => (Math.abs(b.figures.error) > Math.abs(a.figures.error) ? b : a));
  const covers = mean(all.map((f) => f.covers));
  const large = sum(all.map((f) => f.large));
  const claimed = sum(all.map((f) => f.largeClaims)) / Math.max(1, large);
  return {
    what: `${name}: reported − true, interval covers, gains ≥ 15 points claimed`,
    goal: '± 1 point in the mean, ≥ 92 %, ≥ 85 %',
    measured: `${points(mean(all.map((f) => f.error)), 2)} points (worst world ${points(worst.figures.error)}, ${worst.spec.name}), ${points(covers)} %, ${points(claimed)} % of ${large}`,
    holds: Math.abs(mean(all.map((f) => f.error))) <= 0.01 && covers >= 0.92 && claimed >= 0.85,
    figures: { errors: all.map((f) => f.error), covers, claimed },
  };
}

function believedRow(all: readonly Figures[]): Row {
  const byWorld = all.filter((f) => f.accepts > 0).map((f) => f.believedError / f.accepts);
  return {
    what: 'family: believed − true after an accept',
    goal: '± 1.5 points in the mean',
    measured: `${points(mean(byWorld), 2)} points, by world ${points(Math.min(...byWorld))} to ${points(Math.max(...byWorld))}`,
    holds: Math.abs(mean(byWorld)) <= 0.015,
    figures: { byWorld },
  };
}

function worldRow({ spec, figures: f }: Judged): Row {
  return {
    what: `  ${spec.name}`,
    goal: SHOWN_ONLY,
    measured:
      `${times(f.ratio)} × (t ${f.t.toFixed(1)}): ${points(f.naiveGain)} → ${points(f.gain)} points; ` +
      `null ${f.nullAccepted.map(times).join(' → ')}, harmful ${f.harmfulAccepted.map(times).join(' → ')}; error ${points(f.error)}; ` +
      `optimizer ${times(f.optimizerCalls)} ×, rounds ${times(f.rounds)} ×`,
    figures: { ratio: f.ratio, gain: f.gain, naiveGain: f.naiveGain },
  };
}

function randomRows(judged: readonly Judged[]): Row[] {
  const all = judged.map(({ figures }) => figures);
  const sums = sum(all.map((f) => f.gain)) / sum(all.map((f) => f.naiveGain));
  const worse = all.filter(({ t }) => t < -2).length / all.length;
  const better = all.filter(({ t }) => t > 2).length / all.length;
  const sorted = all.map((f) => f.gain - f.naiveGain).sort((a, b) => a - b);
  const quantile = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!;
  const gain: Row = {
    what: `${judged.length} random worlds: true gain`,
    goal: 'sums ≥ 1.15 ×, significantly worse in ≤ 3 %',
    measured:
      `${times(sums)} ×: ${points(mean(all.map((f) => f.naiveGain)))} → ${points(mean(all.map((f) => f.gain)))} points; ` +
      `worse in ${points(worse)} %, better in ${points(better)} %; difference ${points(quantile(0.1))} · ${points(quantile(0.5))} · ${points(quantile(0.9))} points at 10 · 50 · 90 %`,
    holds: sums >= 1.15 && worse <= 0.03,
    figures: { sums, worse, better },
  };
  return [gain, costRow(`${judged.length} random worlds`, all), honestyRow(`${judged.length} random worlds`, judged)];
}

function scoreRows(judged: readonly Judged[]): Row[] {
  const rows = judged.map(
    ({ spec, figures: f }): Row => ({
      what: `${spec.name}: true gain, reported − true`,
      goal: '≥ 1.0 ×, ± 1 point',
      measured: `${times(f.ratio)} × (t ${f.t.toFixed(1)}): ${points(f.naiveGain)} → ${points(f.gain)} points; ${points(f.error, 2)}; covers ${points(f.covers)} %`,
      holds: f.ratio >= 1 && Math.abs(f.error) <= 0.01,
      figures: { ratio: f.ratio, error: f.error, covers: f.covers },
    }),
  );
  return rows;
}

function nullRows(judged: readonly Judged[]): Row[] {
  return judged.map(({ spec, figures: f }) => ({
    what: `${spec.name}: runs that claim, reported − true, covers`,
    goal: '≤ 4 %, ± 1 point, ≥ 92 %',
    measured: `${points(f.naiveClaims)} → ${points(f.claims)} %, ${points(f.naiveError)} → ${points(f.error, 2)} points, ${points(f.covers)} %; null accepted ${f.nullAccepted.map(times).join(' → ')}`,
    holds: f.claims <= 0.04 && Math.abs(f.error) <= 0.01 && f.covers >= 0.92,
    figures: { claims: f.claims, error: f.error, covers: f.covers },
  }));
}
