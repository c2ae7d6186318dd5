import { setTimeout as sleep } from 'node:timers/promises';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { lacksRedis, startRedis } from '../../support/workers/start-redis.ts';
import { startCrowd } from '../../support/workers/worker-crowd.ts';
import { queueProject } from './queue-run.ts';

describe.skipIf(lacksRedis())('limits of a run on workers', { timeout: 400_000 }, () => {
  it('maxCalls is never passed at the provider, also if 20 workers are killed at work', async () => {
    await using server = await startFakeLLM(async () => {
      await sleep(2_500); // long enough for 20 kills before 30 calls are over
      return 'A. 7';
    });
    await using redis = await startRedis();
    using project = queueProject(server.baseURL, { maxCalls: 30 });
    await using crowd = await startCrowd({
      queue: redis.url,
      cwd: project.path,
      count: 8,
      args: ['--concurrency', '2'],
    });
    const { finished } = project.start(['train', '--quiet', '--ignore-estimate', '--queue', redis.url]);
    await crowd.killSome(20, { seed: 2, until: finished });
    const { code, stderr } = await finished;
    expect([code, stderr]).toEqual([3, expect.stringContaining('--max-calls is reached: 30 of 30')]);
    expect(crowd.kills()).toBe(20);
    expect(server.requests.length).toBe(30);
  });
});
