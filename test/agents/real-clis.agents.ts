import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentChat, agentClis } from 'skillopt/agents';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { cliRows } from './cli-rows.ts';
import { startFakeProvider } from './fake-provider.ts';
import { cleanEnvironment, wrap, write } from './isolated-home.ts';

const reply = 'The capital is Paris.';
const planted = 'PLANTED-INSTRUCTION';
const skill = `---\nname: planted\ndescription: ${planted}\n---\n${planted}\n`;
const messages = [
  { role: 'system' as const, content: 'SYSTEM-OF-THE-REQUEST' },
  { role: 'user' as const, content: 'What is the capital of France?' },
];

/** What any of the CLIs takes for instructions in the folder it runs in or above. */
const projectFiles = [
  ...['AGENTS.md', 'AGENTS.override.md', 'CLAUDE.md', 'CLAUDE.local.md', 'GEMINI.md', 'QWEN.md', 'CONTEXT.md'],
  ...['.github/copilot-instructions.md', '.pi/SYSTEM.md', '.pi/APPEND_SYSTEM.md', '.claude/CLAUDE.md'],
  ...['.claude/rules/near.md', '.claude/skills/near/SKILL.md', '.agents/skills/near/SKILL.md'],
];

const rows = cliRows.map((row) => ({ row, installed: inject('clis')[row.cli]! }));
const driven = rows.filter(({ installed }) => installed.missing === undefined);
const isOffline = rows.every(({ installed }) => installed.missing !== undefined && installed.isOffline);

it.skipIf(process.env.CI && isOffline)('at least one CLI was there to be driven', () => {
  expect(driven).not.toEqual([]);
});

describe.each(rows)('$row.cli ($row.specifier)', ({ row, installed }) => {
  if (installed.missing !== undefined) return it.skip(installed.missing);
  const { program } = installed;
  let home: string;
  let provider: Awaited<ReturnType<typeof startFakeProvider>>;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'skillopt-home-'));
    provider = await startFakeProvider(reply);
    await mkdir(join(home, '.git')); // a folder for temporary files may lie in a repository
    const near = projectFiles.flatMap((name) => [name, join('tmp', name)]);
    for (const name of [...row.planted, ...near])
      await write(join(home, name), name.endsWith('SKILL.md') ? skill : planted);
    vi.stubEnv('TMPDIR', join(home, 'tmp')); // the CLI runs below it, so the home and this folder are above it
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await provider[Symbol.asyncDispose]();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  });

  const chatAt = async (url: string, extraArgs: readonly string[] = []) => {
    for (const [name, text] of Object.entries(row.homeFiles?.(url) ?? {})) await write(join(home, name), text);
    const path = await wrap(program, [...(row.extraArgs?.(url) ?? []), ...extraArgs], home);
    const env = { ...cleanEnvironment(), ...row.env?.(url), HOME: home };
    return agentChat({ cli: row.cli, model: row.model, path, env, timeoutMs: 60_000 });
  };

  it('answers, with its tokens, and sends our prompts but no instructions from its home or the folders above', async () => {
    const chat = await chatAt(provider.url);
    const answer = await chat.complete({ messages });
    expect(answer).toMatchObject({ text: reply, finishReason: 'stop', usage: row.usage });
    const sent = provider.seen.map(({ text }) => text).join('\n');
    expect(sent).toContain('SYSTEM-OF-THE-REQUEST');
    expect(sent).toContain('What is the capital of France?');
    expect(sent).not.toContain(planted);
  });

  if (process.env.CI && !['claude-cli', 'codex-cli'].includes(row.cli)) return; // how they fail takes minutes

  it.each([
    [401, `Sign in again: ${agentClis[row.cli].signInCommand}`],
    [404, `Name a model that ${agentClis[row.cli].binary} offers to your account.`],
  ])('a %i is fatal: %s', async (status, hint) => {
    const chat = await chatAt(provider.refusing(status));
    await expect(chat.complete({ messages })).rejects.toMatchObject({ isRetryable: false, isFatal: true, hint });
  });

  it.each([429, 500])('a %i is told as worth another try, long before the time limit', async (status) => {
    const chat = await chatAt(provider.refusing(status));
    const told = row.unnamed?.includes(status) ? undefined : status;
    const error = await chat.complete({ messages }).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: 'ModelCallError', isRetryable: true, isFatal: false, status: told });
    expect(error).not.toMatchObject({ message: expect.stringContaining('gave no answer within') });
  });

  it('an option that it does not know is fatal: Update', async () => {
    const chat = await chatAt(provider.url, ['--no-such-option']);
    const hint = `Update ${agentClis[row.cli].binary}: ${agentClis[row.cli].installCommand}`;
    await expect(chat.complete({ messages })).rejects.toMatchObject({ isRetryable: false, isFatal: true, hint });
  });
});
