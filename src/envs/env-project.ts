import type { TaskScorer } from '../core/judge/task-judge.ts';

/** The parts of a project that are an environment's business. */
export type EnvProject = {
  readonly directory: string;
  readonly tasks: string | undefined;
  readonly splitRatio: string;
  readonly splitSeed: number;
  readonly splitMode?: 'split_dir' | 'ratio';
  readonly splitDir?: string;
  readonly dataPath?: string;
  /** For tasks that bring a judge. Rules and exact matches need none. */
  readonly judges?: readonly TaskScorer[];
  readonly extras: Readonly<Record<string, unknown>>;
};
