import { startFakeLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import { sleepHome } from '../../../support/sleep/sleep-home.ts';
import { nightAnswer } from './night-over-http.ts';

it('a wish that recurs and cannot be proven yet: harvest, the night and status say what is missing', async () => {
  await using server = await startFakeLLM(nightAnswer);
  using home = sleepHome();
  const turns = [
    ['user', 'Write a note about invoices for the whole team, and end it with DONE'],
    ['assistant', 'A note about invoices.'],
    ['user', 'still wrong, end it with DONE'],
    ['assistant', 'DONE'],
  ] as const;
  for (const at of [1, 2, 3]) home.said({ id: `s-${at}`, endedHoursAgo: at, turns });
  const textOf = async (args: readonly string[]) => (await home.run(args)).out.replaceAll(/\s+/g, ' ');
  const harvest = await textOf(['harvest']);
  expect(harvest).toMatch(/asked 3 times on \d days?: Write a note/);
  expect(harvest).toContain('0 of the 6 held-out tasks that a proof needs are here: more sessions with other requests');
  const missing = /0 of 6 held-out tasks, from 3 sessions; about \d+ sessions more until something can be proven/;
  expect(await textOf(['run', '--no-llm-mine', '--quiet', '--target', `compatible:m@${server.baseURL}`])).toMatch(
    missing,
  );
  expect(await textOf(['status'])).toMatch(missing);
});
