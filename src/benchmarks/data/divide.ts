import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { askedKey, isObject, textOf } from '../../core/text/index.ts';
import { SPLIT_NAMES, type Splits, splitItems } from '../../envs/index.ts';
import { loadItems, type Row, tasksInvalid } from '../../imports/index.ts';
import type { Benchmark, BenchmarkItem } from '../benchmark.ts';
import { oneDataFile } from './find-rows.ts';

/** How items are divided: as the data or a list of ids says, with what belongs together in one split, or each item by itself. */
export const SPLIT_BY = ['given', 'document', 'item'] as const;
type SplitBy = (typeof SPLIT_BY)[number];

export type DivideOptions = {
  /** A folder with train/, val/ and test/ whose files name the ids of each split, such as those that SkillOpt ships. */
  readonly ids?: string | undefined;
  readonly splitBy?: SplitBy | undefined;
  readonly ratio: string;
  readonly seed: number;
};

export type Divided = {
  readonly splits: Splits<BenchmarkItem>;
  readonly split: { readonly by: SplitBy; readonly ratio?: string; readonly seed?: number };
  /** Ids that the list of splits names, and the data lacks. */
  readonly missing: readonly string[];
  /** Items in no split, since the list of splits does not name them. */
  readonly unused: number;
};

export async function divide(
  benchmark: Benchmark,
  items: readonly Row<BenchmarkItem>[],
  { ids, splitBy, ratio, seed }: DivideOptions,
): Promise<Divided> {
  if (ids !== undefined && (splitBy ?? 'given') !== 'given')
    throw new SkillError('USAGE', `a list of ids says the splits, and splitBy ${splitBy} would draw others`, {
      hint: 'Leave one of the two out.',
    });
  if (ids !== undefined) return byIds(items, await readIds(ids));
  const areGiven = items.some(({ split }) => split !== undefined);
  const by = splitBy ?? (areGiven ? 'given' : 'document');
  if (by === 'given' && !areGiven) {
    const hint = 'Leave splitBy out to draw them, or name a folder that lists the ids of each split.';
    throw tasksInvalid(
      ['the data names no splits: no row says its own, and no folder is called train, val or test'],
      hint,
    );
  }
  if (by === 'given') return { ...REST, splits: splitItems(items, { seed }), split: { by } };
  const free = items.map(({ split: _, ...row }) => row);
  const drawn = by === 'item' ? free : free.map((row) => ({ ...row, group: groupOf(benchmark, row.value) }));
  return { ...REST, splits: splitItems(drawn, { ratio, seed }), split: { by, ratio, seed } };
}

/** Items that ask the same belong together too. */
const groupOf = (benchmark: Benchmark, item: BenchmarkItem): string[] => [
  `question ${askedKey(benchmark.questionOf(item))}`,
  ...(benchmark.groupsOf?.(item) ?? []),
];

const REST = { missing: [], unused: 0 };

function byIds(items: readonly Row<BenchmarkItem>[], ids: Splits<string>): Divided {
  const known = new Map(items.map(({ value }) => [value.id, value]));
  const named = SPLIT_NAMES.flatMap((name) => ids[name]);
  const twice = named.filter((id, index) => named.indexOf(id) !== index);
  if (twice.length > 0)
    throw tasksInvalid(
      [`ids are named twice: ${nameFew([...new Set(twice)])}`],
      'Each id belongs into one split, once.',
    );
  const find = (name: keyof Splits<string>) => ids[name].flatMap((id) => known.get(id) ?? []);
  const missing = named.filter((id) => !known.has(id));
  if (missing.length === named.length) {
    const problem = `none of the ${named.length} ids of the splits is in the data: ${nameFew(named)}`;
    throw tasksInvalid([problem], `Ids of the data look like this: ${nameFew([...known.keys()])}`);
  }
  const splits = { train: find('train'), val: find('val'), test: find('test') };
  return { splits, missing, unused: known.size - (named.length - missing.length), split: { by: 'given' } };
}

const nameFew = (ids: readonly string[]) => `${ids.slice(0, 3).join(', ')}${ids.length > 3 ? ' …' : ''}`;

const ID_KEYS = ['id', 'key', 'questionId', 'uid', 'gamefile'];

async function readIds(folder: string): Promise<Splits<string>> {
  const read = async (name: string) => {
    if (!existsSync(join(folder, name))) return [];
    const rows = await loadItems(await oneDataFile(join(folder, name)));
    return rows.map(({ value, where }) => {
      if (!isObject(value)) return textOf(value);
      const key = ID_KEYS.find((candidate) => value[candidate] != null);
      if (key === undefined)
        throw tasksInvalid([`${where}: expected one of ${ID_KEYS.join(', ')}`], 'Name a folder whose files list ids.');
      return textOf(value[key]);
    });
  };
  const [train, val, test] = await Promise.all(SPLIT_NAMES.map(read));
  if (train!.length + val!.length + test!.length > 0) return { train: train!, val: val!, test: test! };
  throw tasksInvalid(
    [`${folder}: expected the folders train, val and test with lists of ids, got none`],
    'Check the folder of ids.',
  );
}
