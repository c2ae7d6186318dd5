import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { agentProject } from './agent-project.ts';

vi.setConfig({ testTimeout: 200_000 });

it('says in how many attempts the skill was never loaded, in eval and after training', async () => {
  await using llm = await startFakeAgentLLM({ script: [] }); // an agent that says it is done
  using project = agentProject({ baseURL: llm.url });
  const told = (count: RegExp) =>
    new RegExp(`The skill was not loaded in ${count.source}: they say nothing of its body\\.`);
  const text = await project.run('eval', '--skill', 'teapots');
  expect(text.out.replaceAll('\n', ' ')).toMatch(told(/3 of 3 attempts/));
  expect(text.out.replaceAll('\n', ' ')).toContain('parts: [description]');
  const { out } = await project.run('eval', '--skill', 'teapots', '--json');
  expect(JSON.parse(out)).toMatchObject({ n: 3, skillUnread: 3 });
  const trained = await project.run('train', '--quiet');
  expect([trained.code, trained.err]).toEqual([0, expect.stringMatching(told(/(\d+) of \1 attempts/))]);
});

it('says nothing where each attempt loaded it', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url });
  const { out } = await project.run('eval', '--skill', 'teapots');
  expect(out).not.toContain('not loaded');
});
