import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { agentChat, agentClis } from 'skillopt/agents';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliRow, cliRows } from './cli-rows.ts';
import { startFakeProvider } from './fake-provider.ts';
import { installCli } from './install-cli.ts';

const reply = 'The capital is Paris.';
const planted = 'PLANTED-INSTRUCTION';
const skill = `---\nname: planted\ndescription: ${planted}\n---\n${planted}\n`;
const messages = [
  { role: 'system' as const, content: 'SYSTEM-OF-THE-REQUEST' },
  { role: 'user' as const, content: 'What is the capital of France?' },
];

describe.each(cliRows)('$cli', (row) => {
  let program: string;
  let home: string;
  let provider: Awaited<ReturnType<typeof startFakeProvider>>;

  beforeAll(async () => {
    program = await installCli(agentClis[row.cli].binary, row.specifier);
    home = await mkdtemp(join(tmpdir(), 'skillopt-home-'));
    provider = await startFakeProvider(reply);
    for (const name of row.planted) await write(join(home, name), name.endsWith('SKILL.md') ? skill : planted);
  });
  afterAll(async () => {
    await provider[Symbol.asyncDispose]();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  });

  const chatAt = async (url: string) => {
    for (const [name, text] of Object.entries(row.homeFiles?.(url) ?? {})) await write(join(home, name), text);
    const path = await wrap({ row, program, home, url });
    const env = { ...cleanEnvironment(), ...row.env?.(url), HOME: home };
    return agentChat({ cli: row.cli, model: row.model, path, env, timeoutMs: row.timeoutMs ?? 60_000 });
  };

  it('answers, with its tokens, and sends our prompts but not what stands in the home', async () => {
    const chat = await chatAt(provider.url);
    const answer = await chat.complete({ messages });
    expect(answer).toMatchObject({ text: reply, finishReason: 'stop', usage: row.usage });
    const sent = provider.seen.map(({ text }) => text).join('\n');
    expect(sent).toContain('SYSTEM-OF-THE-REQUEST');
    expect(sent).toContain('What is the capital of France?');
    expect(sent).not.toContain(planted);
  });

  it.each([401, 404])('a %i is fatal, and says what to do', async (status) => {
    const chat = await chatAt(provider.refusing(status));
    const remedy = status === 401 ? expect.stringContaining('Sign in') : expect.stringContaining('Name a model');
    await expect(chat.complete({ messages })).rejects.toMatchObject({ isRetryable: false, hint: remedy });
  });

  it.each([429, 500])('a %i is worth another try', async (status) => {
    const chat = await chatAt(provider.refusing(status));
    await expect(chat.complete({ messages })).rejects.toMatchObject({ name: 'ModelCallError', isRetryable: true });
  });
});

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

type Wrapping = { readonly row: CliRow; readonly program: string; readonly home: string; readonly url: string };

/** A program that adds arguments to ours, since not every CLI takes its provider from the environment. */
async function wrap({ row, program, home, url }: Wrapping): Promise<string> {
  if (row.extraArgs === undefined) return program;
  const quoted = row.extraArgs(url).map((argument) => `'${argument}'`);
  const path = join(home, 'wrapped');
  await writeFile(path, `#!/bin/sh\nexec '${program}' ${quoted.join(' ')} "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

/** Without the proxies of this machine and without what the keys of its user would change. */
function cleanEnvironment(): Record<string, undefined> {
  const names = Object.keys(process.env).filter((name) => !['PATH', 'LANG', 'TMPDIR'].includes(name));
  return Object.fromEntries(names.map((name) => [name, undefined]));
}
