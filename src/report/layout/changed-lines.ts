import { diffLines } from 'diff';
import { withLineFeeds } from '../../core/document/index.ts';

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
