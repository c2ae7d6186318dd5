import { setTimeout as sleep } from 'node:timers/promises';
import type { SimServer } from 'skillopt/sim';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lacksRedis, startRedis } from '../../support/workers/start-redis.ts';
import { startCrowd } from '../../support/workers/worker-crowd.ts';
import { type factsOf, queueProject, startModels } from './queue-run.ts';

const TRAIN = ['train', '--quiet', '--queue'];

describe.skipIf(lacksRedis())('a run has the facts and the usage of one process', { timeout: 400_000 }, () => {
  let models: SimServer;
  let expected: Awaited<ReturnType<typeof factsOf>>;
  let needed: number;

  beforeAll(async () => {
    models = await startModels(100); // one for all: its address is part of a run
    using project = queueProject(models.url);
    const { code, stderr } = await project.start(['train', '--quiet']).finished;
    expect(code, stderr).toBe(0);
    expected = await project.facts();
    needed = models.requests;
  });
  afterAll(() => models?.[Symbol.asyncDispose]());

  it.each([1, 2, 8])('with %i workers', async (count) => {
    await using redis = await startRedis();
    using project = queueProject(models.url);
    await using crowd = await startCrowd({ queue: redis.url, cwd: project.path, count });
    const { code, stderr } = await project.start([...TRAIN, redis.url]).finished;
    expect(code, stderr).toBe(0);
    expect(await project.facts()).toEqual(expected);
    expect(crowd.workers.map((worker) => worker.begun() > 0)).not.toContain(false);
  });

  it('with 8 workers, and 20 of them killed at work', async () => {
    await using redis = await startRedis();
    using project = queueProject(models.url);
    await using crowd = await startCrowd({ queue: redis.url, cwd: project.path, count: 8 });
    const { finished } = project.start([...TRAIN, redis.url]);
    await crowd.killSome(20, { seed: 1, until: finished });
    const { code, stderr } = await finished;
    expect(code, stderr).toBe(0);
    expect(crowd.kills()).toBe(20);
    expect(await project.facts()).toEqual(expected);
  });

  it('with a server of the queue that is killed and comes back', async () => {
    await using redis = await startRedis();
    using project = queueProject(models.url);
    await using crowd = await startCrowd({ queue: redis.url, cwd: project.path, count: 2 });
    const { finished } = project.start([...TRAIN, redis.url]);
    for (const isEmpty of [false, true]) {
      const before = models.requests;
      await expect.poll(() => models.requests).toBeGreaterThan(before + 20);
      await redis.kill();
      await sleep(1_000);
      await redis.start({ isEmpty });
    }
    const { code, stderr } = await finished;
    expect(code, stderr).toBe(0);
    expect(await project.facts()).toEqual(expected);
    expect(crowd.workers.map(({ child }) => child.exitCode)).toEqual([null, null]);
  });

  it('with a training process that is killed, and resumed', async () => {
    await using redis = await startRedis();
    using project = queueProject(models.url);
    await using _crowd = await startCrowd({ queue: redis.url, cwd: project.path, count: 2 });
    const first = models.requests;
    for (let kills = 0; kills < 3; kills++) {
      const before = models.requests;
      const { child, finished } = project.start([...TRAIN, redis.url]);
      await expect.poll(() => models.requests).toBeGreaterThan(before + 30);
      child.kill('SIGKILL');
      expect((await finished).signal).toBe('SIGKILL');
    }
    const { code, stderr } = await project.start([...TRAIN, redis.url]).finished;
    expect(code, stderr).toBe(0);
    expect((await project.facts()).facts).toEqual(expected.facts);
    expect(models.requests - first - needed).toBeLessThanOrEqual(3 * 8); // those in flight when it was killed, as without workers
  });
});
