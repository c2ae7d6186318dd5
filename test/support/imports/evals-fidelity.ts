import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { readEvals } from '../../../src/imports/evals.ts';
import type { LeftOut } from '../../../src/imports/index.ts';
import { loadTasks } from '../../../src/public/envs.ts';
import { type evalsExpectations, importPath } from './import-corpus.ts';

type Expectation = ReturnType<typeof evalsExpectations>[number];

/** Whether a file of evals is `met`, `named` as one that is refused, or what is wrong. */
export async function meetsEvals({ file, refused, items, triggers, named = [] }: Expectation): Promise<string> {
  const path = importPath('evals', file);
  const reason = refused ?? (triggers === undefined ? undefined : 'these queries say when a skill is used');
  if (reason !== undefined) {
    const problem = await loadTasks(path).then(
      () => 'it is not refused',
      (error: Error) => error.message,
    );
    return problem.includes(reason) ? 'named' : problem;
  }
  const root: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const { items: carried, leftOut } = readEvals(root);
  const isCarried = (wanted: object) =>
    carried.some((item) => Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(item[key as 'id'], value)));
  const lost = items!.filter((item) => !isCarried(item));
  return lost.length > 0 ? `not carried: ${JSON.stringify(lost)}` : missing(named, leftOut);
}

function missing(named: readonly string[], leftOut: readonly LeftOut[]): string {
  const silent = named.filter((path) => !leftOut.some(({ where }) => where === path));
  return silent.length === 0 ? 'met' : `not named: ${silent.join(', ')}`;
}
