import { dirname } from 'node:path';
import { type AgentCliName, agentClis } from 'skillopt/agents';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startFakeLLM } from '../../../src/testing/index.ts';
import { projectOverHttp } from '../../support/project-over-http.ts';
import { fakeCli, warns } from './fake-cli.ts';

afterEach(() => vi.unstubAllEnvs());

const remedies: readonly [AgentCliName, string, string][] = [
  ['claude-cli', 'claude', 'npm install -g @anthropic-ai/claude-code'],
  ['codex-cli', 'codex', 'npm install -g @openai/codex'],
  ['copilot-cli', 'copilot', 'npm install -g @github/copilot'],
  ['cursor-cli', 'cursor-agent', 'curl https://cursor.com/install -fsS | bash'],
  ['gemini-cli', 'gemini', 'npm install -g @google/gemini-cli'],
  ['opencode-cli', 'opencode', 'npm install -g opencode-ai'],
  ['pi-cli', 'pi', 'npm install -g @earendil-works/pi-coding-agent'],
  ['qwen-cli', 'qwen', 'npm install -g @qwen-code/qwen-code'],
];

describe('a CLI that is not installed', () => {
  it.each(remedies)(
    '%s: train says so in one message with the command, before any call',
    async (cli, binary, command) => {
      vi.stubEnv('PATH', '/nowhere');
      await using far = await startFakeLLM(() => 'ok');
      using project = projectOverHttp(far.baseURL, { optimizer: `${cli}:large` });
      const { code, err } = await project.run('train', '--quiet');
      const reason = `${cli} is not installed: no program ${binary} on PATH`;
      expect(err).toMatch(/^error: skillopt\.config\.json:\d+: /);
      expect(err.replace(/skillopt\.config\.json:\d+: /, '')).toBe(`error: ${reason}\nhint: Install it: ${command}\n`);
      expect(code).toBe(2);
      expect(far.requests).toEqual([]);
    },
  );

  it.each(remedies)('%s: doctor says so too', async (cli, binary, command) => {
    vi.stubEnv('PATH', '/nowhere');
    await using far = await startFakeLLM(() => 'ok');
    using project = projectOverHttp(far.baseURL, { optimizer: cli });
    const { out } = await project.run('doctor');
    expect(out).toContain(`${cli} is not installed: no program ${binary} on PATH\n`);
    expect(out).toContain(`→ Install it: ${command}\n`);
  });
});

describe('a CLI that is too old, or not signed in', () => {
  it.each(remedies)('%s: doctor gives the command', async (cli, binary, command) => {
    const { signInCommand } = agentClis[cli];
    expect(await doctorSays(cli, 'error: unknown option --new')).toContain(`→ Update ${binary}: ${command}\n`);
    expect(await doctorSays(cli, '401 Unauthorized')).toContain(`→ Sign in again: ${signInCommand}\n`);
  });
});

/** What doctor prints when `cli` gives up with these words. */
async function doctorSays(cli: AgentCliName, words: string): Promise<string> {
  using fake = fakeCli(agentClis[cli].binary, warns(words, 1));
  vi.stubEnv('PATH', dirname(fake.path));
  vi.stubEnv('HOME', fake.home);
  await using far = await startFakeLLM(() => 'ok');
  using project = projectOverHttp(far.baseURL, { optimizer: cli });
  return (await project.run('doctor')).out;
}
