import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import type { Check } from '../../../../src/app/index.ts';
import { runCli } from '../../../../src/cli/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { lacksRedis, startRedis } from '../../../support/workers/start-redis.ts';

const ENV = `import { hint } from './hint.mjs';
const tasks = (split) => [{ id: split + hint }];
export default ({ defineEnv, z }) => defineEnv({
  name: 'marks', schema: z.object({ id: z.string() }), initialSkill: '# Skill',
  items: { train: tasks('train'), val: tasks('val'), test: tasks('test') },
  rolloutOne: async () => ({ hard: 1, soft: 1 }),
});`;

/** A copy of the project on some machine. `hint` is in a file that the environment imports. */
function copyOfProject(hint = '') {
  const config = 'env: ./env.mjs\ntarget: simulated\noptimizer: simulated\n';
  const files = { 'skillopt.config.yaml': config, 'env.mjs': ENV, 'hint.mjs': `export const hint = '${hint}';` };
  const folder = tempFolder(files);
  return {
    ...folder,
    async doctor(queue: string, env = {}) {
      const io = captureIo({ cwd: folder.path, env });
      const code = await runCli(['doctor', '--json', ...(queue === '' ? [] : ['--queue', queue])], io);
      const { checks } = JSON.parse(io.out()) as { checks: Check[] };
      return { code, out: io.out(), ...Object.fromEntries(checks.map((one) => [one.name, one])) } as {
        readonly [name in 'queue' | 'workers']?: Check;
      } & { readonly code: number; readonly out: string };
    },
    /** A worker in this copy, once it is waiting. `await using` ends it. */
    async worker(queue: string) {
      const io = captureIo({ cwd: folder.path, env: { SKILLOPT_QUEUE: queue } });
      const ended = runCli(['worker', '--concurrency', '3', '--drain', '0'], io);
      while (!(io.out() + io.err()).includes('waiting for attempts')) await new Promise((done) => setTimeout(done, 20));
      return {
        async [Symbol.asyncDispose]() {
          io.emit('SIGTERM');
          await ended;
        },
      };
    },
  };
}

it('asks for no queue unless one is named', async () => {
  using project = copyOfProject();
  const { code, queue, workers } = await project.doctor('');
  expect([code, queue, workers]).toEqual([0, undefined, undefined]);
});

it.skipIf(lacksRedis())('names the server, and the workers that are ready', async () => {
  await using redis = await startRedis();
  using project = copyOfProject();
  const before = await project.doctor('', { SKILLOPT_QUEUE: redis.url });
  expect(before.code).toBe(0);
  expect(before.queue).toMatchObject({
    isOk: true,
    detail: expect.stringMatching(/^redis:\/\/127\.0\.0\.1:\d+ answered in \d+ ms: (Redis|Valkey) \d+\.\d+\.\d+$/),
  });
  expect(before.workers).toMatchObject({
    isOk: true,
    detail: expect.stringContaining('no worker for this project yet'),
  });

  using copy = copyOfProject();
  await using _ = await copy.worker(redis.url);
  const { code, workers } = await project.doctor(redis.url);
  expect(code).toBe(0);
  expect(workers!.detail).toMatch(/^1 worker ready for this project\n.+ \(process \d+\): 0 of 3 places at work$/);
});

it.skipIf(lacksRedis())('fails by a worker with another copy, and names the file that differs', async () => {
  await using redis = await startRedis();
  using project = copyOfProject();
  using changed = copyOfProject('-changed');
  await using _ = await changed.worker(redis.url);
  const { code, workers } = await project.doctor(redis.url);
  expect(code).toBe(2);
  expect(workers).toMatchObject({ isOk: false, remedy: expect.stringContaining('same copy') });
  expect(workers!.detail).toMatch(
    /^1 of 1 worker would score differently: no attempt goes there\n.*different: .*hint\.mjs/,
  );
});

it.skipIf(lacksRedis())('fails by a server that forgets, and warns of one without a log', async () => {
  await using redis = await startRedis(() => ['--maxmemory-policy', 'allkeys-lru', '--appendonly', 'no']);
  using project = copyOfProject();
  const forgetful = await project.doctor(redis.url);
  expect([forgetful.code, forgetful.queue!.isOk]).toEqual([2, false]);
  expect(forgetful.queue!.detail).toContain('maxmemory-policy is allkeys-lru');
  await redis.connect().config('SET', 'maxmemory-policy', 'noeviction');
  const { code, queue } = await project.doctor(redis.url);
  expect([code, queue!.isOk]).toEqual([0, true]);
  expect(queue!.detail).toContain('appendonly no');
});

it.skipIf(lacksRedis())(
  'fails by an account with too few rights; the advised rights are enough, also for a worker',
  async () => {
    await using redis = await startRedis();
    const admin = redis.connect();
    const account = redis.url.replace('//', '//trainer:s3cret@');
    await admin.call('ACL', 'SETUSER', 'trainer', 'on', '>s3cret', '~other:*', '+@all', '-@dangerous', '+info');
    using project = copyOfProject();
    const { code, queue, out } = await project.doctor(account);
    expect([code, queue!.isOk]).toEqual([2, false]);
    expect(queue!.detail).toContain('its account may not do what runs and workers do');
    expect(queue!.remedy).toContain('~skillopt:*');
    expect(out).not.toContain('s3cret');

    const [, rights = ''] = queue!.remedy!.match(/ACL SETUSER NAME (.*)/) ?? [];
    await admin.call('ACL', 'SETUSER', 'trainer', 'reset', 'on', '>s3cret', ...rights.split(' '));
    await using _ = await project.worker(account);
    expect((await project.doctor(account)).workers!.detail).toContain('1 worker ready');

    const wrong = await project.doctor(account.replace('s3cret', 'guessed'));
    expect(wrong.queue).toMatchObject({
      isOk: false,
      detail: expect.stringContaining('WRONGPASS'),
    });
  },
);

it('fails with the reason when the server is away or the address is none', async () => {
  using project = copyOfProject();
  const nobody = createServer().listen(0, '127.0.0.1');
  await once(nobody, 'listening');
  const { port } = nobody.address() as { port: number };
  nobody.close();
  const { code, queue, workers } = await project.doctor(`redis://127.0.0.1:${port}`);
  expect([code, queue!.isOk, workers]).toEqual([2, false, undefined]);
  expect(queue!.detail).toContain('ECONNREFUSED');
  const unknown = await project.doctor('http://127.0.0.1');
  expect(unknown.queue!.detail).toContain('expected the address of a queue');
});
