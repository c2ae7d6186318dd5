import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';
import { lacksRedis, startRedis } from '../../support/workers/start-redis.ts';
import { startCrowd, startWorker } from '../../support/workers/worker-crowd.ts';
import { agentProject, shopTask, taskRows } from '../cli/agent-target/agent-project.ts';
import { startClone } from '../cli/clone-cli.ts';
import { factsOf } from './queue-run.ts';

const files = { 'tasks.jsonl': taskRows(shopTask, 4) };
const TRAIN = ['train', '--quiet', '--ignore-estimate'];

describe.skipIf(lacksRedis())('an agent at work on workers', { timeout: 400_000 }, () => {
  it('has the facts, the calls and the costs that it has in one process', async () => {
    await using llm = await startFakeAgentLLM({ policy: 'follow' });
    await using redis = await startRedis();
    const config = { workers: 4, maxCostUsd: 50 };
    using alone = agentProject({ baseURL: llm.url, files, config });
    const one = await startClone(TRAIN, { cwd: alone.path }).finished;
    expect([0, 1], one.stderr).toContain(one.code);
    const calls = llm.calls();
    using project = agentProject({ baseURL: llm.url, files, config });
    await using crowd = await startCrowd({ queue: redis.url, cwd: project.path, count: 2 });
    const { code, stderr } = await startClone([...TRAIN, '--queue', redis.url], { cwd: project.path }).finished;
    expect([code, stderr]).toEqual([one.code, one.stderr]);
    expect(llm.calls() - calls).toBe(calls);
    const counts = async (path: string) =>
      Object.entries((await factsOf(join(path, 'runs/run'))).usage).filter(([name]) =>
        / (replies|rollouts)$/.test(name),
      );
    expect(await counts(project.path)).toEqual(await counts(alone.path)); // tokens count the names of folders, too
    expect(crowd.workers.map((worker) => worker.begun() > 0)).toEqual([true, true]);
  });

  it.each([0, 4])(
    'never asks its model more often than maxCalls allows, with %i workers killed on the way',
    async (kills) => {
      await using llm = await startFakeAgentLLM({ policy: 'follow' });
      await using redis = await startRedis();
      using project = agentProject({
        baseURL: llm.url,
        files,
        config: { workers: 4, maxCalls: 20, workspace: { limits: { maxTurns: 4 } } },
      });
      await using crowd = await startCrowd({ queue: redis.url, cwd: project.path, count: 2 });
      const { finished } = startClone([...TRAIN, '--queue', redis.url], { cwd: project.path });
      await crowd.killSome(kills, { seed: 3, until: finished });
      const { code, stderr } = await finished;
      expect([code, stderr]).toEqual([3, expect.stringContaining('--max-calls is reached')]);
      expect(llm.calls()).toBeGreaterThan(3);
      expect(llm.calls()).toBeLessThanOrEqual(20);
    },
  );

  it('is refused where its CLI has another version, and both sides name that', async () => {
    await using llm = await startFakeAgentLLM({ policy: 'follow' });
    await using redis = await startRedis();
    using project = agentProject({ baseURL: llm.url, files });
    using other = tempFolder();
    cpSync(project.path, other.path, { recursive: true });
    const file = join(other.path, 'skillopt.config.json');
    const config = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...config, target: { ...config.target, path: project.newerClaude() } }));
    await using wrong = startWorker({ queue: redis.url, cwd: other.path });
    await wrong.ready;
    const { child, finished } = startClone([...TRAIN, '--queue', redis.url], { cwd: project.path });
    let said = '';
    child.stderr.on('data', (text: string) => {
      said += text;
    });
    const named = 'agent, its version, model or sandbox';
    await expect.poll(() => wrong.stderr()).toContain(`Different: ${named}\n`);
    await expect.poll(() => said).toContain(`1 worker of this project would score differently (${named})`);
    expect([wrong.begun(), llm.calls()]).toEqual([0, 0]);
    child.kill('SIGKILL');
    await finished;
  });
});
