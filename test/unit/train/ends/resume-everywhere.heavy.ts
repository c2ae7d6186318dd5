import { describe, it } from 'vitest';
import { expectSameEnd, expectSameEndAskedAgain } from './resume-world.ts';

/** As in `resume-whole.test.ts`, cut off at many more events. */
describe('a run with everything on', () => {
  it.each([
    ['patch', 1, 1],
    ['patch', 5, 3],
    ['rewrite_from_suggestions', 1, 3],
    ['rewrite_from_suggestions', 5, 5],
    ['full_rewrite_minibatch', 1, 3],
    ['full_rewrite_minibatch', 5, 5],
  ] as const)('resumes to the same end (%s, %i workers, cut at every %i. event)', expectSameEnd);

  it.each(['patch', 'rewrite_from_suggestions', 'full_rewrite_minibatch'] as const)(
    'resumes to the same end without its caches (%s)',
    (mode) => expectSameEndAskedAgain(mode, 9),
  );
});
