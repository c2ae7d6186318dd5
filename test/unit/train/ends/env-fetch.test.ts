import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { evaluateSkill, type SkillEnv } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { expect, it } from 'vitest';

const items = ['a', 'b', 'c'].map((id) => ({ id }));

/** Scores by what a server of the user's says. */
const envAt = (url: string): SkillEnv => ({
  name: 'own',
  getItems: () => items,
  async rolloutOne() {
    const { ok } = await fetch(url);
    return { hard: Number(ok), soft: Number(ok) };
  },
});

const scoreAt = (url: string) =>
  evaluateSkill({ env: envAt(url), target: scripted('m', () => 'hi'), skill: '# Skill', split: 'test' });

it('an environment whose server is not there fails with its address and the cause', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const failed = scoreAt(`http://127.0.0.1:${port}/score`);
  await expect(failed).rejects.toThrow(`fetch failed: connect ECONNREFUSED 127.0.0.1:${port}`);
});

it('an environment whose server hangs up fails with its address and the cause', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.destroy())).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await expect(scoreAt(`http://127.0.0.1:${port}/score`)).rejects.toThrow(
    /fetch failed: .*\(127\.0\.0\.1:\d+\)|ECONNRESET/,
  );
  server.close();
});
