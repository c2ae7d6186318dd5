import { join } from 'node:path';
import { z } from 'zod';
import type { Usage } from '../../core/contracts/index.ts';
import type { AgentCall, AgentCli, AgentEvent, AgentJob, AgentOutput, CliUser } from '../agent-cli.ts';
import { NO_KEY, openaiProvider, option } from '../cli-parts.ts';
import { lastEvent, lineReader, skillsReadIn, toolEvents } from '../read-events.ts';

/**
 * It always reads AGENTS.md in its own home, so it gets another home, as a chat with the sign-in linked into it. There is no
 * event for loading a skill: it reads the file.
 */
export const codex: AgentCli<'codex'> = {
  name: 'codex',
  cli: 'codex-cli',
  title: 'Codex',
  binary: 'codex',
  installCommand: 'npm install -g @openai/codex',
  signInCommand: 'codex login',
  variables: () => ['CODEX_*', 'OPENAI_*'],
  signInFiles: (user) => [signInFile(user)],
  documents: {
    home: { variable: 'CODEX_HOME', folder: '.codex' },
    ownSkills: ['skills'],
    sharedSkills: ['.agents/skills'],
    projectSkills: ['.codex/skills', '.agents/skills'],
    instructions: ['AGENTS.md'],
  },
  invoke: (call) => ({
    args: [...withoutTools, ...option('--model', call.model), '-'],
    input: call.conversation,
    env: { CODEX_HOME: join(call.folder, 'home') },
    files: { 'home/config.toml': chatSettings(call) },
    links: { 'home/auth.json': signInFile(call) },
  }),
  read: readAnswer,
  refusalIn(line) {
    const message = lastEvent(line, Retrying)?.message;
    return message === undefined ? undefined : { failure: /^[^(]*\((.*)\)$/.exec(message)?.[1] ?? message };
  },
  skillFolders: { user: '.codex/skills', project: '.agents/skills' },
  capabilities: { seesLoading: 'reads', seesOffers: false, limitsTurns: false },
  hidden: ['.codex/config.toml', '.codex/hooks.json'], // servers in them run, trusted or not
  longestDescription: 1024,
  keyVariables: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
  provider({ CODEX_API_KEY, ...env }) {
    const openai = openaiProvider(env);
    return { ...openai, key: CODEX_API_KEY ?? openai.key };
  },
  signIn: (user) => ({ '.codex/auth.json': signInFile(user) }),
  launch: (job) => ({
    args: workArgs(job),
    env: {
      CODEX_HOME: join(job.home, '.codex'),
      ...(job.modelUrl === undefined ? {} : { SKILLOPT_MODEL_KEY: NO_KEY }),
    },
    files: { '.codex/config.toml': workSettings(job) },
  }),
  reader: (skills) => lineReader(Line, (line) => readLine(line, skills)),
};

const signInFile = ({ env, userHome }: CliUser) => join(env.CODEX_HOME ?? join(userHome, '.codex'), 'auth.json');

const withoutTools = [
  ...['exec', '--json', '--skip-git-repo-check', '--ephemeral', '--ignore-rules'],
  ...['--sandbox', 'read-only', '--color', 'never'],
];

const featuresOff = [
  ...['shell_tool', 'apps', 'plugins', 'multi_agent', 'hooks', 'view_image', 'image_generation', 'goals'],
  ...['sleep_tool', 'tool_suggest'],
];

/** A JSON string is a TOML string too. */
function chatSettings({ system }: AgentCall): string {
  return [
    ...(system === '' ? [] : [`developer_instructions = ${JSON.stringify(system)}`]),
    'project_doc_max_bytes = 0',
    'include_apps_instructions = false',
    'include_environment_context = false',
    'include_collaboration_mode_instructions = false',
    'check_for_update_on_startup = false',
    'web_search = "disabled"',
    'skills = { include_instructions = false, bundled = { enabled = false } }',
    '[features]',
    ...featuresOff.map((feature) => `${feature} = false`),
    '[analytics]',
    'enabled = false',
    '',
  ].join('\n');
}

const workArgs = ({ isSandboxed, model, workspace, prompt }: AgentJob): string[] => [
  ...['exec', '--json', '--ephemeral', '--skip-git-repo-check', '--color', 'never', '-C', workspace],
  ...(isSandboxed ? ['--dangerously-bypass-approvals-and-sandbox'] : ['--sandbox', 'workspace-write']),
  ...option('--model', model),
  ...['--', prompt],
];

/** Retries are off: the gateway makes them. */
const workSettings = ({ modelUrl, isSandboxed }: AgentJob): string =>
  [
    ...(modelUrl === undefined ? [] : ['model_provider = "skillopt"']),
    'check_for_update_on_startup = false',
    'web_search = "disabled"',
    ...['[features]', 'hooks = false', 'apps = false', 'plugins = false', '[analytics]', 'enabled = false'],
    // Its sandbox makes .git and others in each writable folder, and leaves them there when it is killed.
    ...(isSandboxed ? [] : ['[sandbox_workspace_write]', 'exclude_slash_tmp = true']),
    ...(modelUrl === undefined ? [] : gatewaySettings(modelUrl)),
    '',
  ].join('\n');

const gatewaySettings = (url: string) => [
  '[model_providers.skillopt]',
  'name = "skillopt"',
  `base_url = ${JSON.stringify(url)}`,
  'env_key = "SKILLOPT_MODEL_KEY"',
  'wire_api = "responses"',
  'request_max_retries = 0',
  'stream_max_retries = 0',
];

const Message = z.object({ type: z.literal('agent_message'), text: z.string() });
const Item = z.discriminatedUnion('type', [
  Message,
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
const MessageCompleted = z.object({ type: z.literal('item.completed'), item: Message });
const TurnCompleted = z.object({
  type: z.literal('turn.completed'),
  usage: z
    .object({
      input_tokens: z.number(),
      cached_input_tokens: z.number().default(0),
      output_tokens: z.number(),
      reasoning_output_tokens: z.number().default(0),
    })
    .transform((tokens): Usage => {
      const { input_tokens: input, cached_input_tokens: cached, output_tokens: output } = tokens;
      return { input, cached, output, reasoning: tokens.reasoning_output_tokens };
    }),
});
const TurnFailed = z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) });
const Retrying = z.object({ type: z.literal('error'), message: z.string().startsWith('Reconnecting') });
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('item.completed'), item: Item }),
  TurnCompleted,
  TurnFailed,
]);

