import { join } from 'node:path';
import { z } from 'zod';
import { TurnCompleted, TurnFailed } from '../clis/codex.ts';
import { type AgentEvent, type AgentJob, type AgentProgram, NO_KEY } from './agent-program.ts';
import { parseLine, skillsReadIn } from './event-line.ts';

/** It has a home of its own, whose settings are ours. There is no event for loading a skill: it reads the file. */
export const codex: AgentProgram = {
  name: 'codex',
  cli: 'codex-cli',
  skillFolders: { user: '.codex/skills', project: '.agents/skills' },
  capabilities: { seesLoading: 'reads', seesOffers: false, limitsTurns: false },
  hidden: ['.codex/config.toml', '.codex/hooks.json'], // servers in them run, trusted or not
  longestDescription: 1024,
  keyVariables: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
  provider: ({ OPENAI_API_KEY, CODEX_API_KEY: key = OPENAI_API_KEY, OPENAI_BASE_URL: baseURL = OPENAI_URL }) => ({
    baseURL,
    key,
    auth: 'bearer',
  }),
  signIn: ({ env: { CODEX_HOME }, userHome }) => ({
    '.codex/auth.json': join(CODEX_HOME ?? join(userHome, '.codex'), 'auth.json'),
  }),
  launch: (job) => ({
    args: argumentsFor(job),
    env: {
      CODEX_HOME: join(job.home, '.codex'),
      ...(job.modelUrl === undefined ? {} : { SKILLOPT_MODEL_KEY: NO_KEY }),
    },
    files: { '.codex/config.toml': settingsFor(job) },
  }),
  reader: (skills) => (text) => {
    const line = Line.safeParse(parseLine(text));
    return line.success ? read(line.data, skills) : [];
  },
};

export const OPENAI_URL = 'https://api.openai.com/v1';

function argumentsFor({ isSandboxed, model, workspace, prompt }: AgentJob): string[] {
  return [
    ...['exec', '--json', '--ephemeral', '--skip-git-repo-check', '--color', 'never', '-C', workspace],
    ...(isSandboxed ? ['--dangerously-bypass-approvals-and-sandbox'] : ['--sandbox', 'workspace-write']),
    ...(model === undefined ? [] : ['--model', model]),
    ...['--', prompt],
  ];
}

/** A JSON string is a TOML string too. Retrying is the gateway's. */
function settingsFor({ modelUrl, isSandboxed }: AgentJob): string {
  return [
    ...(modelUrl === undefined ? [] : ['model_provider = "skillopt"']),
    'check_for_update_on_startup = false',
    'web_search = "disabled"',
    ...['[features]', 'hooks = false', 'apps = false', 'plugins = false', '[analytics]', 'enabled = false'],
    // Its sandbox makes .git and others in each folder that may be written, and leaves them there when it is killed.
    ...(isSandboxed ? [] : ['[sandbox_workspace_write]', 'exclude_slash_tmp = true']),
    ...(modelUrl === undefined
      ? []
      : [
          '[model_providers.skillopt]',
          'name = "skillopt"',
          `base_url = ${JSON.stringify(modelUrl)}`,
          'env_key = "SKILLOPT_MODEL_KEY"',
          'wire_api = "responses"',
          'request_max_retries = 0',
          'stream_max_retries = 0',
        ]),
    '',
  ].join('\n');
}

const Item = z.discriminatedUnion('type', [
  z.object({ type: z.literal('agent_message'), text: z.string() }),
  z.object({
    type: z.literal('command_execution'),
    id: z.string(),
    command: z.string(),
    aggregated_output: z.string().default(''),
    exit_code: z.number().nullish(),
  }),
  z.object({
    type: z.literal('file_change'),
    id: z.string(),
    changes: z.array(z.object({ path: z.string(), kind: z.string() })),
    status: z.string(),
  }),
  z.object({
    type: z.literal('mcp_tool_call'),
    id: z.string(),
    server: z.string(),
    tool: z.string(),
    status: z.string(),
  }),
]);
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('item.completed'), item: Item }),
  TurnCompleted,
  TurnFailed,
]);

function read(line: z.infer<typeof Line>, skills: readonly string[]): readonly AgentEvent[] {
  if (line.type === 'turn.failed') return [{ type: 'failure', refusal: { failure: line.error.message } }];
  if (line.type === 'item.completed') return itemEvents(line.item, skills);
  return [
    { type: 'usage', usage: line.usage, isTotal: true },
    { type: 'end', ended: 'done' },
  ];
}

function itemEvents(item: z.infer<typeof Item>, skills: readonly string[]): AgentEvent[] {
  if (item.type === 'agent_message') return [{ type: 'text', text: item.text }];
  if (item.type === 'command_execution') {
    const { id, command, aggregated_output: output, exit_code } = item;
    const isError = exit_code !== 0;
    const loaded = isError ? [] : skillsReadIn(command, skills);
    return [
      { type: 'tool-call', id, tool: 'shell', input: { command } },
      { type: 'tool-result', id, output, isError },
      ...loaded.map((name) => ({ type: 'skill-loaded', name }) as const),
    ];
  }
  const input = item.type === 'file_change' ? { changes: item.changes } : { server: item.server, tool: item.tool };
  return [
    { type: 'tool-call', id: item.id, tool: item.type, input },
    { type: 'tool-result', id: item.id, output: item.status, isError: item.status === 'failed' },
  ];
}
