import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createStageDeps, runRollout } from 'skillopt';
import { scripted } from 'skillopt/models';
import { WorkspaceTask, workspaceEnv } from 'skillopt/runners';
import { startFakeLLM } from 'skillopt/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { isMissing } from '../../support/machine.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { sandbox, shellAgent, skillThatDoes } from './shell-agent.ts';

let port: number;
const asked: string[] = [];
const server = createServer(({ url, headers }, reply) => {
  asked.push(`${url} ${headers.host}`);
  reply.end('reached\n');
});
beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => void server.close());

const lacks = isMissing('bubblewrap', sandbox.id !== 'none') || isMissing('curl');

/** The verdict on work whose verifier runs `curl` with these arguments, through what the variables name. */
async function verify(curl: string, verifierHosts: readonly string[]) {
  const command = `curl -sS --noproxy '' -o got ${curl} && grep -q reached got`;
  const item = WorkspaceTask.parse({ id: 'one', prompt: 'Do it.', verify: command });
  const env = workspaceEnv({ name: 'shop', items: { val: [item] }, folder: '/nonexistent', sandbox, verifierHosts });
  const none = scripted('none', () => ({ text: '' }));
  const deps = createStageDeps({ target: none, optimizer: none, agent: shellAgent().agent, maxErroredShare: 1 });
  const [result] = await runRollout({ env, skill: skillThatDoes('true'), items: [item] }, deps);
  const trial = await Promise.resolve(env.tryScoring!()).catch((error: unknown) => error);
  return { result: result!, trial, version: env.version };
}

describe.skipIf(lacks)('verifierHosts', () => {
  it.each(['', '--proxytunnel'])(
    'lets a verifier reach a host that it names, and says so in the version: %s',
    async (way) => {
      const { result, trial, version } = await verify(`${way} http://127.0.0.1:${port}/a`, [`127.0.0.1:${port}`]);
      expect(result).toMatchObject({ hard: 1 });
      expect(trial).toMatchObject({ passesAll: true });
      expect(version).toContain(`reaching 127.0.0.1:${port}`);
      expect(asked.at(-1)).toBe(`/a 127.0.0.1:${port}`);
    },
  );

  it.each([
    ['no host', '--proxytunnel', []],
    ['another host', '--proxytunnel', ['pypi.org']],
    ['the host on the ports of the web', '--proxytunnel', ['127.0.0.1']],
    ['hosts below it', '', ['*.0.0.1:1']],
  ])('lets nothing else through: %s', async (_, way, hosts) => {
    const before = asked.length;
    const { result, trial } = await verify(`${way} http://127.0.0.1:${port}/b`, hosts);
    expect([result.hard, asked.length]).toEqual([0, before]);
    if (hosts.length === 0 || way === '') return;
    expect(trial).toMatchObject({ code: 'ENV_FAILED', hint: expect.stringContaining('verifierHosts: [pypi.org') });
  });

  it('reaches nothing without the proxy', async () => {
    const before = asked.length;
    const { result } = await verify(`--noproxy '*' http://127.0.0.1:${port}/c`, [`127.0.0.1:${port}`]);
    expect([result.hard, asked.length]).toEqual([0, before]);
  });

  it.each([
    ['named', 1],
    ['not named', 0],
  ])('lets the command of a judge reach a host that is %s in the project file', async (which, hard) => {
    await using llm = await startFakeLLM(['An answer.']);
    const command = `curl -sS --noproxy '' -o got http://127.0.0.1:${port}/judge && grep -q reached got`;
    const task = { id: 'a', question: 'What?', split: 'test', judge: { kind: 'command', command } };
    const hosts = which === 'named' ? `127.0.0.1:${port}` : 'pypi.org';
    using folder = tempFolder({
      'SKILL.md': '# Skill\n',
      'tasks.jsonl': JSON.stringify(task),
      'skillopt.config.yaml': `tasks: tasks.jsonl\nskill: SKILL.md\nverifierHosts: ['${hosts}']\ntarget: compatible:m@${llm.baseURL}\noptimizer: simulated\n`,
    });
    const io = captureIo({ cwd: folder.path });
    const code = await runCli(['eval', '--skill', 'SKILL.md', '--json', '--force'], io);
    expect([code, JSON.parse(io.out()).tasks?.[0]?.hard], io.err()).toEqual([0, hard]);
  });
});
