import { openLab } from './family/lab.ts';
import { searchOurWay } from './family/our-search.ts';
import { randomWorlds, lowBudgetWorlds } from './family/random-worlds.ts';
import { FAMILY, SIZE_WORLDS } from './family/worlds.ts';
const m = (xs: number[]) => xs.reduce((a, b) => a + b, 0) / xs.length;
const SEEDS = Number(process.env.SEEDS ?? 4);
const all = [...FAMILY, ...SIZE_WORLDS, ...randomWorlds(200, 77), ...lowBudgetWorlds(100, 78)].filter(({ n }) => !process.env.ONLY || n === Number(process.env.ONLY));
const rows = all.map((spec) => {
  const rs = Array.from({ length: SEEDS }, (_, i) => { const lab = openLab(spec, 5_000_000 + i, 2); return { ...searchOurWay(lab), ...lab.use() }; });
  return { n: spec.n, gain: m(rs.map((r) => r.gain)), added: m(rs.map((r) => r.lines.added)), useless: m(rs.map((r) => r.lines.useless)) };
});
const show = (name: string, r: typeof rows) => `${name} ${r.length}: gain ${(100 * m(r.map((x) => x.gain))).toFixed(2)}, lines ${m(r.map((x) => x.added)).toFixed(2)}, useless ${(100 * m(r.map((x) => x.useless)) / m(r.map((x) => x.added))).toFixed(1)} %`;
console.log(process.env.LABEL, '|', show('all', rows), '|', show('n ≤ 20', rows.filter(({ n }) => n <= 20)), '|', show('30…60', rows.filter(({ n }) => n > 20 && n < 100)), '|', show('≥ 100', rows.filter(({ n }) => n >= 100)));
