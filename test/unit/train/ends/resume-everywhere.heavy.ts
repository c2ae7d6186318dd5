import { memoryRun, type RunEvent } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { run } from './resume-world.ts';

/** As in `resume-whole.test.ts`, cut off at many more events. */
describe('a run with everything on', () => {
  it.each([
    ['patch', 1, 1],
    ['patch', 5, 3],
    ['rewrite_from_suggestions', 1, 3],
    ['rewrite_from_suggestions', 5, 5],
    ['full_rewrite_minibatch', 1, 3],
    ['full_rewrite_minibatch', 5, 5],
  ] as const)('resumes to the same end (%s, %i workers, cut at every %i. event)', async (mode, workers, every) => {
    const whole = await run(mode, workers);
    for (let cut = 0; cut <= whole.facts.length; cut += every) {
      (whole.store.events as RunEvent[]).length = cut;
      const { facts, requests } = await run(mode, workers, whole.store);
      expect(facts, `cut after ${cut} events`).toEqual(whole.facts);
      expect([...requests.target, ...requests.optimizer], `cut after ${cut} events`).toEqual([]);
    }
  });

  it.each(['patch', 'rewrite_from_suggestions', 'full_rewrite_minibatch'] as const)(
    'resumes to the same end without its caches (%s)',
    async (mode) => {
      const whole = await run(mode, 1);
      for (let cut = 4; cut <= whole.facts.length; cut += 9) {
        const { facts, summary } = await run(mode, 4, memoryRun(whole.store.events.slice(0, cut)));
        expect(facts.slice(1), `cut after ${cut} events`).toEqual(whole.facts.slice(1));
        expect(summary.bestSkill).toBe(whole.summary.bestSkill);
      }
    },
  );
});
