import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { agentProject } from './agent-project.ts';

vi.setConfig({ testTimeout: 200_000 });

it('uses attempts of an agent again after --fresh, as long as nothing that they depend on has changed', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url, config: { evalTest: false } });
  expect((await project.run('train', '--quiet')).code).toBe(0);
  const before = llm.calls();
  expect(before).toBeGreaterThan(0);
  expect((await project.run('train', '--quiet', '--fresh')).code).toBe(0);
  expect(llm.calls()).toBe(before);
  project.write('tests/check.sh', 'grep -q seven teapots.txt\n');
  expect((await project.run('train', '--quiet', '--fresh')).code).toBe(0);
  expect(llm.calls()).toBe(2 * before);
});

it('names the folder of a run that was named in what resumes it, from wherever it is asked', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url });
  const { out } = await project.run('train', '--quiet', '--ignore-estimate', '--run', 'runs/mine', '--max-calls', '60');
  expect(out).toMatch(/next: {2}npx skillopt train --run runs\/mine --max-calls \d+ {2}resumes it/);
  expect((await project.run('show', 'mine')).out).toContain('npx skillopt train --run runs/mine --max-calls');
});

it('refuses a limit in dollars for a model without a price before anything is begun, in doctor too', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url, target: { model: 'claude-sonet', limits: { maxUsd: 2 } } });
  const words = 'limits.maxUsd is 2, and the price of claude-sonet is not known';
  const trained = await project.run('train');
  expect([trained.code, trained.err]).toEqual([2, expect.stringContaining(words)]);
  const { code, out, err } = await project.run('doctor');
  expect([code, out + err]).toEqual([2, expect.stringContaining(words)]);
  expect(llm.calls()).toBe(0);
  project.configure({ prices: { 'claude-sonet': { input: 1, cachedInput: 0.1, output: 5 } }, evalTest: false });
  const priced = await project.run('train', '--quiet');
  expect(priced.code, priced.err).toBe(0);
});

it('goes on with doctor where a task names a folder that is not there', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  const verify = { command: 'true', from: 'nowhere' };
  const tasks = Array.from({ length: 8 }, (_, at) => JSON.stringify({ id: `t${at}`, prompt: 'Do it.', verify }));
  using project = agentProject({ baseURL: llm.url, files: { 'tasks.jsonl': tasks.join('\n') } });
  const { out, err } = await project.run('doctor');
  expect(out + err).toMatch(/✗ tasks +a task names the folder nowhere/);
  expect(out + err).toMatch(/✓ sandbox/);
});
