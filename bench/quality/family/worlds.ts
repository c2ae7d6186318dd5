import { mix, rules, type WorldSpec } from './world-spec.ts';

/** One edit a batch, whatever its size: an optimizer with few ideas. */
const FEW = { editsPerAnalyst: 0.25 };

/** The family, fixed before the search and the gate were tuned on anything of it. */
export const FAMILY: readonly WorldSpec[] = [
  mix('A'),
  mix('B'),
  mix('C'),
  mix('A', { name: 'mixA_1500', budget: 1500 }),
  mix('B', { name: 'mixB_1500', budget: 1500 }),
  mix('C', { name: 'mixC_1500', budget: 1500 }),
  mix('B', { name: 'mixB_q0', noise: 0 }),
  mix('A', { name: 'mixA_q02_n20', noise: 0.02, n: 20 }),
  mix('A', { name: 'mixA_q10_n100_3000', noise: 0.1, n: 100, budget: 3000 }),
  mix('B', { name: 'mixB_q30_1500', noise: 0.3, budget: 1500 }),
  mix('A', { name: 'mixA_many_1500', editsPerAnalyst: 4, ranker: 'right', budget: 1500 }),
  mix('C', { name: 'mixC_many_1500', editsPerAnalyst: 4, budget: 1500 }),
  mix('A', { name: 'mixA_few', ...FEW }),
  mix('B', { name: 'mixB_few_1500', ...FEW, budget: 1500 }),
  rules(12, 4),
  rules(12, 2),
  rules(12, 1),
  rules(12, 8),
  rules(12, 2, { name: 'r12_p2_1500', budget: 1500 }),
  rules(12, 1, { name: 'r12_p1_1500', budget: 1500 }),
  rules(6, 4),
  rules(6, 1, { name: 'r6_p1_1500', budget: 1500 }),
  rules(30, 4),
  rules(30, 2, { name: 'r30_p2_1500', budget: 1500 }),
  rules(30, 1, { name: 'r30_p1_3000', budget: 3000 }),
  rules(12, 4, { name: 'r12_p4_random', ranker: 'random' }),
  rules(12, 2, { name: 'r12_p2_random_1500', ranker: 'random', budget: 1500 }),
  rules(12, 2, { name: 'r12_p2_noisy', ranker: 'noisy' }),
  rules(30, 4, { name: 'r30_p4_noisy_1500', ranker: 'noisy', budget: 1500 }),
  rules(12, 1, { name: 'r12_p1_random_3000', ranker: 'random', budget: 3000 }),
  rules(12, 4, { name: 'r12_p4_few_1500', ...FEW, budget: 1500 }),
  rules(12, 2, { name: 'r12_p2_few', ...FEW }),
  rules(12, 4, { name: 'r12_q0', noise: 0 }),
  rules(12, 2, { name: 'r12_q0_random_1500', noise: 0, ranker: 'random', budget: 1500 }),
  rules(12, 2, { name: 'r12_q02', noise: 0.02 }),
  rules(12, 4, { name: 'r12_q30', noise: 0.3 }),
  rules(12, 2, { name: 'r12_q30_1500', noise: 0.3, budget: 1500 }),
  rules(12, 2, { name: 'r12_mixed', noise: 'mixed' }),
  rules(12, 2, { name: 'r12_mixed_random_1500', noise: 'mixed', ranker: 'random', budget: 1500 }),
  rules(12, 2, { name: 'r12_n20', n: 20 }),
  rules(12, 2, { name: 'r12_n20_1500', n: 20, budget: 1500 }),
  rules(12, 4, { name: 'r12_n8', n: 8, train: 40 }),
  rules(12, 4, { name: 'r12_n100', n: 100 }),
  rules(12, 2, { name: 'r12_n100_1500', n: 100, budget: 1500 }),
  rules(30, 2, { name: 'r30_n100_3000', n: 100, budget: 3000 }),
  rules(12, 2, { name: 'r12_n200_3000', n: 200, train: 120, budget: 3000 }),
  rules(12, 2, { name: 'r12_new', wording: 'new' }),
  rules(12, 2, { name: 'r12_new_random_1500', wording: 'new', ranker: 'random', budget: 1500 }),
  rules(12, 2, { name: 'r12_clash_1500', clash: 0.15, budget: 1500 }),
  rules(12, 1, { name: 'r12_p1_learns', learns: true }),
  rules(12, 1, { name: 'r12_p1_learns_1500', learns: true, budget: 1500 }),
  rules(12, 2, { name: 'r12_learns_random', learns: true, ranker: 'random' }),
  rules(12, 2, { name: 'r12_learns_new_q30_1500', learns: true, wording: 'new', noise: 0.3, budget: 1500 }),
  rules(30, 1, { name: 'r30_learns_noisy_3000', learns: true, ranker: 'noisy', budget: 3000 }),
  withSupport(rules(12, 4, { name: 'r12_p4_support' })),
  withSupport(rules(12, 2, { name: 'r12_p2_support_1500', budget: 1500 })),
  withSupport(rules(30, 4, { name: 'r30_p4_support_learns_1500', learns: true, budget: 1500 })),
];

