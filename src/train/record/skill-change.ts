import { diffLines } from 'diff';
import { isFileLine, type Trained, trainsPackage, withLineFeeds } from '../../core/document/index.ts';
import type { LineCount } from '../../core/run/index.ts';

/** Texts with less in common are shown one after the other: to look for more would take minutes. */
const MOST_EDITS = 1_000;

/** Every line of two versions with what became of it: ` `, `-` or `+`. How lines end is no change. */
export function changedLines(before: string, after: string): string[] {
  const [old, young] = [before, after].map(asLines) as [string, string];
  const parts = diffLines(old, young, { maxEditLength: MOST_EDITS }) ?? [
    { value: old, removed: true, added: false },
    { value: young, removed: false, added: true },
  ];
  return parts.flatMap(({ value, added, removed }) => {
    const sign = added ? '+' : removed ? '-' : ' ';
    return value
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => `${sign}${line}`);
  });
}

function asLines(text: string): string {
  const lines = withLineFeeds(text);
  return lines === '' || lines.endsWith('\n') ? lines : `${lines}\n`;
}

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
