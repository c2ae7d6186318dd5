import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';
import { lacksRedis, startRedis } from '../../support/workers/start-redis.ts';
import { startWorker } from '../../support/workers/worker-crowd.ts';
import { EVAL, queueProject, startModels } from './queue-run.ts';

/** What docs/workers.md gives an account. */
const RIGHTS = readRights();

describe.skipIf(lacksRedis())('what the server of a queue learns', { timeout: 200_000 }, () => {
  it('are no keys, no headers and no paths of a user', async () => {
    await using models = await startModels(10);
    await using redis = await startRedis();
    using project = queueProject(models.url, { workers: 4 });
    const lines: string[] = [];
    const monitor = await redis.connect().monitor();
    monitor.on('monitor', (_, args: string[]) => lines.push(args.join(' ')));
    const keys = { OPENAI_API_KEY: 'sk-dummy-of-the-worker-0123456789', ANTHROPIC_API_KEY: 'sk-ant-dummy-0123456789' };
    await using worker = startWorker({ queue: redis.url, cwd: project.path, env: keys });
    await worker.ready;
    const { code, stderr } = await project.start(['train', '--quiet', '--queue', redis.url], keys).finished;
    expect(code, stderr).toBe(0);
    monitor.disconnect();
    const seen = lines.join('\n');
    expect(seen).toContain('"kind":"call"'); // it saw what went through
    for (const secret of ['dummy', 'FAR_KEY', 'authorization', 'Bearer', 'x-api-key', project.path, '/home/', '/root'])
      expect(seen.toLowerCase().includes(secret.toLowerCase()), secret).toBe(false);
  });
});

describe.skipIf(lacksRedis())('a server with TLS and accounts', { timeout: 200_000 }, () => {
  it('serves an account with the rights that the docs name, and not one without them', async () => {
    using made = certificate();
    const tls = ['--tls-cert-file', made.cert, '--tls-key-file', made.key, '--tls-auth-clients', 'no'];
    const users = [`--user skillopt on >word ${RIGHTS}`, '--user stranger on >word ~other:* +@all'];
    await using redis = await startRedis((port) => [
      '--port',
      '0',
      '--tls-port',
      String(port),
      ...tls,
      ...users.join(' ').split(' '),
    ]);
    const url = (user: string) => `rediss://${user}:word@127.0.0.1:${redis.port}`;
    const trusting = { NODE_EXTRA_CA_CERTS: made.cert };
    await using models = await startModels(10);
    using project = queueProject(models.url, { workers: 4 });
    await using one = startWorker({ queue: url('skillopt'), cwd: project.path, env: trusting });
    await using two = startWorker({ queue: url('skillopt'), cwd: project.path, env: trusting });
    await Promise.all([one.ready, two.ready]);
    const { finished } = project.start(['train', '--quiet', '--queue', url('skillopt')], trusting);
    await expect.poll(() => one.begun()).toBeGreaterThan(3);
    one.child.kill('SIGKILL'); // its jobs are taken back with other commands
    const { code, stderr } = await finished;
    expect(code, stderr).toBe(0);
    expect(two.begun()).toBeGreaterThan(3);

    const unknown = await project.start([...EVAL, '--queue', url('skillopt')]).finished;
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringMatching(/cannot be used: .*certificate/)]);
    const stranger = await project.start([...EVAL, '--queue', url('stranger')], trusting).finished;
    expect([stranger.code, stranger.stderr]).toEqual([4, expect.stringMatching(/its account may not do .*NOPERM/)]);
  });
});

function certificate() {
  const folder = tempFolder();
  const [cert, key] = [join(folder.path, 'cert.pem'), join(folder.path, 'key.pem')];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ],
    { stdio: 'ignore' },
  );
  return { ...folder, cert, key };
}

/** The rights behind `ACL SETUSER … >PASSWORD`. */
function readRights(): string {
  const [, rights] = /ACL SETUSER \S+ on >\S+ (.*)/.exec(readFileSync('docs/workers.md', 'utf8'))!;
  return rights!;
}
