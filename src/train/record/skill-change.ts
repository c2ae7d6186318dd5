import { isFileLine, type Trained, trainsPackage } from '../../core/document/index.ts';
import type { LineCount } from '../../core/run/index.ts';
import { changedLines } from '../../report/index.ts';

export type SkillChange = LineCount & {
  /** The lines that were added and removed, with their signs. Empty ones say nothing and are left out. */
  readonly lines: readonly string[];
};

/** What training made of a skill, as far as a person wants to see it. Lines that name the files of a package are shown, and not counted. */
export function skillChange(before: string, after: string, trained: Trained = {}): SkillChange {
  const lines = before === after ? [] : changedLines(before, after).filter((line) => /^[+-].*\S/.test(line));
  const isCounted = (line: string) => !trainsPackage(trained) || !isFileLine(line.slice(1));
  const counted = lines.filter(isCounted);
  const added = counted.filter((line) => line.startsWith('+')).length;
  return { lines, added, removed: counted.length - added };
}
