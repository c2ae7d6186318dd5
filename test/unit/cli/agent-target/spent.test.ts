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
