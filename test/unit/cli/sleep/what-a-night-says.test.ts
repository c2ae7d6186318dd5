import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { answerOf, sleepHome } from '../../../support/sleep/sleep-home.ts';
import { nightAnswer, nightFlags, reviewedTasks } from './night-over-http.ts';

const PRICES = 'prices:\n  m: { input: 100, cachedInput: 10, output: 1000 }\n';
const tokens = { prompt_tokens: 50, completion_tokens: 7 };
const USD_PER_CALL = (50 * 100 + 7 * 1000) / 1e6;

describe('what a night costs', () => {
  it('is told with the prices of the project, as a training tells it', async () => {
    await using server = await startFakeLLM((request) => ({ content: nightAnswer(request), usage: tokens }));
    using home = sleepHome();
    reviewedTasks(home);
    home.write('shop/skillopt.config.yaml', PRICES);
    const report = await answerOf(home, nightFlags(server.baseURL, '--max-cost-usd', '50'));
    const usd = server.requests.length * USD_PER_CALL;
    expect(report).toMatchObject({ calls: server.requests.length, isPriced: true });
    expect(report.costUsd).toBeCloseTo(usd, 6);
    const words = `${server.requests.length} calls, $${usd.toFixed(2)}`;
    expect((await home.run(['status'])).out).toContain(words);
    const { lastNight } = await answerOf(home, ['status']);
    expect(lastNight).toMatchObject({ isPriced: true, costUsd: report.costUsd });
  });

  it('says so where no price is known, and a limit in dollars is refused', async () => {
    await using server = await startFakeLLM((request) => ({ content: nightAnswer(request), usage: tokens }));
    using home = sleepHome();
    reviewedTasks(home);
    const limited = await home.run(nightFlags(server.baseURL, '--max-cost-usd', '5'));
    expect(limited).toMatchObject({ code: 2, err: expect.stringMatching(/the price of/) });
    const { checks } = await answerOf(home, nightFlags(server.baseURL, '--max-cost-usd', '5', '--check'));
    const remedy = expect.stringContaining('or limit the night with --max-minutes or --max-calls.');
    expect(checks).toContainEqual(expect.objectContaining({ name: 'target', isOk: false, remedy }));
    const { out } = await home.run(nightFlags(server.baseURL));
    expect(out).toMatch(/cost: \d+ calls, [\d,]+ tokens, no price known, \d+ s/);
  });
});

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
