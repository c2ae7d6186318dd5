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
  const { out } = await project.run('train', '--quiet', '--ignore-estimate', '--run', 'runs/mine', '--max-calls', '52');
  expect(out).toMatch(/next: {2}npx skillopt train --run runs\/mine --max-calls \d+ {2}resumes it/);
  expect((await project.run('show', 'mine')).out).toContain('npx skillopt train --run runs/mine --max-calls');
});
