import { compareRuns } from '../app/index.ts';
import type { ComparePage } from '../core/page/index.ts';
import { type CompareReport, compareWords } from '../report/index.ts';
import type { RunListing } from '../stores/index.ts';

export const comparePage = async (a: RunListing, b: RunListing, split: string): Promise<ComparePage> =>
  pageOfCompare(await compareRuns(a, b, split));

/** Two skills on the same tasks, as `skillopt compare` found them. */
export function pageOfCompare(report: CompareReport): ComparePage {
  const { a, b, split, against, notes, settings = [] } = report;
  const [head, sentence] = compareWords(report);
  const { tasks = 0, before, after, gained = [], lost = [] } = against.comparison ?? {};
  return {
    ...{ a: a.name, b: b.name, split, head, sentence, tasks, gained, lost, notes, settings },
    before: before ?? null,
    after: after ?? null,
    gain: against.comparison?.gain ?? null,
    costs: [a.cost, b.cost],
    texts: { before: a.text, after: b.text },
  };
}
