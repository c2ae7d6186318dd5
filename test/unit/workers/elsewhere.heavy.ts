import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'bullmq';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';
import { lacksRedis, startRedis, type TestRedis } from '../../support/workers/start-redis.ts';
import { startCrowd, startWorker } from '../../support/workers/worker-crowd.ts';
import { EVAL, ownProject, queueProject, startIn, startModels } from './queue-run.ts';

const TIMEOUT = { timeout: 400_000 };

describe.skipIf(lacksRedis())('attempts on workers', TIMEOUT, () => {
  it('are refused by a worker with another file, and both sides name it', async () => {
    await using redis = await startRedis();
    using project = ownProject();
    using other = tempFolder();
    cpSync(project.path, other.path, { recursive: true });
    writeFileSync(join(other.path, 'rules.mjs'), 'export const scoreOf = () => 1;\n');
    await using wrong = startWorker({ queue: redis.url, cwd: other.path });
    await wrong.ready;
    const { child, finished } = startIn(project.path, EVAL, { SKILLOPT_QUEUE: redis.url });
    let said = '';
    child.stderr.on('data', (text: string) => {
      said += text;
    });
    await expect
      .poll(() => wrong.stderr())
      .toMatch(
        /takes no attempt of a run on \S+, because it would score differently\. Different: rules\.mjs, version of the environment\n/,
      );
    await expect
      .poll(() => said)
      .toMatch(
        /no worker takes attempts: 1 worker of this project would score differently \(rules\.mjs, version of the environment\)/,
      );
    expect(wrong.begun()).toBe(0);
    await using right = startWorker({ queue: redis.url, cwd: project.path }); // joins a run that has begun
    const { code, stderr, stdout } = await finished;
    expect(code, stderr).toBe(0);
    expect([wrong.begun(), right.begun()]).toEqual([0, 9]);
    expect(JSON.parse(stdout).verdict.score).toBeCloseTo(5 / 9);
  });

  it('wait for a worker, which is said after a while', async () => {
    await using redis = await startRedis();
    using project = ownProject();
    const { child, finished } = startIn(project.path, EVAL, { SKILLOPT_QUEUE: redis.url });
    let said = '';
    child.stderr.on('data', (text: string) => {
      said += text;
    });
    await expect
      .poll(() => said)
      .toContain('no worker takes attempts yet, and the run waits: start one in a copy of this project');
    await using _worker = startWorker({ queue: redis.url, cwd: project.path });
    expect((await finished).code).toBe(0);
  });

  it('of two runs on one server go to whoever asked, also with letters of others in the lists', async () => {
    await using models = await startModels(20);
    await using redis = await startRedis();
    using one = queueProject(models.url);
    using two = queueProject(models.url, { seed: 7 });
    await using _workers = await startCrowd({ queue: redis.url, cwd: one.path, count: 2 });
    const running = [one, two].map((project) => project.start(['train', '--quiet', '--queue', redis.url]));
    const client = redis.connect();
    const writing = setInterval(() => void writeNonsense(client), 200);
    const ended = await Promise.all(running.map(({ finished }) => finished));
    clearInterval(writing);
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    for (const [project, config] of [
      [one, {}],
      [two, { seed: 7 }],
    ] as const) {
      using alone = queueProject(models.url, config);
      expect((await alone.start(['train', '--quiet']).finished).code).toBe(0);
      expect(await project.facts()).toEqual(await alone.facts());
    }
  });

  // From here on most of the time is waiting: they do it together.
  it.concurrent('have their whole time each, however long the line is', async () => {
    await using redis = await startRedis();
    using project = ownProject({ rolloutTimeoutMs: 6_000, workers: 9 });
    const env = { WORK_MS: '5000' };
    await using worker = startWorker({ queue: redis.url, cwd: project.path, args: ['--concurrency', '1'], env });
    await worker.ready;
    const { code, stdout, stderr } = await startIn(project.path, EVAL, { SKILLOPT_QUEUE: redis.url }).finished;
    expect(code, stderr).toBe(0);
    expect(JSON.stringify(JSON.parse(stdout))).not.toContain('has not answered');
  });

  it.concurrent('of a worker that hangs but holds its lock end in time, and have no score', async () => {
    await using redis = await startRedis();
    using project = ownProject({ rolloutTimeoutMs: 2_000, workers: 9 });
    const { finished } = startIn(project.path, EVAL, { SKILLOPT_QUEUE: redis.url });
    await using hung = await hangingWorker(redis);
    const before = performance.now();
    await hung.begun;
    const { code, stdout } = await finished;
    expect(performance.now() - before).toBeLessThan(2_000 + 30_000 + 20_000); // the last part: a slow machine
    expect(code).toBe(4);
    expect(stdout).not.toMatch(/"hard":\s*[01]\b|"score":\s*[\d.]/);
    expect(hung.locks()).toBeGreaterThan(1);
  });

  it.concurrent('wait for another worker when all have died, however long that takes', async () => {
    await using redis = await startRedis();
    using project = ownProject({ rolloutTimeoutMs: 4_000, workers: 4 });
    const env = { WORK_MS: '3000' };
    await using first = startWorker({ queue: redis.url, cwd: project.path, env });
    await first.ready;
    const { child, finished } = startIn(project.path, EVAL, { SKILLOPT_QUEUE: redis.url });
    let said = '';
    child.stderr.on('data', (text: string) => {
      said += text;
    });
    await expect.poll(() => first.begun()).toBeGreaterThan(3);
    first.child.kill('SIGKILL');
    await expect
      .poll(() => said, { timeout: 60_000 })
      .toContain('no worker takes attempts any more, and the run waits');
    await sleep(25_000); // longer than the time of an attempt and its grace, counted from the kill
    await using _second = startWorker({ queue: redis.url, cwd: project.path, env });
    const { code, stderr } = await finished;
    expect(code, stderr).toBe(0);
  });

  it.concurrent('stop with an outage when the server is gone for good', async () => {
    await using redis = await startRedis();
    using project = ownProject();
    const { finished } = startIn(project.path, EVAL, { SKILLOPT_QUEUE: redis.url });
    await expect.poll(async () => (await redis.connect().keys('skillopt:here:run:*')).length).toBe(1);
    await redis.kill();
    const { code, stderr } = await finished;
    expect([code, stderr]).toEqual([4, expect.stringContaining('was away for 60 s')]);
    expect(stderr).toContain('is away; it is waited for, up to 60 s');
  });
});

