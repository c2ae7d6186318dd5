import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { startClone } from '../clone-cli.ts';
import { agentProject, taskRows } from './agent-project.ts';

vi.setConfig({ testTimeout: 200_000 });

const ALL = {
  ...{ timeoutMs: 7_000_000, maxTurns: 20, maxUsd: 0.000001, maxTokens: 90_000 },
  ...{ processes: 256, memoryMb: 2048, diskMb: 512 },
};

const tasksWith = (fields: object) =>
  taskRows(() => {
    const verify = { command: 'sh check.sh', from: 'tests' };
    return { prompt: 'Please count the teapots.', from: 'shop', verify, ...fields };
  });

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
    expect.stringContaining(
      `tasks.jsonl:1: "limits" has the unknown key maxUSDs — did you mean maxUsd?; it may have ${known} (and in 2 more rows)\n`,
    ),
  ]);
  expect(err.split('maxUSDs').length).toBe(2);
  project.write('tasks.jsonl', tasksWith({ limits: { maxTurns: 0 } }));
  expect((await project.run('estimate')).err).toContain('"limits.maxTurns" must be more than 0, got 0');
  project.configure({ target: { limits: { maxTurn: 1 } } });
  expect((await project.run('estimate')).err).toContain('limits: unknown key maxTurn — did you mean maxTurns?');
});

it('points at the line of a wrong limit of the target, and names the limits that there are', async () => {
  using project = agentProject({ baseURL: 'http://127.0.0.1:9' });
  project.configure({ target: { limits: { maxTurns: 1, maxTurn: 1 } } });
  const config = readFileSync(join(project.path, 'skillopt.config.json'), 'utf8');
  const lines = JSON.stringify(JSON.parse(config), null, 2);
  project.write('skillopt.config.json', lines);
  const line = lines.split('\n').findIndex((text) => text.includes('"maxTurn":')) + 1;
  for (const command of ['estimate', 'doctor']) {
    const { out, err } = await project.run(command);
    expect(out + err).toContain(`skillopt.config.json:${line}: the target (an agent) is not valid:`);
    expect(out + err).toContain(`target.limits may have: ${Object.keys(ALL).join(', ')}.`);
  }
});

it('says where a task is wrong from the folder that one is in', async () => {
  using project = agentProject({ baseURL: 'http://127.0.0.1:9' });
  project.write('tasks.jsonl', tasksWith({ limits: { maxUSDs: 1 } }));
  const { stderr } = await startClone(['estimate'], { cwd: project.path }).finished;
  expect(stderr).toContain('error: tasks.jsonl:1: ');
});

it('says which path of a task is none', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url });
  project.write('tasks.jsonl', tasksWith({ files: { '../a': 'text' } }));
  expect((await project.run('estimate')).err).toContain(
    '"files" has the key "../a": keys must be relative paths, such as src/main.py',
  );
});
