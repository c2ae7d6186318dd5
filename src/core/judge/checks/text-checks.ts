import { includesText } from '../../text/includes-text.ts';
import { searchPattern } from '../regex/python-regex.ts';

/** How a check of a type is carried out. `undefined`: it would take too long to know. */
export type Holds<Value> = (answer: string, value: Value) => boolean | undefined;

const includesFolded: Holds<string> = (answer, text) => includesText(answer.toLowerCase(), text.toLowerCase());

/** Checks that look for texts. Those with an `i` do not mind case. */
export const TEXT_CHECKS = {
  contains: includesText as Holds<string>,
  icontains: includesFolded,
  'contains-any': ((answer, texts) => texts.some((text) => includesText(answer, text))) as Holds<readonly string[]>,
  'contains-all': ((answer, texts) => texts.every((text) => includesText(answer, text))) as Holds<readonly string[]>,
  'icontains-any': ((answer, texts) => texts.some((text) => includesFolded(answer, text))) as Holds<readonly string[]>,
  'icontains-all': ((answer, texts) => texts.every((text) => includesFolded(answer, text))) as Holds<readonly string[]>,
  'starts-with': ((answer, text) => answer.startsWith(text)) as Holds<string>,
  regex: ((answer, pattern) => searchPattern(pattern, answer)) as Holds<string>,
};

type WordBounds = number | { readonly min?: number | undefined; readonly max?: number | undefined };

/** Words are what stands between spaces. */
export const hasWordCount: Holds<WordBounds> = (answer, bounds) => {
  const count = answer.split(/\s+/).filter((word) => word !== '').length;
  const { min = 0, max = Number.POSITIVE_INFINITY } =
    typeof bounds === 'number' ? { min: bounds, max: bounds } : bounds;
  return count >= min && count <= max;
};

/** A table of more cells takes seconds to fill. */
const MAX_CELLS = 25_000_000;

/** Letters to change, add or take away until two texts are the same. `undefined`: both are too long to compare. */
export function editDistance(a: string, b: string): number | undefined {
  if (a.length * b.length > MAX_CELLS) return undefined;
  let above = Uint32Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = new Uint32Array(b.length + 1);
    current[0] = row;
    for (let column = 1; column <= b.length; column++) {
      const change = above[column - 1]! + (a.charCodeAt(row - 1) === b.charCodeAt(column - 1) ? 0 : 1);
      current[column] = Math.min(change, above[column]! + 1, current[column - 1]! + 1);
    }
    above = current;
  }
  return above[b.length]!;
}
