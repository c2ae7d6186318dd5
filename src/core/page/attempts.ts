import { type ItemScore, type SkillOptConfig, selectGateScore } from '../contracts/index.ts';
import { PASS_MARK } from '../stats/index.ts';

export type Split = 'train' | 'val' | 'test';

/** Attempts at tasks with one version of the skill, one byte each: a long run has millions of them. */
export type AttemptList = {
  /** Index of the version. */
  readonly version: number;
  readonly split: Split;
  /** Which part of the run made them, as the files with their results are named. */
  readonly part: string;
  /** The part that these attempts were listed under before: a skill that is tested under two names is attempted once. */
  readonly sameAs?: string;
  /** Indexes of the tasks, ascending. */
  readonly tasks: Uint32Array;
  readonly marks: Uint8Array;
};

/** No result: the environment threw, or no judgement could be had. */
const ERRORED = 255;
const PASSED = 128;

export type Metric = Pick<SkillOptConfig, 'gateMetric' | 'gateMixedWeight'>;

/** The score in hundredths by the metric of the gate, and whether it passes. */
export function markOf({ hard, soft, errored }: ItemScore, { gateMetric, gateMixedWeight }: Metric): number {
  if (errored) return ERRORED;
  const score = selectGateScore(hard, soft, gateMetric, gateMixedWeight);
  return (score >= PASS_MARK ? PASSED : 0) + Math.round(Math.min(1, Math.max(0, score)) * 100);
}

/** All attempts at one task with one version. */
export type Cell = {
  readonly attempts: number;
  readonly passed: number;
  readonly errored: number;
  /** Mean of those that have a score; `null` without any. */
  readonly score: number | null;
};

/** The cells of one version, by the index of the task: arrays, since a long run has millions of cells. */
export type Cells = {
  readonly attempts: Uint16Array;
  readonly passed: Uint16Array;
  readonly errored: Uint16Array;
  /** Sums of scores in hundredths. */
  readonly sums: Uint32Array;
};

export function cellsIn(lists: readonly AttemptList[], version: number, tasks: number): Cells {
  const cells = {
    attempts: new Uint16Array(tasks),
    passed: new Uint16Array(tasks),
    errored: new Uint16Array(tasks),
    sums: new Uint32Array(tasks),
  };
  for (const list of lists) {
    if (list.version !== version || list.sameAs !== undefined) continue;
    for (let place = 0; place < list.tasks.length; place += 1) addMark(cells, list.tasks[place]!, list.marks[place]!);
  }
  return cells;
}

function addMark({ attempts, passed, errored, sums }: Cells, task: number, mark: number): void {
  attempts[task]! += 1;
  if (mark === ERRORED) {
    errored[task]! += 1;
    return;
  }
  sums[task]! += mark & ~PASSED;
  if (mark & PASSED) passed[task]! += 1;
}

/** `undefined` for a task that the version has not met. */
export function cellAt({ attempts, passed, errored, sums }: Cells, task: number): Cell | undefined {
  const [met = 0, failed = 0] = [attempts[task], errored[task]];
  if (met === 0) return undefined;
  const score = met === failed ? null : sums[task]! / (met - failed) / 100;
  return { attempts: met, passed: passed[task]!, errored: failed, score };
}

/** Both outcomes under one text: what changes between versions may be luck. */
export const isNoisy = ({ attempts, passed, errored }: Cell) => passed > 0 && passed < attempts - errored;

/** By the mean, as the verdict counts; `undefined` without a score. */
export const isPassing = (cell: Cell | undefined) =>
  cell === undefined || cell.score === null ? undefined : cell.score >= PASS_MARK;
