import { type SkillOptConfig, selectGateScore } from '../../core/contracts/index.ts';
import {
  type Documents,
  type ReplayModels,
  type ReplayOptions,
  type ReplayResult,
  replayOne,
} from '../replay/replay.ts';
import type { TaskRecord } from '../task-record.ts';

/** Attempts one task `k` times under the same documents, each an independent draw, all at once. */
export async function multiRollout(
  models: ReplayModels,
  task: TaskRecord,
  documents: Documents,
  { k = 3, ...options }: Omit<ReplayOptions, 'sampleIndex'> & { readonly k?: number } = {},
): Promise<RolloutSet> {
  const attempts = Array.from({ length: Math.max(1, k) }, (_, sampleIndex) =>
    replayOne(models, task, documents, { ...options, sampleIndex }),
  );
  const scored = (await Promise.all(attempts)).filter(({ errored }) => !errored);
  return new RolloutSet(task, scored);
}

/** The same task `k` times, for a run that attempts each item once: `id`, `id~2`, `id~3`. */
export const repeated = (tasks: readonly TaskRecord[], k: number): TaskRecord[] =>
  tasks.flatMap((task) =>
    Array.from({ length: Math.max(1, k) }, (_, index) =>
      index === 0 ? task : { ...task, id: `${task.id}~${index + 1}`, derivedFrom: task.id },
    ),
  );

/** Beyond all draws that a run numbers. */
const AGAIN_FROM = 10_000_000;

/** The first draw of such a repetition: it asks what the task itself asks, and must not get the same answer. */
export const firstDrawOf = (id: string) => AGAIN_FROM * (Number(/~(\d+)$/.exec(id)?.[1] ?? 1) - 1);

/** The task that an attempt belongs to. */
export const originalId = (id: string) => id.replace(/~\d+$/, '');

/** What is compared of an attempt. */
export type Attempt = Pick<ReplayResult, 'hard' | 'soft' | 'response' | 'failReason'>;

/** The score that the gate compares. Default: mixed, both alike. */
export type AttemptMetric = Partial<Pick<SkillOptConfig, 'gateMetric' | 'gateMixedWeight'>>;

/** Several scored attempts at one task under the same documents. */
export class RolloutSet {
  readonly task: TaskRecord;
  readonly attempts: readonly Attempt[];
  readonly #metric: AttemptMetric;

  constructor(task: TaskRecord, attempts: readonly Attempt[], metric: AttemptMetric = {}) {
    this.task = task;
    this.attempts = attempts;
    this.#metric = metric;
  }

  /** The first of the best; `undefined` without attempts. */
  get best(): Attempt | undefined {
    return this.attempts.toSorted((a, b) => this.#scoreOf(b) - this.#scoreOf(a))[0];
  }

  get worst(): Attempt | undefined {
    return this.attempts.toSorted((a, b) => this.#scoreOf(a) - this.#scoreOf(b))[0];
  }

  /** How far the best is from the worst. */
  get spread(): number {
    const { best, worst } = this;
    return best && worst ? this.#scoreOf(best) - this.#scoreOf(worst) : 0;
  }

  /** Share of the attempts that are wholly right. */
  get passRate(): number {
    const passed = this.attempts.filter(({ hard }) => hard >= 1).length;
    return this.attempts.length === 0 ? 0 : passed / this.attempts.length;
  }

  /** By success if attempts differ in it; otherwise by what the gate compares. */
  #scoreOf({ hard, soft }: Attempt): number {
    const { gateMetric = 'mixed', gateMixedWeight = 0.5 } = this.#metric;
    const hasContrast = this.attempts.some((one) => one.hard !== this.attempts[0]!.hard);
    return hasContrast ? hard : selectGateScore(hard, soft, gateMetric, gateMixedWeight);
  }
}
