/** Digits in groups: «5,252.75», «+1 (755) 555-4350», «2024-01-15». A comma with a space after it begins another number. */
const NUMBER = /(?<![\p{L}\p{N}])\p{N}+(?:(?:[ .,'’_/-]|\) ?| ?\()\p{N}+)*/gu;
/** More than any number has; a table of figures would give too many runs otherwise. */
const MOST_GROUPS = 6;

/** The digits of every number that a text may mean, however it separates them: «5,252.75» gives 525275, and also 5, 252, 75 and so on. */
export function numbersIn(text: string): ReadonlySet<string> {
  const numbers = new Set<string>();
  for (const groups of numbersOf(text)) addRuns(groups, numbers);
  return numbers;
}

/** The numbers of a text as groups of digits. */
function numbersOf(text: string): string[][] {
  return [...text.normalize('NFKC').matchAll(NUMBER)].map(([number]) => number.match(/\p{N}+/gu) ?? []);
}

function addRuns(groups: readonly string[], numbers: Set<string>): void {
  for (let start = 0; start < groups.length; start++) {
    let run = '';
    for (const group of groups.slice(start, start + MOST_GROUPS)) {
      run += group;
      numbers.add(run);
    }
  }
}

/** The digits of a text that is one number, perhaps with a unit. */
export function soleNumberIn(text: string): string | undefined {
  const [number, ...others] = numbersOf(text);
  const letters = text.match(/\p{L}+/gu) ?? [];
  return number === undefined || others.length > 0 || letters.length > 1 ? undefined : number.join('');
}
