import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { agentProject } from './agent-project.ts';

vi.setConfig({ testTimeout: 200_000 });

const ALL = {
  ...{ timeoutMs: 7_000_000, maxTurns: 20, maxUsd: 0.000001, maxTokens: 90_000 },
  ...{ processes: 256, memoryMb: 2048, diskMb: 512 },
};

const tasksWith = (fields: object) =>
  Array.from({ length: 10 }, (_, index) => {
    const verify = { command: 'sh check.sh', from: 'tests' };
    return JSON.stringify({ id: `t${index}`, prompt: 'Please count the teapots.', from: 'shop', verify, ...fields });
  }).join('\n');

it('lets a task say every limit that a target can say, and keeps to it', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url, target: { limits: { maxUsd: 5 } } });
  project.write('tasks.jsonl', tasksWith({ limits: ALL }));
  const estimate = JSON.parse((await project.run('estimate', '--json')).out);
  expect(estimate.agent.mostUsd).toBe(ALL.maxUsd * estimate.agent.rollouts.high);
  const { code, out } = await project.run('eval', '--skill', 'teapots', '--json');
  // One call costs more than a task may: nobody got to a second.
  expect([code, llm.calls()]).toEqual([0, JSON.parse(out).tasks.length]);
});

it('names the limits that there are when a task has another, and the one that was probably meant', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url });
  project.write('tasks.jsonl', tasksWith({ limits: { maxUSDs: 1 } }));
  const known = Object.keys(ALL).join(', ');
  const { code, err } = await project.run('estimate');
  expect([code, err]).toEqual([
    2,
    expect.stringContaining(`"limits" has the unknown key maxUSDs — did you mean maxUsd?; it may have ${known}`),
  ]);
  project.write('tasks.jsonl', tasksWith({ limits: { maxTurns: 0 } }));
  expect((await project.run('estimate')).err).toContain('"limits.maxTurns" must be more than 0, got 0');
  project.configure({ target: { limits: { maxTurn: 1 } } });
  expect((await project.run('estimate')).err).toContain('limits: unknown key maxTurn — did you mean maxTurns?');
});

it('says which path of a task is none', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url });
  project.write('tasks.jsonl', tasksWith({ files: { '../a': 'text' } }));
  expect((await project.run('estimate')).err).toContain(
    '"files" has the key "../a": keys must be relative paths, such as src/main.py',
  );
});
