import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { type AgentCliName, agentChat } from 'skillopt/agents';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Place, TranscriptSource } from '../../src/transcripts/index.ts';
import { claude } from '../../src/transcripts/sources/claude.ts';
import { codex } from '../../src/transcripts/sources/codex.ts';
import { copilotCli } from '../../src/transcripts/sources/copilot-cli.ts';
import { gemini, qwen } from '../../src/transcripts/sources/gemini.ts';
import { opencode } from '../../src/transcripts/sources/opencode.ts';
import { pi } from '../../src/transcripts/sources/pi.ts';
import { cliRows } from './cli-rows.ts';
import { startFakeProvider } from './fake-provider.ts';
import { cleanEnvironment, wrap, write } from './isolated-home.ts';

const reply = 'The totals are rounded now.';

/** Long enough to be a person's: a short prompt that is answered within seconds counts as a program's. */
const prompt = [
  'Please look at how the totals of the shopping cart are computed, and round them half to even instead of half up,',
  'because the bank that checks our books does it that way; then run whatever shows that nothing else has changed.',
].join(' ');

type Ordinary = {
  readonly source: TranscriptSource;
  /** The shell that it offers. */
  readonly tool: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/** How a person runs each of them for one question; the model is added. */
const ordinary: Readonly<Partial<Record<AgentCliName, Ordinary>>> = {
  'claude-cli': {
    source: claude,
    tool: 'Bash',
    args: ['-p', prompt, '--dangerously-skip-permissions'],
    env: { IS_SANDBOX: '1' },
  },
  'codex-cli': {
    source: codex,
    tool: 'exec_command',
    args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
  },
  'gemini-cli': {
    source: gemini,
    tool: 'run_shell_command',
    args: ['-p', prompt, '--yolo'],
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  },
  'qwen-cli': { source: qwen, tool: 'run_shell_command', args: ['-p', prompt, '--yolo'] },
  'pi-cli': { source: pi, tool: 'bash', args: ['-p', prompt], env: { PI_OFFLINE: '1' } },
  'copilot-cli': { source: copilotCli, tool: 'bash', args: ['-p', prompt, '--allow-all-tools', '--no-auto-update'] },
  'opencode-cli': { source: opencode, tool: 'bash', args: ['run', prompt] },
};

const rows = cliRows.flatMap((row) => {
  const usual = ordinary[row.cli];
  return usual === undefined ? [] : [{ row, usual, installed: inject('clis')[row.cli]! }];
});

describe.each(rows)('transcripts of $row.cli ($row.specifier)', ({ row, usual, installed }) => {
  if (installed.missing !== undefined) return it.skip(installed.missing);
  const { program } = installed;
  let home: string;
  let provider: Awaited<ReturnType<typeof startFakeProvider>>;

  beforeAll(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'skillopt-home-')));
    provider = await startFakeProvider(reply, { callsTools: true });
    for (const [name, text] of Object.entries(row.homeFiles?.(provider.url) ?? {})) await write(join(home, name), text);
  });
  afterAll(async () => {
    await provider[Symbol.asyncDispose]();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  });

  it("are harvested, and our own call's are not", { timeout: 240_000 }, async () => {
    const env = { ...row.env?.(provider.url), HOME: home, NO_COLOR: '1' };
    const path = await wrap(program, row.extraArgs?.(provider.url) ?? [], home);
    const project = join(home, 'shop');
    await mkdir(project);
    const options = { cwd: project, env: { ...cleanEnvironment(), ...env, ...usual.env }, stdin: 'ignore' } as const;
    await execa(path, [...usual.args, '--model', row.model], { ...options, timeout: 120_000 });
    const chat = agentChat({
      cli: row.cli,
      model: row.model,
      path,
      env: { ...cleanEnvironment(), ...env },
      timeoutMs: 90_000,
    });
    const messages = [{ role: 'user' as const, content: 'OUR-OWN-QUESTION' }];
    expect((await chat.complete({ messages })).text).toBe(reply);

    const sessions = await harvest(usual.source, { env: {}, home, platform: process.platform });
    const learned = sessions.filter(({ leftOut }) => leftOut === undefined);
    expect(learned).toMatchObject([{ project: '~/shop', userPrompts: [prompt], assistantFinals: [reply] }]);
    expect(learned[0]?.toolsUsed).toContain(usual.tool);
    const others = sessions.filter(({ leftOut }) => leftOut !== undefined);
    expect(others.map(({ leftOut }) => leftOut)).toEqual(others.map(() => 'own-call'));
  });
});

async function harvest(source: TranscriptSource, place: Place) {
  const files = (await Promise.all(source.roots(place).map((root) => source.list(root)))).flat();
  const outcomes = await Promise.all(files.map((file) => source.read(file, { place })));
  expect(outcomes.map(({ trouble }) => trouble)).toEqual(outcomes.map(() => ({})));
  return outcomes.flatMap(({ sessions }) => sessions);
}
