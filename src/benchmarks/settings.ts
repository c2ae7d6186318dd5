import { z } from 'zod';
import { parseWith } from '../core/contracts/index.ts';
import { toCamelCase } from '../core/text/index.ts';
import type { Benchmark } from './benchmark.ts';

/** What every benchmark reads of `extras`: where files lie that items name, and whether items with a known flaw take part. */
const Common = z.object({
  dataRoot: z.string().optional(),
  dataDirs: z.union([z.string().transform((path) => [path]), z.array(z.string())]).optional(),
  leaveOutFlawed: z.union([z.boolean(), z.stringbool()]).default(false),
});

/** What a benchmark reads of a project's `extras`. Blank values count as not given. */
export const parseSettings = (benchmark: Pick<Benchmark, 'name' | 'settings'>, extras: object): unknown =>
  parseWith(benchmark.settings, given(extras), titleOf(benchmark));

/** `named`: the folders that `extras` names. */
export function parseCommon(benchmark: Pick<Benchmark, 'name'>, extras: object) {
  const { dataRoot, dataDirs = [], leaveOutFlawed } = parseWith(Common, given(extras), titleOf(benchmark));
  return { named: [...(dataRoot === undefined ? [] : [dataRoot]), ...dataDirs], leaveOutFlawed };
}

const titleOf = ({ name }: Pick<Benchmark, 'name'>) => `The settings of ${name} are not valid.`;

const given = (extras: object) =>
  toCamelCase(Object.fromEntries(Object.entries(extras).filter(([, value]) => value != null && value !== '')));
