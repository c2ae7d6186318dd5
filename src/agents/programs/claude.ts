import { join } from 'node:path';
import { z } from 'zod';
import type { AgentEnd } from '../../core/contracts/index.ts';
import { type AgentEvent, type AgentJob, type AgentProgram, type EventReader, NO_KEY } from './agent-program.ts';
import { parseLine, textOf } from './event-line.ts';

/** The user's settings come from an empty home. What the repository tells agents is read; its hooks, settings and servers are not. */
export const claude: AgentProgram = {
  name: 'claude',
  cli: 'claude-cli',
  skillFolders: { user: '.claude/skills', project: '.claude/skills' },
  capabilities: { seesLoading: 'event', seesOffers: true, limitsTurns: true },
  hidden: ['.claude/settings.json'], // a helper for keys is a program
  keyVariables: ['ANTHROPIC_API_KEY'],
  provider: ({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: baseURL = 'https://api.anthropic.com' }) => ({
    baseURL,
    key,
    auth: 'x-api-key',
  }),
  signIn: ({ env: { CLAUDE_CONFIG_DIR }, userHome }) => ({
    '.claude/.credentials.json': join(CLAUDE_CONFIG_DIR ?? join(userHome, '.claude'), '.credentials.json'),
  }),
  keyrings: ['darwin'],
  launch: (job) => ({ args: argumentsFor(job), env: variablesFor(job) }),
  reader: claudeReader('Skill'),
};

function argumentsFor({ model, limits: { maxTurns, maxUsd }, prompt }: AgentJob): string[] {
  return [
    ...['-p', '--output-format', 'stream-json', '--verbose', '--dangerously-skip-permissions'],
    ...['--setting-sources', 'user,project', '--settings', '{"disableAllHooks":true}', '--strict-mcp-config'],
    '--no-session-persistence',
    ...(model === undefined ? [] : ['--model', model]),
    ...(maxTurns === undefined ? [] : ['--max-turns', String(maxTurns)]),
    ...(maxUsd === undefined ? [] : ['--max-budget-usd', String(maxUsd)]),
    ...['--', prompt],
  ];
}

const variablesFor = ({ modelUrl, model }: AgentJob) => ({
  ...(modelUrl === undefined ? {} : { ANTHROPIC_BASE_URL: modelUrl, ANTHROPIC_API_KEY: NO_KEY, ...helpersFor(model) }),
  CLAUDECODE: undefined, // set inside a session, where the CLI refuses to start another
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  IS_SANDBOX: '1', // root may not bypass permissions otherwise
});

/** It asks a small model for pages of the web, and others for its sub-agents: the gateway lets none pass but the run's own. */
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
  z.object({
    type: z.literal('result'),
    subtype: z.string(),
    is_error: z.boolean(),
    api_error_status: z.number().nullish(),
    result: z.string().optional(),
    total_cost_usd: z.number().optional(),
    usage: z.object({
      input_tokens: z.number().default(0),
      output_tokens: z.number().default(0),
      cache_creation_input_tokens: z.number().nullish(),
      cache_read_input_tokens: z.number().nullish(),
    }),
  }),
]);
type Line = z.infer<typeof Line>;
type Result = Extract<Line, { type: 'result' }>;

/** The stream of Claude Code, and of those who print the same. `skillTool` is how the tool that loads skills is called. */
export function claudeReader(skillTool: string): (skills: readonly string[]) => EventReader {
  return () => {
    const loading = new Map<string, string>();
    const read = (line: Line): readonly AgentEvent[] => {
      if (line.type === 'system')
        return (line.slash_commands ?? []).map((name) => ({ type: 'skill-offered', name }) as const);
      if (line.type === 'result') return resultEvents(line);
      if (line.type === 'user' && line.isSynthetic) return []; // the body of a skill
      return blocksOf(line.message.content).flatMap((block) => blockEvents(block, { skillTool, loading }));
    };
    return (text) => {
      const line = Line.safeParse(parseLine(text));
      return line.success ? read(line.data) : [];
    };
  };
}

const blocksOf = (content: string | readonly unknown[]) =>
  typeof content === 'string'
    ? []
    : content.flatMap((block) => {
        const parsed = Block.safeParse(block);
        return parsed.success ? [parsed.data] : [];
      });

type Loading = { readonly skillTool: string; readonly loading: Map<string, string> };

function blockEvents(block: z.infer<typeof Block>, { skillTool, loading }: Loading): AgentEvent[] {
  if (block.type === 'text') return [{ type: 'text', text: block.text }];
  if (block.type === 'tool_use') {
    const skill = block.name === skillTool ? skillIn(block.input) : undefined;
    if (skill !== undefined) loading.set(block.id, skill);
    return [{ type: 'tool-call', id: block.id, tool: block.name, input: block.input }];
  }
  const isError = block.is_error ?? false;
  const name = isError ? undefined : loading.get(block.tool_use_id);
  const result = { type: 'tool-result', id: block.tool_use_id, output: textOf(block.content), isError } as const;
  return [result, ...(name === undefined ? [] : [{ type: 'skill-loaded', name } as const])];
}

function skillIn(input: unknown): string | undefined {
  const parsed = z.object({ skill: z.string() }).safeParse(input);
  return parsed.success ? parsed.data.skill : undefined;
}

const ENDS: Readonly<Record<string, AgentEnd>> = { error_max_turns: 'turns', error_max_budget_usd: 'budget' };

function resultEvents({ subtype, is_error, api_error_status, result, total_cost_usd, usage }: Result): AgentEvent[] {
  const cached = usage.cache_read_input_tokens ?? 0;
  const input = usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + cached;
  const counted = { input, cached, output: usage.output_tokens, reasoning: 0 };
  const used: AgentEvent = { type: 'usage', usage: counted, costUsd: total_cost_usd, isTotal: true };
  const limit = ENDS[subtype];
  if (limit !== undefined) return [used, { type: 'end', ended: limit }];
  if (!is_error) return [used, { type: 'end', ended: 'done', text: result }];
  return [used, { type: 'failure', refusal: { failure: result ?? subtype, status: api_error_status ?? undefined } }];
}
