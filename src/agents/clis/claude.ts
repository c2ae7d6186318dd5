import { join } from 'node:path';
import { z } from 'zod';
import type { AgentEnd, Usage } from '../../core/contracts/index.ts';
import type { AgentCall, AgentCli, AgentEvent, AgentJob, AgentOutput, CliUser, EventReader } from '../agent-cli.ts';
import { AMAZON, GOOGLE_CLOUD, NO_KEY, option, PLAIN_PROMPT, uselessTools } from '../cli-parts.ts';
import { eventsLike, lastEvent, lineReader, skillNamedIn, toolEvents } from '../read-events.ts';

/**
 * As a chat, `--setting-sources ""` keeps out CLAUDE.md, skills and settings; `--bare` would sign out. With tools, its home is
 * empty. It reads the repository's instructions, but not the repository's hooks, settings and servers.
 */
export const claude: AgentCli<'claude'> = {
  name: 'claude',
  cli: 'claude-cli',
  title: 'Claude Code',
  binary: 'claude',
  installCommand: 'npm install -g @anthropic-ai/claude-code',
  signInCommand: 'claude auth login',
  variables: ({ env: { CLAUDE_CODE_USE_BEDROCK, CLAUDE_CODE_USE_VERTEX } }) => [
    ...['ANTHROPIC_*', 'CLAUDE_*', 'DISABLE_TELEMETRY', 'DISABLE_ERROR_REPORTING', 'API_TIMEOUT_MS', 'IS_SANDBOX'],
    ...(CLAUDE_CODE_USE_BEDROCK ? AMAZON : []),
    ...(CLAUDE_CODE_USE_VERTEX ? GOOGLE_CLOUD : []),
  ],
  signInFiles: (user) => Object.values(signIn(user)),
  documents: {
    home: { variable: 'CLAUDE_CONFIG_DIR', folder: '.claude' },
    ownSkills: ['skills'],
    sharedSkills: [],
    projectSkills: ['.claude/skills'],
    instructions: ['CLAUDE.md'],
  },
  invoke: (call) => ({
    args: [...withoutTools, ...option('--model', call.model), ...systemArgs(call)],
    input: call.conversation,
    env: { ...quiet, CLAUDE_CODE_MAX_RETRIES: '0' }, // retrying is ours
    files: { 'system.md': call.system },
  }),
  read: readAnswer,
  skillFolders: { user: '.claude/skills', project: '.claude/skills' },
  capabilities: { seesLoading: 'event', seesOffers: true, limitsTurns: true },
  hidden: ['.claude/settings.json'], // a helper for keys is a program
  keyVariables: ['ANTHROPIC_API_KEY'],
  provider: ({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: baseURL = 'https://api.anthropic.com' }) => ({
    baseURL,
    key,
    auth: 'x-api-key',
  }),
  signIn,
  keyrings: ['darwin'],
  launch: (job) => ({ args: workArgs(job), env: workVariables(job) }),
  reader: claudeReader('Skill'),
};

function signIn({ env: { CLAUDE_CONFIG_DIR }, userHome }: CliUser) {
  const file = join(CLAUDE_CONFIG_DIR ?? join(userHome, '.claude'), '.credentials.json');
  return { '.claude/.credentials.json': file };
}

const quiet = {
  CLAUDECODE: undefined, // set inside a session, where the CLI refuses to start another
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
};

const withoutTools = [
  ...['-p', '--output-format', 'json', '--tools', '', '--setting-sources', ''],
  ...['--strict-mcp-config', '--disable-slash-commands', '--no-session-persistence'],
];

/** Without a system prompt of ours, the CLI would use its own long one. */
const systemArgs = ({ system, folder }: AgentCall) =>
  system === '' ? ['--system-prompt', PLAIN_PROMPT] : ['--system-prompt-file', join(folder, 'system.md')];

/** The provider counts what is read from and written to its cache separately from the rest of the input. */
const ResultUsage = z
  .object({
    input_tokens: z.number().default(0),
    output_tokens: z.number().default(0),
    cache_creation_input_tokens: z.number().nullish(),
    cache_read_input_tokens: z.number().nullish(),
  })
  .transform((tokens): Usage => {
    const cached = tokens.cache_read_input_tokens ?? 0;
    const input = tokens.input_tokens + (tokens.cache_creation_input_tokens ?? 0) + cached;
    return { input, cached, output: tokens.output_tokens, reasoning: 0 };
  });
