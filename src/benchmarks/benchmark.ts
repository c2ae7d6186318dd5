import type { z } from 'zod';
import type { Item, RolloutContext, RolloutOutput, Sandbox } from '../core/contracts/index.ts';
import type { SplitSizes } from '../envs/index.ts';
import type { Row } from '../imports/index.ts';
import type { DataFiles } from './data/data-files.ts';

/** A task of a benchmark. It holds all that its score depends on: of files, a hash. */
export type BenchmarkItem = Item & { readonly taskType?: string | undefined };

/** What a person has to know to get the data. We download nothing. */
type BenchmarkSource = {
  /** What to get and from where, a step a line. */
  readonly get: readonly string[];
  readonly licence: string;
};

/** Reads the rows of a split, or of what a person downloaded. */
export type RowReader = {
  /** The files that rows name. */
  readonly files: DataFiles;
  /** Keeps bytes from a row, such as an image in a Parquet file, and returns the name by which the item names them. */
  readonly keep: (name: string, bytes: Uint8Array) => Promise<string>;
};

/**
 * One benchmark: its data, and how its items are attempted and scored. `benchmarkEnv` makes an environment of it, `pullBenchmark`
 * reads its data, and `checkBenchmark` tries its scoring.
 */
export interface Benchmark<I extends BenchmarkItem = BenchmarkItem, Settings = unknown> {
  readonly name: string;
  readonly title: string;
  readonly source: BenchmarkSource;
  /** How many items the published splits hold. */
  readonly published: SplitSizes;
  /** The document that training starts from, in our own words. */
  readonly initialSkill: string;
  /** What it reads of a project's `extras`, in camelCase. Other keys are left alone. */
  readonly settings: z.ZodType<Settings> & { readonly shape: Readonly<Record<string, unknown>> };
  /** An item, checked. The input is what `readRow` gives. */
  readonly item: z.ZodType<I>;
  /** What an item looks like, for messages. */
  readonly hint: string;
  /**
   * The fields of an item in a row as upstream, as the splits of SkillOpt or as `bench pull` writes it. Throws an Error whose message
   * says what is wrong with the row.
   */
  readRow(row: Row, reader: RowReader, settings: Settings): Promise<unknown> | unknown;
  /** The rows in what a person downloaded, each with its file. Default: the rows of all task files there. */
  findRows?(reader: RowReader): Promise<readonly Row[]>;
  /** What an item shares with others: documents, pages, games. Items that share one belong into one split. */
  groupsOf?(item: I): readonly string[];
  /** What two items have in common if they ask the same. */
  questionOf(item: I): string;
  /** What is right, in one text. Two items that ask the same and differ in it contradict each other. */
  goldOf(item: I): string;
  /** What is known to be wrong with some of these items, so that a score of them means less than it says. */
  flawsOf?(items: readonly I[]): readonly Flaw[];
  open(options: OpenOptions<Settings>): Attempts<I>;
}

/** Items that measure something else than they should. `what` continues a sentence: `3 of 12 items offer …`. */
export type Flaw = { readonly what: string; readonly ids: readonly string[] };

export type OpenOptions<Settings> = {
  readonly settings: Settings;
  readonly files: DataFiles;
  /** Where code of models runs. */
  readonly sandbox: Sandbox;
};

/** How items are attempted and scored under the settings of a project. */
export interface Attempts<I extends BenchmarkItem = BenchmarkItem> {
  /** How an answer is scored, for people: `exact match and token F1`. */
  readonly rule: string;
  /** Raised whenever the same reply could score differently. */
  readonly version: string;
  /** All that the target reads besides the skill and the item. The card of a result shows its hash. */
  readonly prompt: string;
  readonly needsImages?: true;
  /** How often an attempt asks the target, at least and at most. Default: once. */
  readonly targetCalls?: { readonly low: number; readonly high: number };
  /** What a person should know before a run, such as that code runs without a sandbox. */
  readonly warnings?: readonly string[];
  setup?(): Promise<void>;
  close?(): Promise<void>;
  /** If an agent is the target, the context holds it and it is asked once: it finds files in its workspace, and has its own tools. */
  attempt(context: RolloutContext<I>): Promise<RolloutOutput>;
  /** Tries the scoring on what is right and on nothing. */
  probe(item: I, signal?: AbortSignal): Promise<Probe> | Probe;
  /** Files that an agent finds in its workspace, for benchmarks whose questions are about files. */
  workspaceFiles?(item: I): Promise<Readonly<Record<string, string>>>;
}

/** What the scoring says of the right answer and of no answer. */
export type Probe = {
  /** `undefined`: the scoring fails, for the reason in `problem`. */
  readonly right: number | undefined;
  readonly nothing: number | undefined;
  readonly problem?: string;
  /** The item holds no right answer to try, for the reason in `problem`. It can be scored all the same. */
  readonly untried?: true;
};
