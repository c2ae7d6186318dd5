import { openLab } from './family/lab.ts';
import { searchNaively } from './family/naive-search.ts';
import { searchOurWay } from './family/our-search.ts';
import { searchStrictly } from './family/strict-search.ts';
import { randomWorlds } from './family/random-worlds.ts';
import { FAMILY, SIZE_WORLDS, NULL_WORLDS } from './family/worlds.ts';
const m = (xs: number[]) => xs.reduce((a, b) => a + b, 0) / xs.length;
const SEEDS = Number(process.env.SEEDS ?? 12);
const side = process.argv[2]!;
const search = { naive: searchNaively, ours: searchOurWay, strict: searchStrictly }[side]!;
const sideNo = { naive: 1, ours: 2, strict: 3 }[side]!;
const all = [...FAMILY, ...SIZE_WORLDS, ...randomWorlds(200, 77)];
const small = all.filter(({ n }) => n <= 20);
const run = (spec: any) => {
  const rs = Array.from({ length: SEEDS }, (_, i) => { const lab = openLab(spec, 5_000_000 + i, sideNo); return { ...search(lab), ...lab.use() }; });
  return { gain: m(rs.map((r) => r.gain)), opt: m(rs.map((r) => r.optimizerCalls)), tokens: m(rs.map((r) => r.tokens)), claims: m(rs.map((r) => Number(r.claims))) };
};
const show = (name: string, specs: any[]) => {
  const fs = specs.map(run);
  console.log(process.env.LABEL ?? side, '|', name, specs.length, '| gain', (100 * m(fs.map((f) => f.gain))).toFixed(1), 'opt', m(fs.map((f) => f.opt)).toFixed(0), 'claims', (100 * m(fs.map((f) => f.claims))).toFixed(1));
};
show('low (≤ 15 a task)', small.filter((s) => s.budget <= 15 * s.n));
show('mid (≤ 40)', small.filter((s) => s.budget <= 40 * s.n && s.budget > 15 * s.n));
show('high', small.filter((s) => s.budget > 40 * s.n));
show('null', NULL_WORLDS.filter(({ n }) => n <= 20));
