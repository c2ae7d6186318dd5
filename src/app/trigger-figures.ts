import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bucket } from '../core/contracts/index.ts';
import type { RunState } from '../core/run/index.ts';
import type { TriggerFigures } from '../report/index.ts';
import { kindOf } from '../runners/index.ts';
import type { LoadedRun } from './load-run.ts';

const [SHOULD, SHOULD_NOT] = [true, false].map((shouldTrigger) => kindOf({ shouldTrigger })) as [string, string];

/** By queries that the search never saw. Nothing where a run is about other tasks, or has not come to its test. */
export function triggerFigures({ tests: { baseline, best } }: Pick<RunState, 'tests'>): TriggerFigures | undefined {
  const share = (kind: string) => {
    const [before, after] = [baseline?.buckets[kind], best?.buckets[kind]];
    return before && after && { of: after.total, before: passed(before), after: passed(after) };
  };
  const [recall, specificity] = [share(SHOULD), share(SHOULD_NOT)];
  return recall && specificity && { recall, specificity };
}

const passed = ({ hard, total }: Bucket) => Math.round(hard * total);

/** The queries of a run by their ids, as far as its files tell: an id says nothing to a person. */
export async function loadQueries({ path, state }: LoadedRun): Promise<ReadonlyMap<string, string>> {
  if (triggerFigures(state) === undefined) return new Map();
  const text = await readFile(join(path, 'test_eval_baseline/results.json'), 'utf8').catch(() => '[]');
  const results: readonly { id: string; question?: string }[] = JSON.parse(text);
  return new Map(results.flatMap(({ id, question }) => (question === undefined ? [] : [[id, question]])));
}
