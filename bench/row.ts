/** One line of the bench table: a promise with a figure. */
export type BenchRow = {
  /** `npm run bench -- NAME` runs the rows of this name. */
  readonly name: string;
  readonly what: string;
  readonly goal: string;
  /** `only`: a part of what is measured, for rows that take long. */
  run(say: (progress: string) => void, only?: string): Promise<Measured>;
};

export type Measured = {
  readonly measured: string;
  readonly holds: boolean;
  readonly figures: Readonly<Record<string, number | readonly number[]>>;
};

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
