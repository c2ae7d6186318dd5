import { afterEach, expect, it, vi } from 'vitest';
import { projectOverHttp } from '../../../support/project-over-http.ts';
import { startSimOverHttp } from '../../../support/sim-over-http.ts';

const HOUR_MS = 3_600_000;

afterEach(() => vi.useRealTimers());

/** At its third request somebody sets the clock of this machine. */
async function trainWhile(jumpMs: number, { delayMs, maxMinutes }: { delayMs: number; maxMinutes: number }) {
  vi.useFakeTimers({ toFake: ['Date'] });
  await using server = await startSimOverHttp();
  server.disturbance = () => {
    if (server.requests.length === 3) vi.setSystemTime(Date.now() + jumpMs);
    return delayMs > 0 ? { content: 'no answer', delayMs } : undefined;
  };
  using project = projectOverHttp(server.baseURL, { maxMinutes, workers: 2 });
  return await project.run('train', '--quiet');
}

it('maxMinutes ends a run although the clock is set back', async () => {
  const { code, err } = await trainWhile(-HOUR_MS, { delayMs: 60, maxMinutes: 0.01 });
  expect([code, err]).toEqual([3, expect.stringContaining('--max-minutes is reached')]);
});

it('maxMinutes does not end a run because the clock is set forward', async () => {
  const { code, err } = await trainWhile(HOUR_MS, { delayMs: 0, maxMinutes: 5 });
  expect([code, err]).toEqual([0, expect.not.stringContaining('max-minutes')]);
});