function readAnswer({ stdout }: AgentOutput) {
  const failed = lastEvent(stdout, TurnFailed);
  if (failed !== undefined) return { failure: failed.error.message };
  const text = lastEvent(stdout, MessageCompleted)?.item.text;
  const usage = lastEvent(stdout, TurnCompleted)?.usage;
  return text === undefined || usage === undefined ? undefined : { text, usage };
}

function readLine(line: z.infer<typeof Line>, skills: readonly string[]): readonly AgentEvent[] {
  if (line.type === 'turn.failed') return [{ type: 'failure', refusal: { failure: line.error.message } }];
  if (line.type === 'item.completed') return itemEvents(line.item, skills);
  return [
    { type: 'usage', usage: line.usage, isTotal: true },
    { type: 'end', ended: 'done' },
  ];
}

function itemEvents(item: z.infer<typeof Item>, skills: readonly string[]): readonly AgentEvent[] {
  if (item.type === 'agent_message') return [{ type: 'text', text: item.text }];
  const { called, returned } = toolEvents();
  if (item.type === 'command_execution') {
    const { id, command, aggregated_output: output, exit_code } = item;
    return [
      ...called({ id, tool: 'shell', input: { command } }, skillsReadIn(command, skills)),
      ...returned({ id, output, isError: exit_code !== 0 }),
    ];
  }
  const { id, type: tool, status } = item;
  const input = tool === 'file_change' ? { changes: item.changes } : { server: item.server, tool: item.tool };
  return [...called({ id, tool, input }, []), ...returned({ id, output: status, isError: status === 'failed' })];
}