const Result = z.object({
  type: z.literal('result'),
  subtype: z.string().default(''),
  is_error: z.boolean(),
  api_error_status: z.number().nullish(),
  result: z.string().optional(),
  stop_reason: z.string().nullish(),
  total_cost_usd: z.number().optional(),
  usage: ResultUsage,
});

function readAnswer({ stdout }: AgentOutput) {
  const found = lastEvent(stdout, Result);
  if (found === undefined) return undefined;
  const { is_error, api_error_status, result = '', stop_reason, usage } = found;
  if (is_error) return { failure: result, status: api_error_status ?? undefined };
  return { text: result, usage, finishReason: stop_reason === 'max_tokens' ? 'length' : 'stop' } as const;
}

const workArgs = (job: AgentJob): string[] => [
  ...['-p', '--output-format', 'stream-json', '--verbose', '--dangerously-skip-permissions'],
  ...['--setting-sources', 'user,project', '--settings', '{"disableAllHooks":true}', '--strict-mcp-config'],
  '--no-session-persistence',
  ...option('--disallowedTools', uselessTools(job, WEB).join() || undefined),
  ...option('--model', job.model),
  ...option('--max-turns', job.limits.maxTurns),
  ...option('--max-budget-usd', job.limits.maxUsd),
  ...['--', job.prompt],
];

const WEB = { search: ['WebSearch'], fetch: ['WebFetch'] };

const workVariables = ({ modelUrl, model }: AgentJob) => ({
  ...(modelUrl === undefined ? {} : { ANTHROPIC_BASE_URL: modelUrl, ANTHROPIC_API_KEY: NO_KEY, ...helpersFor(model) }),
  ...quiet,
  IS_SANDBOX: '1', // otherwise root may not bypass permissions
});

/** It asks other models about web pages and for sub-agents. The gateway refuses all but the run's own model. */
const helpersFor = (model: string | undefined) =>
  model?.startsWith('claude-')
    ? { ANTHROPIC_DEFAULT_HAIKU_MODEL: model, ANTHROPIC_SMALL_FAST_MODEL: model, CLAUDE_CODE_SUBAGENT_MODEL: model }
    : {};

const Block = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() }),
  z.object({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.unknown(),
    is_error: z.boolean().optional(),
  }),
]);
const Message = z.object({ content: z.union([z.string(), z.array(z.unknown())]) });
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('system'), subtype: z.string(), slash_commands: z.array(z.string()).optional() }),
  z.object({ type: z.literal('assistant'), message: Message }),
  z.object({ type: z.literal('user'), message: Message, isSynthetic: z.boolean().optional() }),
  Result,
]);

/** Reads the stream of Claude Code, and of CLIs that print the same. `skillTool` is the name of the tool that loads skills. */
export function claudeReader(skillTool: string): (skills: readonly string[]) => EventReader {
  return () => {
    const tools = toolEvents();
    const blockEvents = (block: z.infer<typeof Block>): readonly AgentEvent[] => {
      if (block.type === 'text') return [{ type: 'text', text: block.text }];
      if (block.type === 'tool_result')
        return tools.returned({ id: block.tool_use_id, output: block.content, isError: block.is_error ?? false });
      const { id, name: tool, input } = block;
      return tools.called({ id, tool, input }, tool === skillTool ? skillNamedIn(input, 'skill') : []);
    };
    return lineReader(Line, (line) => {
      if (line.type === 'system')
        return (line.slash_commands ?? []).map((name) => ({ type: 'skill-offered', name }) as const);
      if (line.type === 'result') return resultEvents(line);
      if (line.type === 'user' && line.isSynthetic) return []; // the body of a skill
      const { content } = line.message;
      return typeof content === 'string' ? [] : eventsLike(content, Block).flatMap(blockEvents);
    });
  };
}

const LIMITS: Readonly<Record<string, AgentEnd>> = { error_max_turns: 'turns', error_max_budget_usd: 'budget' };

function resultEvents(line: z.infer<typeof Result>): readonly AgentEvent[] {
  const { subtype, is_error, api_error_status, result, total_cost_usd: costUsd, usage } = line;
  const used = { type: 'usage', usage, costUsd, isTotal: true } as const;
  const limit = LIMITS[subtype];
  if (limit !== undefined) return [used, { type: 'end', ended: limit }];
  if (!is_error) return [used, { type: 'end', ended: 'done', text: result }];
  return [used, { type: 'failure', refusal: { failure: result ?? subtype, status: api_error_status ?? undefined } }];
}
