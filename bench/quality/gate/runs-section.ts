import type { Section } from '../section.ts';
import { type WholeRun, wholeRunGroup } from './rows.ts';
import { runGroups } from './run-groups.ts';

const QUICK_SHARE = 1 / 16;

const RUNS: readonly WholeRun[] = [
  { what: 'whole runs, 2,000 target calls', budget: 2000, leastRatio: 1.25, seeds: 300 },
  { what: 'whole runs, 680 target calls', budget: 680, leastRatio: 0.9, seeds: 600 },
  { what: 'whole runs, 2,000, our batches of 20', budget: 2000, ours: { batch: 20 }, seeds: 100 },
  { what: 'whole runs, 680, our batches of 20', budget: 680, ours: { batch: 20 }, seeds: 200 },
  { what: 'whole runs, 2,000, no train cache on either side', budget: 2000, both: { isCached: false }, seeds: 100 },
  {
    what: 'whole runs, 2,000, at most 40 proposals on either side',
    budget: 2000,
    both: { maxProposals: 40 },
    seeds: 100,
  },
  {
    what: 'whole runs, 2,000, at most 40 proposals, patient settings',
    budget: 2000,
    both: { maxProposals: 40 },
    gate: 'patient',
    seeds: 300,
  },
];

/** The same streams, with train rollouts that cost too. */
export const runsSection: Section = {
  name: 'runs',
  async run({ isQuick }, say) {
    const groups = RUNS.map((run) =>
      wholeRunGroup({ ...run, seeds: isQuick ? Math.ceil(run.seeds * QUICK_SHARE) : run.seeds }),
    );
    const measured = await runGroups(groups, say);
    return { rows: measured.flatMap(({ group, byGate }) => group.rows(byGate)) };
  },
};
