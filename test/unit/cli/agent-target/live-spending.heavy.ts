import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { agentProject, SKILL } from './agent-project.ts';

vi.setConfig({ testTimeout: 400_000 });

it.each([['train'], ['eval', '--skill', 'teapots']])(
  '%s shows calls and dollars while attempts are under way',
  async (...argv) => {
    await using llm = await startFakeAgentLLM({ policy: 'follow' });
    using project = agentProject({ baseURL: llm.url, config: { gate: 'strict', finalPasses: 0 } });
    project.write('teapots/SKILL.md', SKILL.replace('DO: cp', 'DO: sleep 1\nDO: cp'));
    const { code, err } = await project.inTerminal(100, ...argv);
    expect(code).toBe(0);
    const atFirst = err.slice(0, err.search(/(?:baseline|test) 1\/\d+\n/)); // before the first attempt has ended
    expect(atFirst).toMatch(/elapsed · [1-9]\d* calls · \$0\.00\d+/);
  },
);
