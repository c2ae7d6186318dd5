import { emptyRun, type RunEvent, reduce } from '../../../src/index.ts';

/** How far what a run believes of its current skill is from the truth, added up over the moments at which it took one. */
export function believedError(
  events: readonly RunEvent[],
  truth: (skill: string) => number,
): Record<'accepts' | 'believedError', number> {
  const sum = { accepts: 0, believedError: 0 };
  let state = emptyRun;
  for (const event of events) {
    const before = state;
    state = reduce(before, event);
    if (event.type === 'run-start' || state.current.hash === before.current.hash) continue;
    sum.accepts++;
    sum.believedError += state.current.score - truth(state.current.skill);
  }
  return sum;
}
