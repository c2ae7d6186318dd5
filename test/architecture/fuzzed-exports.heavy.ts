import { expect, it } from 'vitest';
import { NOT_CALLED, SHORTER } from '../../bench/fuzz/exceptions.ts';
import { openFuzzer } from '../../bench/fuzz/fuzz.ts';
import { findTextFunctions } from '../../bench/fuzz/text-functions.ts';

/** `npm run bench -- fuzz` measures them all. What it cannot call must be named, so that nothing is left out unseen. */
it('every exported function that takes text can be called by the fuzzer, or is named with a reason', async () => {
  using fuzzer = openFuzzer();
  const functions = findTextFunctions();
  const problems: string[] = [];
  for (const subject of functions) {
    if (Object.hasOwn(NOT_CALLED, subject.name)) continue;
    const { problem } = await fuzzer.ask({ subject, what: 'plain' });
    if (problem !== undefined) problems.push(`${subject.name}: ${problem}`);
  }
  expect(problems.join('\n')).toBe('');
  const names = functions.map(({ name }) => name);
  expect([...Object.keys(NOT_CALLED), ...Object.keys(SHORTER)].filter((name) => !names.includes(name))).toEqual([]);
});