describe.skipIf(lacksRedis())('a report', TIMEOUT, () => {
  it.each([
    ['eval', [...EVAL, '--split', 'val']],
    ['compare', ['compare', 'SKILL.md', 'other.md', '--json', '--no-cache']],
  ])('of %s is the same with workers', async (_, args) => {
    await using models = await startModels(5);
    await using redis = await startRedis();
    using project = queueProject(models.url, {}, { 'other.md': '# Other\n\nAnswer in one word.\n' });
    const ask = (...more: string[]) => project.start([...args, ...more]).finished;
    const alone = await ask();
    await using crowd = await startCrowd({ queue: redis.url, cwd: project.path, count: 2 });
    const together = await ask('--queue', redis.url);
    expect(alone.code, alone.stderr).toBe(0);
    expect(together).toEqual(alone);
    expect(crowd.workers[0]!.begun() + crowd.workers[1]!.begun()).toBeGreaterThan(10);
  });

  it('without --queue loads neither bullmq nor ioredis', async () => {
    await using llm = await startFakeLLM(() => 'A. 7');
    using project = queueProject(llm.baseURL);
    const ask = (env = {}) => project.start(EVAL, { NODE_OPTIONS: `--import=${LISTING}`, ...env }).finished;
    const { code, stderr } = await ask();
    expect(code).toBe(0);
    expect(stderr).toContain('/node_modules/commander/');
    expect(stderr).not.toMatch(/node_modules\/(bullmq|ioredis)\//);
    expect((await ask({ SKILLOPT_QUEUE: 'redis://127.0.0.1:1' })).stderr).toMatch(/node_modules\/ioredis\//);
  });
});

const HOOKS = `
import { writeSync } from 'node:fs';
export function load(url, context, next) { writeSync(2, 'loaded ' + url + '\\n'); return next(url, context); }
`;
const asUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
const LISTING = asUrl(`import { register } from 'node:module'; register(${JSON.stringify(asUrl(HOOKS))});`);

/** Letters that nobody sent, to whoever has a list. */
async function writeNonsense(client: ReturnType<TestRedis['connect']>): Promise<void> {
  const here = await client.keys('skillopt:here:*');
  for (const key of here) {
    const letters = ['null', '{', '{"type":"ask","id":"1","from":"x","kind":"call","body":{"attempt":1}}'];
    const result = { type: 'ask', id: String(Math.random()), from: 'x', kind: 'result', body: { attempt: -1 } };
    await client.rpush(`skillopt:post:${key.split(':').at(-1)}`, ...letters, JSON.stringify(result));
  }
}

/** Takes a job with its lock, which is renewed, says that it begins, and never answers. */
async function hangingWorker(redis: TestRedis) {
  const client = redis.connect();
  const names = () => client.keys('skillopt:rollouts-*:meta');
  await expect.poll(async () => (await names()).length).toBe(1);
  const [, name] = (await names())[0]!.split(':');
  let locks = 0;
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const worker = new Worker(
    name!,
    async ({ data: { run, attempt } }) => {
      const body = { attempt, worker: 'hung', known: [] };
      const letter = { type: 'ask', id: `begin-${attempt}`, from: 'hung', kind: 'begin', body };
      const here = { project: 'own', parts: {}, role: 'worker', address: 'hung', host: 'far', pid: 1 };
      await client.set('skillopt:here:worker:hung', JSON.stringify(here));
      await client.rpush(`skillopt:post:${run}`, JSON.stringify(letter));
      begin();
      await new Promise(() => {});
    },
    { connection: { port: redis.port, host: '127.0.0.1' }, prefix: 'skillopt', concurrency: 99, lockDuration: 4_000 },
  );
  worker.on('locksRenewed', () => {
    locks += 1;
  });
  return { begun, locks: () => locks, [Symbol.asyncDispose]: () => worker.close(true) };
}
