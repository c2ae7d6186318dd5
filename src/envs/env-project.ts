import type { Scoring, TaskScorer } from '../core/judge/index.ts';

/** The parts of a project that are an environment's business. */
export type EnvProject = {
  readonly directory: string;
  readonly tasks: string | undefined;
  /** Names of columns, where the task file has others than the usual ones. */
  readonly columns?: Readonly<Partial<Record<string, string>>> | undefined;
  /** How tasks without a judge of their own are scored. */
  readonly scoring?: Scoring | undefined;
  readonly splitRatio: string;
  readonly splitSeed: number;
  readonly splitMode?: 'split_dir' | 'ratio';
  readonly splitDir?: string;
  readonly dataPath?: string;
  /** For tasks that bring a judge. Rules and exact matches need none. */
  readonly judges?: readonly TaskScorer[];
  readonly extras: Readonly<Record<string, unknown>>;
};
