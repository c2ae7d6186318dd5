import { expect, it } from 'vitest';
import { meetsExpectation, untrueInputs } from '../../support/imports/untrue-inputs.ts';

/** One of each kind and outcome. `untrue-inputs.heavy.ts` takes all of them. */
const SAMPLE = [
  ...['cp1252-csv-quotes-euro', 'utf16be-no-bom-jsonl', 'mac-roman-csv-german', 'clean-text-about-mojibake'],
  ...['every-question-two-answers', 'one-pair-in-forty', 'test-is-train', 'promptfoo-three-prompts'],
  ...['js-half-with-default', 'python-file-all', 'evals-one-image', 'json-numbers-too-large'],
];

it('knows all files of users', () => {
  expect(untrueInputs.length).toBeGreaterThanOrEqual(150);
});

it.each(SAMPLE)('input %s', meetsExpectation);
