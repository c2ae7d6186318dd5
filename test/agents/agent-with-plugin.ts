import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { execa } from 'execa';
import { agentClis } from '../../src/agents/index.ts';
import type { PLUGIN_AGENTS } from '../../src/plugins/index.ts';
import { pluginHome } from '../support/plugins/plugin-home.ts';
import { cliRows } from './cli-rows.ts';
import { startFakeProvider } from './fake-provider.ts';
import type { WantedTool } from './tool-calls.ts';

/** The package as a user would install it: Codex takes no tools from a server as slow as that of the sources. */
const SKILLOPT = resolve('.cache/package/bin/skillopt.mjs');

type Agent = (typeof PLUGIN_AGENTS)[number];

export const rowOf = (agent: Agent) => cliRows.find(({ cli }) => cli === `${agent}-cli`)!;

const PROMPT = 'What did you learn last night?';
const OURS = ['sleep_status', 'sleep_plan'];

/** How each is asked one thing without a person, and lets the tools run. */
const asked: Readonly<Record<Agent, readonly string[]>> = {
  claude: [
    ...['-p', PROMPT, '--model', 'claude-sonnet-4-5'],
    ...['--allowedTools', OURS.map((tool) => `mcp__plugin_skillopt_skillopt__${tool}`).join(',')],
  ],
  codex: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-m', 'fake-model', PROMPT],
  copilot: ['-p', PROMPT, '--model', 'fake-model', '--allow-all-tools'],
  gemini: ['-p', PROMPT, '-m', 'gemini-2.5-flash', '--yolo'],
  qwen: ['-p', PROMPT, '-m', 'fake-model', '--yolo'],
  opencode: ['run', PROMPT, '-m', 'fake/fake-model'],
};

/** Claude Code connects later otherwise, and hides tools behind a search. */
const ENV = { ENABLE_TOOL_SEARCH: 'false', MCP_CONNECTION_NONBLOCKING: 'false', GEMINI_CLI_TRUST_WORKSPACE: 'true' };

/** Calls of ours for the project. Qwen Code offers tools of servers only after a search for them. */
function callsOf(agent: Agent, tools: readonly string[], project: string): WantedTool[] {
  return tools.flatMap((ends) => [
    ...(agent === 'qwen' ? [{ ends: 'tool_search', args: { query: `select:mcp__skillopt__${ends}` } }] : []),
    { ends, args: { project } },
  ]);
}

/** An agent's real program in a home of its own, with a model that calls these tools of ours. */
export async function agentWithPlugin(agent: Agent, installed: string, tools: readonly string[]) {
  const home = pluginHome();
  const row = rowOf(agent);
  const work = home.at('work');
  const provider = await startFakeProvider('done', { wanted: callsOf(agent, tools, work) });
  for (const [path, text] of Object.entries(row.homeFiles?.(provider.url) ?? {})) home.write(path, text);
  const program = home.at(`real/${agentClis[row.cli].binary}`);
  mkdirSync(dirname(program));
  symlinkSync(resolve(installed), program);
  const env = {
    HOME: home.path,
    PATH: `${home.at('real')}:${dirname(process.execPath)}:/usr/bin:/bin`,
    LANG: 'C.UTF-8',
    ...row.env?.(provider.url),
  };
  return {
    home,
    work,
    /** Runs `skillopt plugin` for this agent. */
    async plugin(verb: string) {
      const { exitCode, stdout, stderr } = await execa(process.execPath, [SKILLOPT, 'plugin', verb, agent], {
        ...{ cwd: work, env: { ...env, SKILLOPT_HOME: home.at('state') }, extendEnv: false, reject: false },
      });
      return { code: exitCode, out: stdout, err: stderr };
    },
    /** Asks once, in the folder of work. `programs` is a folder at the end of PATH. */
    async ask({ programs = '/bin' } = {}) {
      const before = provider.seen.length;
      const { stdout, stderr } = await execa(program, [...(row.extraArgs?.(provider.url) ?? []), ...asked[agent]], {
        ...{
          cwd: work,
          env: { ...env, ...ENV, PATH: `${env.PATH}:${programs}`, CI: '1', NO_COLOR: '1' },
        },
        ...{ extendEnv: false, reject: false, stdin: 'ignore', timeout: 100_000 },
      });
      const sent = provider.seen.slice(before).map(({ text }) => text);
      return { sent: sent.join('\n'), shown: `${stdout}\n${stderr}` };
    },
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
}
