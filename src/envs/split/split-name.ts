import { tasksInvalid } from '../read/tasks-invalid.ts';

export type SplitName = 'train' | 'val' | 'test';

/** Each split with the names it may be called by. The longer names are those of the reference's data. */
const SPLIT_OF = new Map<string, SplitName>([
  ['train', 'train'],
  ['val', 'val'],
  ['test', 'test'],
  ['selection', 'val'],
  ['valid_seen', 'val'],
  ['valid_unseen', 'test'],
]);

export const SPLIT_NAMES: readonly SplitName[] = ['train', 'val', 'test'];

/** Every name that a split may be called by, for messages. */
export const KNOWN_SPLITS = [...SPLIT_OF.keys()].join(', ');

/** The split that a name or an alias means, if it means one. */
export function toSplitName(text: string): SplitName | undefined {
  return SPLIT_OF.get(text);
}

/** The same, or `TASKS_INVALID`: measuring on another split than was asked for would be a silent mistake. */
export function requireSplitName(text: string, asker: string): SplitName {
  const name = toSplitName(text);
  if (name !== undefined) return name;
  const problem = `${asker}: expected one of the splits ${KNOWN_SPLITS}, got ${JSON.stringify(text)}`;
  throw tasksInvalid(
    [problem],
    'train is learned from, val (valid_seen) decides, test (valid_unseen) is only reported.',
  );
}
