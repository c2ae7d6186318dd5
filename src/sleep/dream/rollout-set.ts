import { type SkillOptConfig, selectGateScore } from '../../core/contracts/index.ts';
import type { ReplayResult } from '../replay/replay.ts';
import type { TaskRecord } from '../task-record.ts';

/** What of an attempt is compared. */
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

  /** The first of the best; `undefined` of none. */
  get best(): Attempt | undefined {
    return this.attempts.reduce<Attempt | undefined>(
      (best, one) => (best === undefined || this.#scoreOf(one) > this.#scoreOf(best) ? one : best),
      undefined,
    );
  }

  get worst(): Attempt | undefined {
    return this.attempts.reduce<Attempt | undefined>(
      (worst, one) => (worst === undefined || this.#scoreOf(one) < this.#scoreOf(worst) ? one : worst),
      undefined,
    );
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

  /** By success where some succeeded and some did not; else by what the gate compares. */
  #scoreOf({ hard, soft }: Attempt): number {
    const { gateMetric = 'mixed', gateMixedWeight = 0.5 } = this.#metric;
    return this.#hasContrast ? hard : selectGateScore(hard, soft, gateMetric, gateMixedWeight);
  }

  get #hasContrast(): boolean {
    return new Set(this.attempts.map(({ hard }) => hard)).size > 1;
  }
}
