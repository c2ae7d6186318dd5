import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { addUsage, noStageUsage } from '../../../../src/core/run/index.ts';
import { readJournal } from '../../../../src/stores/run/journal.ts';
import { startProvider } from '../../models/gateway/gateway-calls.ts';
import { agentProject, shopTask, taskRows } from './agent-project.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Stands before a provider, counts what it receives, and refuses every nth request with a status. */
async function startFlaky(url: string, { every, status }: { every: number; status: number }) {
  const far = { received: 0 };
  const provider = await startProvider(async (request, response) => {
    far.received += 1;
    if (far.received % every === 0) return response.writeHead(status, { 'retry-after-ms': '1' }).end('{}');
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${url}${request.url}`, { method: 'POST', headers, body: request.text });
    return response.writeHead(reply.status, headers).end(await reply.text());
  });
  return Object.assign(far, provider);
}

const files = { 'tasks.jsonl': taskRows(shopTask, 2) };
const limits = { maxTurns: 6 };

const callsIn = (path: string) => JSON.parse(readFileSync(join(path, 'runs/run/spent.json'), 'utf8')).calls;

it.each([503, 429])('counts every try of an agent’s call, as its provider does (%i)', async (status) => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  await using flaky = await startFlaky(llm.url, { every: 3, status });
  using project = agentProject({ baseURL: flaky.url, files, target: { limits }, config: { maxCalls: 1_000 } });
  const { code, err } = await project.run('train', '--quiet', '--workers', '2');
  expect(code, err).toBe(0);
  const events = await readJournal(join(project.path, 'runs/run/events.jsonl'));
  const { replies, retries } = events.map(({ usage }) => usage?.rollout ?? noStageUsage).reduce(addUsage, noStageUsage);
  expect(retries).toBeGreaterThan(0);
  expect(replies + retries).toBe(flaky.received); // the optimizer is asked elsewhere
});

it.each([5, 11, 18])('never sends more than maxCalls, further tries included (%i)', async (maxCalls) => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  await using flaky = await startFlaky(llm.url, { every: 2, status: 503 });
  using project = agentProject({
    baseURL: flaky.url,
    files,
    target: { limits: { maxTurns: 3 } },
    config: { maxCalls },
  });
  const { code, err } = await project.run('train', '--quiet', '--ignore-estimate', '--workers', '2');
  expect(err).toContain('--max-calls is reached');
  expect(code).toBe(3);
  expect(flaky.received).toBeLessThanOrEqual(maxCalls);
  expect(callsIn(project.path)).toBeGreaterThanOrEqual(flaky.received);
});

it('gives up a steady 429 after a time that the retries state, scores nothing, and resumes', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url, files, target: { limits } });
  llm.failWith(429);
  const train = () => project.run('train', '--quiet', '--max-retries', '1');
  const { code, err } = await train();
  expect([code, err]).toEqual([4, expect.stringContaining('every call was refused for ')]);
  expect(llm.requests.length).toBeLessThanOrEqual(16);
  llm.failWith(undefined);
  const resumed = await train();
  expect(resumed.code, resumed.err).toBe(0);
  expect(resumed.out).not.toContain('unscored');
});
