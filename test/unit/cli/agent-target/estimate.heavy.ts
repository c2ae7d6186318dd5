import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { expectEvery } from '../../../support/expect-every.ts';
import { agentProject } from './agent-project.ts';

vi.setConfig({ testTimeout: 200_000 });

it('counts the attempts of an agent, and learns from a run what one costs', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url });
  const before = await project.inTerminal(80, 'estimate');
  const said = before.out.replaceAll('\n', ' ');
  expect(said).toMatch(
    /^estimate: about \$[\d.]+: about \d+ attempts of the agent \([\d–]+\) with about \d+ calls \([\d,–]+\), each [\d.,k]+ tokens and \$[\d.]+, as is usual, until one has run: \$[\d.]+; besides/,
  );
  expect(said).toContain('skillopt try');
  expectEvery(before.out.split('\n'), (line) => line.length <= 80);
  const usual = JSON.parse((await project.run('estimate', '--json')).out).agent.likelyRollouts;
  expect(llm.calls()).toBe(0);

  const trained = await project.run('train', '--max-calls', '200');
  expect(trained.err).toContain('attempts of the agent');
  expect(trained.err).toMatch(/^ {2}an attempt costs \$[\d.]+: \d+ of them about \$[\d.]+$/m);
  expect(trained.err).toMatch(/this run may need \d+–[\d,]+ calls; it stops at --max-calls 200/);
  const { input, output } = llm.usage();
  const attempts = llm.requests.filter(({ text }) => JSON.parse(text).messages.length === 1).length;

  project.configure({ target: { limits: { maxUsd: 0.5 } } });
  const { agent, likely, totals } = JSON.parse((await project.run('estimate', '--json')).out);
  expect(agent).toMatchObject({ mostUsd: 0.5 * agent.rollouts.high, perRollout: { usd: expect.any(Number) } });
  expect(agent.likelyRollouts).toBeLessThanOrEqual(agent.rollouts.high);
  expect(Math.abs(agent.likelyRollouts - (usual + attempts) / 2)).toBeLessThan(1); // one run says as much as what is usual
  expect(agent.perRollout.calls).toBe(llm.calls() / attempts);
  for (const [value, { low, high }] of [
    [agent.likelyCalls, agent.calls],
    [likely.calls, totals.calls],
    [likely.tokens, totals.tokens],
  ])
    expect([value >= low, value <= high]).toEqual([true, true]);
  expect(agent.perRollout.tokens).toBe(Math.round((input + output) / attempts));
  const after = (await project.run('estimate')).out.replaceAll('\n', ' ');
  expect(after).toMatch(
    /estimate: about \$[\d.]+, at most \$[\d.]+: .* with about \d+ calls \(\d+–[\d,]+\), each [\d,]+ tokens and \$[\d.]+, as before: \$[\d.]+, at most \$[\d.]+ by limits\.maxUsd and a last call each/,
  );
});

it.each([
  ['workspace', {}, 50, 1, 0],
  ['workspace', { workspace: { limits: { maxTurns: 7 } } }, 7, 1, 0],
  ['trigger', { env: 'trigger', tasks: 'queries.jsonl', workspace: { runs: 3 } }, 8, 3, 2],
])('refuses a limit of calls that the attempts alone pass: %s, %j', async (_env, config, turns, runs, first) => {
  const queries = Array.from({ length: 20 }, (_, at) =>
    JSON.stringify({ query: `See ${at}.`, should_trigger: at < 10 }),
  );
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url, config, files: { 'queries.jsonl': queries.join('\n') } });
  const { agent, totals } = JSON.parse((await project.run('estimate', '--json')).out);
  const { low, high } = agent.rollouts;
  expect(agent.calls).toEqual({ low: first + low * runs, high: (first + high * runs) * turns });
  const needed = Math.max(totals.calls.low + agent.calls.low, turns + 1); // below that, not one attempt begins
  const { code, err } = await project.run('train', '--max-calls', String(needed - 1));
  expect([code, err]).toEqual([
    3,
    expect.stringMatching(new RegExp(`at least ${needed} calls.*, and --max-calls is ${needed - 1} calls`)),
  ]);
  expect(llm.calls()).toBe(0);
});

it('refuses a limit below what one attempt may take, before there is a run, and learns from one that is not finished', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url, target: { limits: { maxUsd: 0.5 } } });
  const { code, err } = await project.run('train', '--max-calls', '4');
  const why =
    'at least 51 calls (one attempt of the agent may take so many: limits.maxTurns), and --max-calls is 4 calls';
  expect([code, err, llm.calls()]).toEqual([3, expect.stringContaining(why), 0]);
  expect(existsSync(join(project.path, 'runs/run'))).toBe(false);
  expect((await project.run('train', '--max-calls', '56')).code, 'it stops after some attempts').toBe(3);
  const { agent, learnedFrom } = JSON.parse((await project.run('estimate', '--json')).out);
  expect([learnedFrom, agent.isMeasured, agent.perRollout.calls > 1, agent.likelyCalls > 1]).toEqual([
    ...[0, true, true, true],
  ]);
  expect((await project.run('estimate')).out.replaceAll('\n', ' ')).toMatch(
    /, as before: \$[\d.]+, at most \$[\d.]+ by limits\.maxUsd/,
  );
});

it('says of other limits that nobody knows how far an agent goes before it has worked once', async () => {
  await using llm = await startFakeAgentLLM({ script: [] });
  using project = agentProject({ baseURL: llm.url, config: { maxMinutes: 0.001 } });
  const { err } = await project.run('train', '--max-total-tokens', '9000000');
  expect(err).toMatch(/this run may need [\d,]+ or more tokens; it stops at --max-total-tokens 9\.0M/);
});

it('says before an eval what it likely costs, and the most: for an agent too', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url, target: { limits: { maxUsd: 3.8 } } });
  const { code, err } = await project.run('eval', '--skill', 'teapots', '--split', 'all');
  expect(code, err).toBe(0);
  const [, likely, most] =
    /^estimate: about \$([\d.]+), at most \$([\d.]+): about 3 attempts of the agent \(0–3\)/m.exec(err)!;
  expect(err).not.toContain('besides');
  expect([Number(likely) > 0, Number(likely) < Number(most) / 5, Number(most)]).toEqual([true, true, 11.4]);
});
