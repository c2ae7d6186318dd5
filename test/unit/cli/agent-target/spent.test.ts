import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { agentProject } from './agent-project.ts';

vi.setConfig({ testTimeout: 120_000 });

it('counts what attempts had used when their provider failed in the midst of them', async () => {
  await using llm = await startFakeAgentLLM({ script: [{ shell: 'true' }, { shell: 'true' }, { fail: 401 }] });
  using project = agentProject({ baseURL: llm.url, config: { maxTotalTokens: 50_000_000 } });
  const { code } = await project.run('train', '--quiet', '--workers', '1');
  expect(code).toBe(4);
  const ledger = join(project.path, 'runs/run/spent.json');
  expect(existsSync(ledger)).toBe(true);
  const { input, output } = llm.usage();
  expect(input + output).toBeGreaterThan(0);
  expect(JSON.parse(readFileSync(ledger, 'utf8'))).toMatchObject({ totalTokens: input + output });
});

it('without a limit tells what attempts have cost that no step has counted, and counts it once when it is resumed', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url, config: { evalTest: false } });
  const trained = project.run('train', '--quiet', '--workers', '1');
  await expect.poll(() => llm.calls(), { timeout: 60_000, interval: 20 }).toBeGreaterThan(6);
  llm.failWith(401);
  expect((await trained).code).toBe(4);
  const toldTokens = async () => JSON.parse((await project.run('show', 'runs/run', '--json')).out).verdict.tokens;
  const paidTokens = () => llm.usage().input + llm.usage().output;
  expect(await toldTokens()).toBe(paidTokens());
  expect(readFileSync(join(project.path, 'runs/run/report.md'), 'utf8')).toContain('unfinished work');
  const before = paidTokens();
  llm.failWith(undefined);
  expect((await project.run('train', '--quiet', '--workers', '1')).code).toBe(0);
  expect(paidTokens()).toBeGreaterThan(before);
  expect(await toldTokens()).toBe(paidTokens());
});
