import { mean } from '../interval.ts';
import { type Row, SHOWN_ONLY } from '../row.ts';
import { gains, type Judged, points, ratioOfSums, times } from './judged.ts';

/** Where the peer gains next to nothing a ratio says little: no world counts for more than this in the mean. */
const MOST_RATIO = 3;
/** Among hundreds of worlds that are all alike one or two are below this by chance. */
const SIGNIFICANT = 2.6;

export function pooledGainRow(judged: readonly Judged[]): Row {
  const ratio = ratioOfSums(judged, gains);
  const ts = judged.map(({ figures }) => figures.t);
  const shareBelow = (bound: number) => ts.filter((t) => t < -bound).length / ts.length;
  const below = ts.filter((t) => t < -SIGNIFICANT).length;
  return {
    what: `all ${judged.length} worlds that are not null: true gain on fresh tasks`,
    goal: 'sums ≥ 1.45 ×',
    measured:
      `${times(ratio)} ×: ${meanGains(judged)}; below with t < −${SIGNIFICANT} in ${below} worlds; ` +
      `t < −2 in ${points(shareBelow(2))} %, t < −3 in ${points(shareBelow(3))} %`,
    holds: ratio >= 1.45,
    figures: { ratio, below, belowTwo: shareBelow(2), belowThree: shareBelow(3) },
  };
}

export function lowBudgetRow(judged: readonly Judged[]): Row {
  const low = judged.filter(({ spec }) => spec.budget <= 4 * spec.n);
  const ratio = ratioOfSums(low, gains);
  return {
    what: `${low.length} worlds with at most 4 calls a validation task: true gain`,
    goal: 'sums ≥ 1.7 ×',
    measured: `${times(ratio)} ×: ${meanGains(low)}`,
    holds: ratio >= 1.7,
    figures: { ratio },
  };
}

/** A row for each number of validation tasks and budget. */
export function sizeRows(judged: readonly Judged[]): Row[] {
  const cellOf = ({ spec }: Judged) => `${spec.n} tasks, ${spec.budget} calls`;
  return [...new Set(judged.map(cellOf))].map((cell) => {
    const worlds = judged.filter((world) => cellOf(world) === cell);
    const ratio = ratioOfSums(worlds, gains);
    const byWorld = worlds.map(({ spec, figures: f }) => {
      return `${kindOf(spec.name)} ${points(f.naiveGain)} → ${points(f.gain)}`;
    });
    return {
      what: `  ${cell}: true gain`,
      goal: SHOWN_ONLY,
      measured: `${times(ratio)} ×: ${meanGains(worlds)} (${byWorld.join(', ')})`,
      figures: { ratio, gains: worlds.map(({ figures }) => figures.gain) },
    };
  });
}

/** What `gate: strict` with exact racing gains on small sets, and what it claims where nothing can be gained. */
export function smallSetRows(judged: readonly Judged[], nulls: readonly Judged[]): Row[] {
  const small = judged.filter(({ figures }) => figures.strict);
  const few = small.filter(({ spec }) => spec.budget <= FEW_CALLS * spec.n);
  const claims = (pick: (figures: Judged['figures']) => number) =>
    mean(nulls.filter(({ figures }) => figures.strict).map(({ figures }) => pick(figures)));
  const [strictClaims, ourClaims] = [claims((f) => f.strict!.claims), claims((f) => f.claims)];
  return [
    strictRow(`  8…20 tasks, at most ${FEW_CALLS} calls a task`, few),
    strictRow('  8…20 tasks', small),
    {
      what: '  8…20 tasks, null worlds: runs that claim, beside gate: strict with exact racing',
      goal: '≤ 4 %',
      measured: `${points(strictClaims)} → ${points(ourClaims)} %`,
      holds: ourClaims <= 0.04,
      figures: { claims: ourClaims, strictClaims },
    },
  ];
}

const FEW_CALLS = 40;

