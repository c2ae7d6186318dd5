import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import { startModelGateway, throughForwarder } from 'skillopt/models';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import { tempFolder } from '../../../support/temp-folder.ts';

const node = process.execPath;

it('makes the socket of a gateway a port for a program, and ends as the program does', async () => {
  using folder = tempFolder();
  await using llm = await startFakeAgentLLM({ script: [] });
  const socket = join(folder.path, 'gateway.sock');
  await using gateway = await startModelGateway({ upstream: { baseURL: llm.url }, listen: { socket } });
  const port = await freePort();
  const script = `
    const body = JSON.stringify({ stream: true, messages: [{ role: 'user', content: 'x'.repeat(200_000) }] });
    const ask = () => fetch('http://127.0.0.1:${port}/v1/chat/completions', { method: 'POST', body });
    const replies = await Promise.all([ask(), ask(), ask()]);
    for (const reply of replies) process.stdout.write((await reply.text()).includes('[DONE]') ? 'whole ' : 'torn ');
    process.exit(7);`;
  const { program, args } = throughForwarder({
    socket,
    port,
    program: node,
    args: ['--input-type=module', '-e', script],
  });
  const ran = await execa(program, args, { reject: false });
  expect(ran).toMatchObject({ exitCode: 7, stdout: 'whole whole whole ', stderr: '' });
  expect(gateway.usage()).toEqual(llm.usage());
  expect(gateway.url).toBeUndefined();
});

it('passes signals on', async () => {
  const script = "trap 'echo heard; exit 9' TERM; echo up; while :; do sleep 0.05; done";
  const port = await freePort();
  const { program, args } = throughForwarder({ socket: '/nowhere', port, program: 'sh', args: ['-c', script] });
  const running = execa(program, args, { reject: false });
  await Promise.race([once(running.stdout, 'data'), running]); // it may have ended before it printed
  running.kill('SIGTERM');
  expect(await running).toMatchObject({ exitCode: 9, stdout: 'up\nheard' });
});

it.each([
  ['a program that is not there', ['--', '/no/such/program'], 127, 'cannot start /no/such/program'],
  ['no program', [], 64, 'usage: '],
])('says what is wrong: %s', async (_, rest, exitCode, words) => {
  const { args } = throughForwarder({ socket: '/nowhere', port: await freePort(), program: 'x', args: [] });
  const ran = await execa(node, [...args.slice(0, 3), ...rest], { reject: false });
  expect(ran).toMatchObject({ exitCode, stderr: expect.stringContaining(words) });
});

it('a program that was killed ends it as a shell would say', async () => {
  const options = { socket: '/nowhere', port: await freePort(), program: 'sh', args: ['-c', 'kill -9 $$'] };
  const { program, args } = throughForwarder(options);
  expect(await execa(program, args, { reject: false })).toMatchObject({ exitCode: 137 });
});

/** Below the ports that systems give to whoever asks for any: another test must not take it before the forwarder does. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
