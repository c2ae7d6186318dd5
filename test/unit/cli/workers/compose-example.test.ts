import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCli } from '../../../../src/cli/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

type Service = { command: string[]; environment: Record<string, string>; stop_grace_period?: string };
const { services } = parse(readFileSync('examples/workers/compose.yaml', 'utf8'), { merge: true }) as {
  services: Record<'redis' | 'worker' | 'trainer', Service>;
};

/** What the command says in an empty folder, where none can do anything. */
async function said(command: readonly string[]): Promise<string> {
  using folder = tempFolder();
  const io = captureIo({ cwd: folder.path });
  await runCli(command, io);
  return io.out() + io.err();
}

it.each(['worker', 'trainer'] as const)('compose.yaml starts the %s by a command that there is', async (name) => {
  const { command, environment } = services[name];
  expect(environment.SKILLOPT_QUEUE).toMatch(/^redis:\/\/:\$\{REDIS_PASSWORD\}@redis:6379$/);
  expect(await said(command)).not.toMatch(/unknown|invalid|argument/i);
  expect(await said([...command, '--no-such-flag'])).toContain('unknown option');
});

it('compose.yaml gives keys to the trainer alone, a worker time to drain, and the server no leave to forget', () => {
  expect(Object.keys(services.worker.environment)).toEqual(['SKILLOPT_QUEUE']);
  const { command, stop_grace_period: grace = '' } = services.worker;
  expect(Number.parseInt(grace, 10)).toBeGreaterThan(Number(command[command.indexOf('--drain') + 1]));
  expect(services.redis.command.join(' ')).toMatch(/--appendonly yes --maxmemory-policy noeviction --requirepass/);
});
