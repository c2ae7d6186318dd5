import { z } from 'zod';
import { parseWith, SkillError } from '../../core/contracts/index.ts';
import { toCamelCase } from '../../core/text/index.ts';

const path = z.string().min(1).optional();

const SplitLoaderSettings = z.strictObject({
  splitMode: z.enum(['split_dir', 'ratio']).optional(),
  splitDir: path,
  dataPath: path,
  splitRatio: z.string().default('2:1:7'),
  splitSeed: z.number().int().default(42),
  splitOutputDir: path,
  limit: z.number().int().nonnegative().default(0),
});
type SplitLoaderSettings = z.output<typeof SplitLoaderSettings>;

export type SplitLoaderOptions = {
  /** Default: `split_dir` when only `splitDir` is given, else `ratio`. */
  readonly splitMode?: 'split_dir' | 'ratio';
  /** Folder with `train/`, `val/` and `test/`. */
  readonly splitDir?: string;
  /** File with all items, or a folder with such a file, to be split by ratio. */
  readonly dataPath?: string;
  /** Shares of train, val and test. Default 2:1:7. */
  readonly splitRatio?: string;
  /** Default 42. */
  readonly splitSeed?: number;
  /** Where a split by ratio is written, with its manifest. Default: nowhere. */
  readonly splitOutputDir?: string;
  /** Most items of each split. 0, the default: all. */
  readonly limit?: number;
};

/** Where the items are: in folders that are split already, or in one place. */
export type SplitLoaderPlan = Omit<SplitLoaderSettings, 'splitMode' | 'splitDir' | 'dataPath'> &
  ({ readonly mode: 'split_dir'; readonly splitDir: string } | { readonly mode: 'ratio'; readonly dataPath: string });

/**
 * What a loader was made with, and for what that leaves open the run's `extras` under the same names, in camelCase or
 * snake_case. Empty texts and nulls count as not given. Throws `CONFIG_INVALID`.
 */
export function planSplitLoader(
  options: SplitLoaderOptions,
  extras: Readonly<Record<string, unknown>>,
): SplitLoaderPlan {
  const known = given(toCamelCase(extras) as object).filter(([key]) => key in SplitLoaderSettings.shape);
  const input = Object.fromEntries([...known, ...given(options)]);
  const settings = parseWith(SplitLoaderSettings, input, 'The settings of the data loader are not valid.');
  const { splitMode, splitDir, dataPath, ...rest } = settings;
  const mode = splitMode ?? (splitDir !== undefined && dataPath === undefined ? 'split_dir' : 'ratio');
  if (mode === 'split_dir') return { ...rest, mode, splitDir: requirePath(splitDir, 'splitDir', mode) };
  return { ...rest, mode, dataPath: requirePath(dataPath, 'dataPath', mode) };
}

function given(options: object): [string, unknown][] {
  return Object.entries(options).filter(([, value]) => value != null && value !== '');
}

function requirePath(value: string | undefined, key: string, mode: string): string {
  if (value !== undefined) return value;
  throw new SkillError('CONFIG_INVALID', `the data loader in ${mode} mode needs ${key}, and none is given`, {
    hint: 'splitDir is a folder with train/, val/ and test/; dataPath is a file of items that are split by ratio.',
  });
}
