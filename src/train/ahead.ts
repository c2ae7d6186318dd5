import type { Budget } from '../models/index.ts';
import type { StageDeps } from '../pipeline/index.ts';

type Work<Answer> = (deps: StageDeps) => Promise<Answer>;
type Progress = Parameters<StageDeps['onProgress']>;

/**
 * Work that may begin before its turn, while an earlier stage still waits for its last calls. Facts keep their order: its
 * answer, its failure and its progress are heard when it is joined.
 */
export type Ahead = {
  /** Whether anything may begin early. */
  readonly isOn: boolean;
  /** Begins the work of that name, if anything may begin early. */
  begin(name: string, work: Work<unknown>): void;
  /** Its turn: answers with the work of that name if it has begun, or does it now. It must be the same work. */
  join<Answer>(name: string, work: Work<Answer>): Promise<Answer>;
  /** Resolves once nothing is under way: replies that are on their way get kept, also where nobody joins. */
  settled(): Promise<unknown>;
};

/** Under a limit everything waits for its turn: what a limit still pays for may not depend on which call came first. */
export function createAhead(deps: StageDeps, budget: Pick<Budget, 'limits' | 'timeLimit'>): Ahead {
  const isOn = budget.timeLimit() === undefined && !Object.values(budget.limits).some(Number.isFinite);
  const begun = new Map<string, ReturnType<typeof start>>();
  return {
    isOn,
    begin(name, work) {
      if (isOn && !begun.has(name)) begun.set(name, start(work, deps));
    },
    join<Answer>(name: string, work: Work<Answer>) {
      const early = begun.get(name);
      begun.delete(name);
      return early ? (early.join() as Promise<Answer>) : work(deps);
    },
    settled: () => Promise.allSettled([...begun.values()].map(({ answer }) => answer)),
  };
}

function start(work: Work<unknown>, deps: StageDeps) {
  const held: Progress[] = [];
  let tell: StageDeps['onProgress'] = (...progress) => void held.push(progress);
  const answer = work({ ...deps, onProgress: (...progress) => tell(...progress) });
  answer.catch(() => {}); // heard by the caller of `join`
  return {
    answer,
    join() {
      tell = deps.onProgress;
      for (const progress of held.splice(0)) tell(...progress);
      return answer;
    },
  };
}
