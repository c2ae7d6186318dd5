import { afterEach, describe, expect, it, vi } from 'vitest';
import { projectOverHttp } from '../../../support/project-over-http.ts';
import { startSimOverHttp } from '../../../support/sim-over-http.ts';

const HOUR_MS = 3_600_000;

/** From its third answer on, every answer of the server sets the clock of this machine by so much, and takes a while. */
async function startClockSetter(jumpMs: number) {
  vi.useFakeTimers({ toFake: ['Date'] });
  const server = await startSimOverHttp();
  let isSet = false;
  server.disturbance = () => {
    if (!isSet && server.requests.length > 2) vi.setSystemTime(Date.now() + jumpMs);
    isSet ||= server.requests.length > 2;
    return undefined;
  };
  return server;
}

afterEach(() => vi.useRealTimers());

describe('maxMinutes', () => {
  it('ends a run although the clock is set back', async () => {
    await using server = await startClockSetter(-HOUR_MS);
    const { disturbance } = server;
    server.disturbance = (request) => {
      disturbance(request);
      return server.requests.length > 2 ? { status: 503, delayMs: 20 } : undefined; // it would never end by itself
    };
    using project = projectOverHttp(server.baseURL, { maxMinutes: 0.01, maxRetries: 1_000_000 });
    const { code, err } = await project.run('train', '--quiet');
    expect(err).toContain('max-minutes is reached');
    expect(code).toBe(3);
  });

  it('does not end a run because the clock is set forward', async () => {
    await using server = await startClockSetter(HOUR_MS);
    using project = projectOverHttp(server.baseURL, { maxMinutes: 5 });
    const { code, err } = await project.run('train', '--quiet');
    expect([code, err]).toEqual([0, expect.not.stringContaining('max-minutes')]);
  });
});
