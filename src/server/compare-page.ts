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
    ...{ a: a.name, b: b.name, split, head, sentence, tasks, gained, lost, notes },
    settings: settings.map(inWords),
    before: before ?? null,
    after: after ?? null,
    gain: against.comparison?.gain ?? null,
    costs: [a.cost, b.cost],
    texts: { before: a.text, after: b.text },
  };
}

type Setting = ComparePage['settings'][number];

const isDigest = (text: string) => /^[0-9a-f]{12,}$/.test(text);

/** Tasks and texts are compared by digests, which say nothing to a reader but that they differ. */
function inWords({ name, a, b }: Setting): Setting {
  const words = (text: string) => (isDigest(text) ? 'its own' : text);
  return { name: name.replace(/^items of (.*)$/, '$1 tasks'), a: words(a), b: words(b) };
}