function strictRow(which: string, judged: readonly Judged[]): Row {
  const ratio = ratioOfSums(judged, ({ strict, gain }) => [strict!.gain, gain]);
  const ts = judged.map(({ figures }) => figures.strict!.t);
  const [below, above] = [ts.filter((t) => t < -SIGNIFICANT).length, ts.filter((t) => t > SIGNIFICANT).length];
  const asked = ratioOfSums(judged, ({ strict }) => [strict!.optimizerCalls, strict!.ourOptimizerCalls]);
  const gain = (pick: (figures: Judged['figures']) => number) => points(mean(judged.map((one) => pick(one.figures))));
  return {
    what: `${which}, ${judged.length} worlds: true gain beside gate: strict with exact racing`,
    goal: '> 1 ×',
    measured: `${times(ratio)} ×: ${gain((f) => f.strict!.gain)} → ${gain((f) => f.gain)} points; t < −${SIGNIFICANT} in ${below} worlds, t > ${SIGNIFICANT} in ${above}; optimizer calls ${times(asked)} ×`,
    holds: ratio > 1,
    figures: { ratio, below, above },
  };
}

/** What a name says besides the size. */
const kindOf = (name: string) => name.split('_').at(-1)!;

export function familyRow(judged: readonly Judged[]): Row {
  const ratios = judged.map(({ figures }) => Math.min(MOST_RATIO, figures.ratio));
  const sums = ratioOfSums(judged, gains);
  const worst = judged.reduce((a, b) => (b.figures.ratio < a.figures.ratio ? b : a));
  return {
    what: `family of ${judged.length} worlds: true gain`,
    goal: 'mean ≥ 1.4 ×, sums ≥ 1.25 ×, none below 0.95 ×',
    measured: `mean ${times(mean(ratios))} ×, sums ${times(sums)} ×, worst ${times(worst.figures.ratio)} × (${worst.spec.name})`,
    holds: mean(ratios) >= 1.4 && sums >= 1.25 && worst.figures.ratio >= 0.95,
    figures: { ratios, mean: mean(ratios), sums },
  };
}

export function worldRow({ spec, figures: f }: Judged): Row {
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

export function randomRow(judged: readonly Judged[]): Row {
  const all = judged.map(({ figures }) => figures);
  const sums = ratioOfSums(judged, gains);
  const worse = all.filter(({ t }) => t < -2).length / all.length;
  const better = all.filter(({ t }) => t > 2).length / all.length;
  const sorted = all.map((f) => f.gain - f.naiveGain).sort((a, b) => a - b);
  const quantile = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!;
  return {
    what: `${judged.length} random worlds: true gain`,
    goal: 'sums ≥ 1.15 ×, significantly worse in ≤ 3 %',
    measured:
      `${times(sums)} ×: ${meanGains(judged)}; worse in ${points(worse)} %, better in ${points(better)} %; ` +
      `difference ${points(quantile(0.1))} · ${points(quantile(0.5))} · ${points(quantile(0.9))} points at 10 · 50 · 90 %`,
    holds: sums >= 1.15 && worse <= 0.03,
    figures: { sums, worse, better },
  };
}

export function scoreRow({ spec, figures: f }: Judged): Row {
  return {
    what: `${spec.name}: true gain, reported − true`,
    goal: '≥ 1.0 ×, ± 1 point',
    measured: `${times(f.ratio)} × (t ${f.t.toFixed(1)}): ${points(f.naiveGain)} → ${points(f.gain)} points; ${points(f.error, 2)}; covers ${points(f.covers)} %`,
    holds: f.ratio >= 1 && Math.abs(f.error) <= 0.01,
    figures: { ratio: f.ratio, error: f.error, covers: f.covers },
  };
}

function meanGains(judged: readonly Judged[]): string {
  const [naive, ours] = [
    mean(judged.map(({ figures }) => figures.naiveGain)),
    mean(judged.map(({ figures }) => figures.gain)),
  ];
  return `${points(naive)} → ${points(ours)} points`;
}
