import type { Section } from '../section.ts';
import { drawChart } from './chart.ts';
import { figuresOf, mainGroup, otherGroup, racingGroup, vetoGroup } from './rows.ts';
import { runGroups } from './run-groups.ts';

const QUICK_SHARE = 1 / 16;

/** Streams of edits: the default gate against the strict one at equal rollouts. */
export const gateSection: Section = {
  name: 'gate',
  async run({ isQuick }, say) {
    const seeds = (full: number) => Math.ceil(isQuick ? full * QUICK_SHARE : full);
    const groups = [
      mainGroup(seeds(800)),
      otherGroup(8, 'binary', seeds(1600)),
      otherGroup(17, 'binary', seeds(800)),
      otherGroup(24, 'binary', seeds(600)),
      otherGroup(53, 'binary', seeds(300)),
      otherGroup(100, 'binary', seeds(300)),
      otherGroup(200, 'binary', seeds(300)),
      otherGroup(40, 'graded', seeds(300)),
      otherGroup(40, 'judge', seeds(300)),
      otherGroup(40, 'judged-outcome', seeds(300)),
      racingGroup(seeds(300)),
      vetoGroup(seeds(400)),
    ];
    const measured = await runGroups(groups, say);
    const charted = measured.flatMap(({ group: { label }, byGate }) =>
      label === undefined ? [] : [{ label, figures: figuresOf(byGate.strict, byGate.default) }],
    );
    return {
      rows: measured.flatMap(({ group, byGate }) => group.rows(byGate)),
      files: { 'gate.svg': drawChart(charted) },
    };
  },
};
