import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { execa } from 'execa';
import { describe, expect, inject, it } from 'vitest';
import { agentClis } from '../../src/agents/index.ts';
import { installPlugin, PLUGIN_AGENTS } from '../../src/plugins/index.ts';
import { MCP_STAND_IN, pluginHome, SETTINGS } from '../support/plugins/plugin-home.ts';
import { cliRows } from './cli-rows.ts';
import { startFakeProvider } from './fake-provider.ts';

const run = promisify(execFile);
const PROMPT = 'What did you learn last night?';
/** A part without an apostrophe, which some agents escape. */
const DESCRIPTION = 'past coding-agent sessions, and makes a skill measurably better';

/** How each is asked one thing without a person, and lets the tool run. */
const asked: Readonly<Record<(typeof PLUGIN_AGENTS)[number], readonly string[]>> = {
  claude: [
    '-p',
    PROMPT,
    '--model',
    'claude-sonnet-4-5',
    '--allowedTools',
    'mcp__plugin_skillopt_skillopt__sleep_status',
  ],
  codex: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-m', 'fake-model', PROMPT],
  copilot: ['-p', PROMPT, '--model', 'fake-model', '--allow-all-tools'],
  gemini: ['-p', PROMPT, '-m', 'gemini-2.5-flash', '--yolo'],
  qwen: ['-p', PROMPT, '-m', 'fake-model', '--yolo'],
  opencode: ['run', PROMPT, '-m', 'fake/fake-model'],
};

/** Claude Code connects later otherwise, and hides tools behind a search. */
const ENV = { ENABLE_TOOL_SEARCH: 'false', MCP_CONNECTION_NONBLOCKING: 'false', GEMINI_CLI_TRUST_WORKSPACE: 'true' };

/** A model of Qwen Code finds tools of servers by a search first, which the fake provider does not do. */
const SEARCHES = ['qwen'];

const rows = PLUGIN_AGENTS.map((agent) => {
  const cli = `${agent}-cli` as const;
  return { agent, row: cliRows.find((one) => one.cli === cli)!, installed: inject('clis')[cli] };
});

describe.each(rows)('the plugin in the real $agent', ({ agent, row, installed }) => {
  if (installed === undefined || installed.missing !== undefined) return it.skip(installed?.missing ?? 'not tried');

  it('is installed, its skill and its tools are offered, a call returns, and settings are as before', {
    timeout: 300_000,
  }, async () => {
    using home = pluginHome();
    const work = home.at('work');
    await using provider = await startFakeProvider('done', {
      wanted: { ends: 'sleep_status', args: { project: work } },
    });
    for (const [path, text] of Object.entries(row.homeFiles?.(provider.url) ?? {})) home.write(path, text);
    const program = home.at(`real/${agentClis[row.cli].binary}`);
    mkdirSync(dirname(program));
    symlinkSync(resolve(installed.program), program);
    const env = {
      HOME: home.path,
      PATH: `${home.at('real')}:${dirname(process.execPath)}:/usr/bin:/bin`,
      LANG: 'C.UTF-8',
      ...row.env?.(provider.url),
    };
    const place = { env: { ...env, SKILLOPT_HOME: home.at('state') }, cwd: work };
    const log = home.at('state-of-stand-in.jsonl');
    home.write(
      'entry.mjs',
      `process.env.STAND_IN_LOG = ${JSON.stringify(log)};\nawait import(${JSON.stringify(MCP_STAND_IN)});\n`,
    );
    const ask = () =>
      execa(program, [...(row.extraArgs?.(provider.url) ?? []), ...asked[agent]], {
        ...{
          cwd: work,
          env: { ...env, ...ENV, CI: '1', NO_COLOR: '1' },
          extendEnv: false,
          reject: false,
          stdin: 'ignore',
          timeout: 100_000,
        },
      });
    await ask(); // an agent settles its settings at its first start
    const settings = () =>
      Object.entries(home.bytes()).filter(
        ([path]) => path === SETTINGS[agent][0] || path in (row.homeFiles?.('') ?? {}),
      );
    const before = settings();

    await installPlugin(agent, place, { pinned: { node: process.execPath, entry: home.at('entry.mjs') } });
    expect(settings().length).toBe(before.length);
    const first = provider.seen.length;
    const { stdout, stderr } = await ask();
    const sent = provider.seen
      .slice(first)
      .map(({ text }) => text)
      .join('\n');
    expect(sent, `${stdout}\n${stderr}`).toContain(DESCRIPTION);
    const started = readFileSync(log, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(started[0]).toMatchObject({ started: ['mcp'] });
    if (!SEARCHES.includes(agent)) {
      expect(started, `${stdout}\n${stderr}`).toContainEqual({ called: 'sleep_status', given: { project: work } });
      expect(sent).toContain(`stand-in: no proposal waits in ${work}`);
    }

    const io = await home.runWith(place.env, 'uninstall', agent);
    expect([io.code, io.out]).toEqual([0, `skillopt is removed from ${agent}.\n`]);
    expect(settings()).toEqual(before);
    const after = provider.seen.length;
    await ask();
    expect(
      provider.seen
        .slice(after)
        .map(({ text }) => text)
        .join('\n'),
    ).not.toContain(DESCRIPTION);
  });
});

describe('validators of agents', () => {
  const programOf = (cli: 'claude-cli' | 'gemini-cli') =>
    (inject('clis')[cli] as { program?: string } | undefined)?.program;

  it('find nothing in the folder of the plugin, nor in its marketplace', async () => {
    using home = pluginHome();
    const env = {
      HOME: home.path,
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    };
    const [claude, gemini] = [programOf('claude-cli'), programOf('gemini-cli')];
    for (const folder of ['plugin', '.'].map((path) => resolve(path))) {
      if (claude === undefined) continue;
      const { stdout } = await run(claude, ['plugin', 'validate', '--strict', folder], { env, cwd: home.at('work') });
      expect(stdout).toContain('Validation passed');
    }
    if (gemini === undefined) return;
    const { stdout, stderr } = await run(gemini, ['extensions', 'validate', resolve('plugin')], {
      env,
      cwd: home.at('work'),
    });
    expect(stdout + stderr).toContain('successfully validated');
  });
});
