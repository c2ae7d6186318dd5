import { type AgentName, agentPrograms } from 'skillopt/agents';
import { describe, expect, it } from 'vitest';

const launched = (name: AgentName, job: { readonly modelUrl: string | undefined; readonly isSandboxed: boolean }) => {
  const paths = { home: '/home/agent', workspace: '/workspace' };
  return JSON.stringify(
    agentPrograms[name].launch({ prompt: 'Hello', model: 'm', limits: { timeoutMs: 1 }, ...paths, ...job }),
  );
};

describe.each([
  ['claude', ['WebSearch'], ['WebFetch']],
  ['gemini', ['google_web_search'], ['web_fetch']],
  ['qwen', [], ['web_fetch']],
  ['opencode', [], ['webfetch']],
] as const)('%s at work', (name, search, fetch) => {
  it.each([
    ['behind a gateway, in a sandbox: no tool for the web', 'http://127.0.0.1:1', true, [...search, ...fetch]],
    ['behind a gateway, without a sandbox: no search at the provider', 'http://127.0.0.1:1', false, search],
    ['with its own sign-in: all its tools', undefined, true, []],
  ])('%s', (_, modelUrl, isSandboxed, without) => {
    const said = launched(name, { modelUrl, isSandboxed });
    for (const tool of [...search, ...fetch])
      expect(said.includes(tool), tool).toBe(without.some((one) => one === tool));
  });
});
