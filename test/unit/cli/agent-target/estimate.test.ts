import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { agentProject } from './agent-project.ts';

vi.setConfig({ testTimeout: 200_000 });

it('counts the attempts of an agent, and learns from a run what one costs', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url });
  const before = await project.inTerminal(80, 'estimate');
  const said = before.out.replaceAll('\n', ' ');
  expect(said).toMatch(
    /about \d+ attempts of the agent \([\d–]+\), whose cost is not known before one was made; besides/,
  );
  expect(said).toContain('skillopt try');
  expect(before.out.split('\n').every((line) => line.length <= 80)).toBe(true);
  expect(llm.calls()).toBe(0);

  const trained = await project.run('train');
  expect(trained.err).toContain('attempts of the agent');
  const { input, output } = llm.usage();
  const attempts = llm.requests.filter(({ text }) => JSON.parse(text).messages.length === 1).length;

  project.configure({ target: { limits: { maxUsd: 0.5 } } });
  const { agent } = JSON.parse((await project.run('estimate', '--json')).out);
  expect(agent).toMatchObject({ mostUsd: 0.5 * agent.rollouts.high, perRollout: { usd: expect.any(Number) } });
  expect(agent.likelyRollouts).toBeLessThanOrEqual(agent.rollouts.high);
  expect(agent.perRollout.tokens).toBe(Math.round((input + output) / attempts));
  const after = (await project.run('estimate')).out.replaceAll('\n', ' ');
  expect(after).toMatch(/each [\d,]+ tokens and \$[\d.]+ as before: \$[\d.]+, at most \$[\d.]+ by limits\.maxUsd/);
});
