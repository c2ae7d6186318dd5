import { describe, expect, it } from 'vitest';
import { freePort, lacksRedis, startRedis } from '../../support/workers/start-redis.ts';
import { startWorker } from '../../support/workers/worker-crowd.ts';
import { EVAL, ownProject, startIn } from './queue-run.ts';

describe.skipIf(lacksRedis())('a worker', { timeout: 200_000 }, () => {
  it.each([
    ['that may finish exits with what it has done', '60', '3000', 1],
    ['whose time is up leaves its attempts to others', '1', '60000', 0],
  ])('on SIGTERM %s', async (_, drain, workMs, done) => {
    await using redis = await startRedis();
    using project = ownProject({ workers: 1 });
    const env = { WORK_MS: workMs };
    await using first = startWorker({ queue: redis.url, cwd: project.path, args: ['--drain', drain], env });
    const { finished } = startIn(project.path, EVAL, { SKILLOPT_QUEUE: redis.url });
    await expect.poll(() => first.begun()).toBe(1);
    first.child.kill('SIGTERM');
    expect(await first.finished).toMatchObject({ code: 0, signal: null });
    expect(first.events.filter(({ type }) => type === 'end')).toHaveLength(done);
    await using second = startWorker({ queue: redis.url, cwd: project.path });
    const { code, stderr } = await finished;
    expect(code, stderr).toBe(0);
    expect([first.begun(), second.begun()]).toEqual([1, 9 - done]);
  });

  it('answers health checks: 200 while its queue is there, and 503 while it is not', async () => {
    await using redis = await startRedis();
    using project = ownProject();
    const port = await freePort();
    await using worker = startWorker({ queue: redis.url, cwd: project.path, args: ['--health', String(port)] });
    await worker.ready;
    const health = () => fetch(`http://127.0.0.1:${port}/`).then(({ status }) => status, String);
    await expect.poll(health).toBe(200);
    await redis.kill();
    await expect.poll(health).toBe(503);
    await redis.start();
    await expect.poll(health).toBe(200);
    worker.child.kill('SIGTERM');
    expect((await worker.finished).code).toBe(0);
  });

  it('ends in time also while its queue is away', async () => {
    await using redis = await startRedis();
    using project = ownProject();
    await using worker = startWorker({ queue: redis.url, cwd: project.path, args: ['--drain', '1'] });
    await worker.ready;
    await redis.kill();
    worker.child.kill('SIGTERM');
    expect((await worker.finished).code).toBe(0);
  });
});
