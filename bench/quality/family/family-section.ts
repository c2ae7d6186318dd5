import { runAll } from '../pool.ts';
import type { Row } from '../row.ts';
import type { BenchOptions, Section } from '../section.ts';
import { costRow, pooledCostRows } from './cost-rows.ts';
import { figuresOf } from './figures.ts';
import {
  familyRow,
  lowBudgetRow,
  pooledGainRow,
  randomRow,
  scoreRow,
  sizeRows,
  smallSetRows,
  worldRow,
} from './gain-rows.ts';
import { believedRow, honestyRow, nullRow, pooledErrorRows } from './honesty-rows.ts';
import type { GroupName, Judged } from './judged.ts';
import { lineRow } from './line-rows.ts';
import { JUDGING_SEED, lowBudgetWorlds, randomWorlds, TUNING_SEED } from './random-worlds.ts';
import type { WorldSpec } from './world-spec.ts';
import { FAMILY, NULL_WORLDS, SCORE_WORLDS, SIZE_WORLDS } from './worlds.ts';

/** Seeds from here on judge; to tune, take others: `--from 5000000`. */
const JUDGING_FROM = 1_000;
const FIRST_TUNING_SEED = 5_000_000;
const [RANDOM_WORLDS, LOW_BUDGET_WORLDS] = [200, 100];

/** Search and gate in worlds that were fixed before they were tuned, beside the naive peer, at equal target calls. */
export const familySection: Section = {
  name: 'family',
  async run(options, say) {
    const { from = JUDGING_FROM } = options;
    const chosen = groupsOf(options, from).flatMap(({ name, worlds, seeds }) =>
      worlds.map((spec) => ({ group: name, input: { spec, seeds, from } })),
    );
    const inputs = chosen.map(({ input }) => input);
    const pairs = await runAll('family', inputs, { costOf: ({ spec, seeds }) => spec.budget * seeds, say });
    const judged = chosen.map(({ group, input }, index): Judged => {
      return { group, spec: input.spec, figures: figuresOf(pairs[index]!) };
    });
    return { rows: rowsOf(judged) };
  },
};

type Group = { readonly name: GroupName; readonly worlds: readonly WorldSpec[]; readonly seeds: number };

function groupsOf({ isQuick, seeds }: BenchOptions, from: number): Group[] {
  const count = (usual: number) => seeds ?? Math.ceil(usual / (isQuick ? 8 : 1));
  const drawnFrom = from >= FIRST_TUNING_SEED ? TUNING_SEED : JUDGING_SEED;
  return [
    { name: 'family', worlds: FAMILY, seeds: count(160) },
    { name: 'random', worlds: randomWorlds(RANDOM_WORLDS, drawnFrom), seeds: count(24) },
    { name: 'low budget', worlds: lowBudgetWorlds(LOW_BUDGET_WORLDS, drawnFrom + 1), seeds: count(24) },
    { name: 'size', worlds: SIZE_WORLDS, seeds: count(60) },
    { name: 'score', worlds: SCORE_WORLDS, seeds: count(120) },
    { name: 'null', worlds: NULL_WORLDS, seeds: count(300) },
  ];
}

function rowsOf(judged: readonly Judged[]): Row[] {
  const of = (...names: readonly GroupName[]) => judged.filter(({ group }) => names.includes(group));
  const gaining = of('family', 'random', 'low budget', 'size');
  const [family, random] = [of('family'), of('random')];
  const [familyName, randomName] = [`family of ${family.length} worlds`, `${random.length} random worlds`];
  return [
    pooledGainRow(gaining),
    lowBudgetRow(gaining),
    ...pooledCostRows(gaining, of('null')),
    ...pooledErrorRows(gaining),
    lineRow(gaining),
    ...sizeRows(of('size')),
    ...smallSetRows(gaining, of('null')),
    familyRow(family),
    costRow(familyName, family),
    honestyRow(familyName, family),
    believedRow(family),
    ...family.map(worldRow),
    randomRow(random),
    costRow(randomName, random),
    honestyRow(randomName, random),
    ...of('score').map(scoreRow),
    ...of('null').map(nullRow),
  ];
}