function withSupport(spec: WorldSpec): WorldSpec {
  if (spec.effects.type !== 'rules') return spec;
  return { ...spec, effects: { ...spec.effects, isSupportTelling: true } };
}

/** Half of the tasks can be done, so that there is something to waver. */
function asNull(spec: WorldSpec): WorldSpec {
  const effects = spec.effects.type === 'rules' ? { ...spec.effects, settled: 0.5 } : spec.effects;
  return { ...spec, effects, name: `null_${spec.name}`, isNull: true };
}

/** Worlds in which no text changes anything. */
export const NULL_WORLDS: readonly WorldSpec[] = [
  mix('A'),
  mix('B', { name: 'mixB_1500', budget: 1500 }),
  mix('A', { name: 'mixA_n20', n: 20 }),
  mix('A', { name: 'mixA_n100_3000', n: 100, budget: 3000 }),
  mix('A', { name: 'mixA_n8', n: 8, train: 40 }),
  rules(12, 2),
  rules(12, 2, { name: 'r12_q30_1500', noise: 0.3, budget: 1500 }),
  rules(12, 2, { name: 'r12_q02', noise: 0.02 }),
  rules(12, 2, { name: 'r12_q0', noise: 0 }),
  mix('C', { name: 'mixC_graded', kind: 'graded' }),
  rules(12, 2, { name: 'n120_440_repeats', n: 120, budget: 440, repeats: 0.5 }),
  rules(12, 2, { name: 'n12_1200_learns', n: 12, train: 40, budget: 1200, learns: true }),
  rules(12, 3, { name: 'n40_1200_copies', budget: 1200, copies: 0.3 }),
].map(asNull);

/** Scores that are not pass or fail, by size of the validation set. */
export const SCORE_WORLDS: readonly WorldSpec[] = (['graded', 'judge', 'judged-outcome'] as const).flatMap((kind) =>
  [8, 20, 40, 100, 200].map((n) => {
    const sizes = { n, train: n < 20 ? 40 : 80, budget: Math.max(680, 17 * n) };
    return mix('B', { name: `mixB_${kind}_n${n}`, kind, ...sizes, editsPerAnalyst: 2 });
  }),
);

/** Each size at each budget, with an optimizer that repeats itself, one that thinks again, one that copies, and a broad one. */
export const SIZE_WORLDS: readonly WorldSpec[] = [12, 40, 120].flatMap((n) =>
  [n === 12 ? 160 : 300, 440, 1200].flatMap((budget) => {
    const sizes = { n, budget, train: n === 12 ? 40 : 80 };
    const named = (kind: string) => ({ name: `n${n}_${budget}_${kind}`, ...sizes });
    return [
      rules(12, 2, { ...named('repeats'), repeats: 0.5, wording: 'fixed' }),
      rules(12, 2, { ...named('learns'), learns: true }),
      rules(12, 3, { ...named('copies'), copies: 0.3 }),
      mix('A', named('broad')),
    ];
  }),
);
