import type { Row } from './row.ts';

/** What was asked for on the command line. */
export type BenchOptions = {
  readonly isQuick: boolean;
  /** First seed and number of seeds, for the sections that train. Each has its own unless given. */
  readonly from?: number;
  readonly seeds?: number;
  /** Of the ablation. */
  readonly optimizer: string;
};

/** A part of the bench: `npm run bench:quality -- NAME`. */
export type Section = {
  readonly name: string;
  run(options: BenchOptions, say: (progress: string) => void): Promise<Outcome>;
};

export type Outcome = {
  readonly rows: readonly Row[];
  /** Further files for `--out`, by name. */
  readonly files?: Readonly<Record<string, string>>;
};
