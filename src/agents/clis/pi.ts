import { join } from 'node:path';
import { z } from 'zod';
import type { Usage } from '../../core/contracts/index.ts';
import type { AgentCli, AgentEvent, AgentJob, AgentOutput, EventReader } from '../agent-cli.ts';
import { bareModel, NO_KEY, openaiProvider, option, PLAIN_PROMPT, providerVariables } from '../cli-parts.ts';
import { contentOf, eventsLike, jsonEvents, lastEvent, lineReader, skillsReadIn, toolEvents } from '../read-events.ts';

/** Behind the gateway it asks a provider that our settings define. There is no event for loading a skill: it reads the file. */
export const pi: AgentCli<'pi'> = {
  name: 'pi',
  cli: 'pi-cli',
  title: 'pi',
  binary: 'pi',
  installCommand: 'npm install -g @earendil-works/pi-coding-agent',
  signInCommand: 'pi (then /login)',
  hasManyProviders: true,
  variables: ({ model }) => ['PI_*', ...providerVariables(model)],
  documents: {
    home: { variable: 'PI_CODING_AGENT_DIR', folder: '.pi/agent' },
    ownSkills: ['skills'],
    sharedSkills: ['.agents/skills'],
    projectSkills: ['.pi/skills', '.agents/skills'],
    instructions: ['AGENTS.md'],
    otherInstructions: ['CLAUDE.md'],
  },
  invoke: ({ model, conversation, system, folder }) => ({
    args: [...withoutTools, '--system-prompt', join(folder, 'system.md'), ...option('--model', model)],
    input: conversation,
    env: quiet,
    files: { 'system.md': system || PLAIN_PROMPT },
  }),
  read: readAnswer,
  refusalIn(line) {
    const retrying = lastEvent(line, Retrying);
    return retrying && { failure: retrying.errorMessage };
  },
  skillFolders: { user: '.pi/agent/skills', project: '.pi/skills' },
  capabilities: { seesLoading: 'reads', seesOffers: false, limitsTurns: false },
  hidden: ['.pi/settings.json'], // a prefix to each command is among them
  keyVariables: ['OPENAI_API_KEY'],
  provider: openaiProvider,
  signIn: ({ userHome }) => ({ '.pi/agent/auth.json': `${userHome}/.pi/agent/auth.json` }),
  launch: (job) => ({
    args: [...['-p', '--mode', 'json', '--no-session', '--no-extensions'], ...modelArgs(job), job.prompt],
    env: quiet,
    ...(job.modelUrl === undefined ? {} : { files: { '.pi/agent/models.json': gatewayModels(job) } }),
  }),
  reader: piReader,
};

const quiet = { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' };

const withoutTools = [
  ...['-p', '--mode', 'json', '--no-tools', '--no-session', '--no-extensions', '--no-skills'],
  ...['--no-prompt-templates', '--no-themes', '--no-context-files'],
  ...['--append-system-prompt', ''], // instead of the user's APPEND_SYSTEM.md
];

const modelArgs = ({ modelUrl, model }: AgentJob) =>
  modelUrl === undefined ? option('--model', model) : ['--provider', 'skillopt', '--model', bareModel(model)];

function gatewayModels({ modelUrl: baseUrl, model }: AgentJob): string {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const limits = { contextWindow: 200_000, maxTokens: 32_000 };
  const name = bareModel(model);
  const listed = { id: name, name, reasoning: false, input: ['text'], ...limits, cost };
  const skillopt = { baseUrl, api: 'openai-completions', apiKey: NO_KEY, models: [listed] };
  return JSON.stringify({ providers: { skillopt } });
}

const Tokens = z
  .object({
    input: z.number(),
    output: z.number(),
    cacheRead: z.number().default(0),
    cacheWrite: z.number().default(0),
    cost: z.object({ total: z.number() }).partial().optional(),
  })
  .transform(({ input, output, cacheRead, cacheWrite, cost }) => {
    const usage: Usage = { input: input + cacheRead + cacheWrite, cached: cacheRead, output, reasoning: 0 };
    return { usage, costUsd: cost?.total };
  });
const MessageEnd = z.object({
  type: z.literal('message_end'),
  message: z.object({
    role: z.string(),
    content: z
      .array(z.object({ type: z.string(), text: z.string().optional() }))
      .catch([])
      .transform((parts) => parts.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('')),
    usage: Tokens.optional(),
    stopReason: z.string().optional(),
    errorMessage: z.string().optional(),
  }),
});
const Retrying = z.object({ type: z.literal('auto_retry_start'), errorMessage: z.string() });
const Line = z.discriminatedUnion('type', [
  MessageEnd,
  z.object({
    type: z.literal('tool_execution_start'),
    toolCallId: z.string(),
    toolName: z.string(),
    args: z.unknown(),
  }),
  z.object({
    type: z.literal('tool_execution_end'),
    toolCallId: z.string(),
    result: z.unknown(),
    isError: z.boolean().default(false),
  }),
  z.object({ type: z.literal('agent_end') }),
]);

function readAnswer({ stdout }: AgentOutput) {
  const messages = eventsLike(jsonEvents(stdout), MessageEnd).map(({ message }) => message);
  const last = messages.findLast(({ role, usage }) => role === 'assistant' && usage !== undefined);
  if (last?.usage === undefined) return undefined;
  const { content: text, stopReason, errorMessage } = last;
  if (errorMessage !== undefined) return { failure: errorMessage };
  return { text, usage: last.usage.usage, finishReason: stopReason === 'length' ? 'length' : 'stop' } as const;
}

function piReader(skills: readonly string[]): EventReader {
  const tools = toolEvents();
  return lineReader(Line, (line) => {
    if (line.type === 'agent_end') return [{ type: 'end', ended: 'done' }];
    if (line.type === 'message_end') return messageEvents(line.message);
    const { toolCallId: id } = line;
    if (line.type === 'tool_execution_end')
      return tools.returned({ id, output: contentOf(line.result), isError: line.isError });
    const { toolName: tool, args: input } = line;
    return tools.called({ id, tool, input }, skillsReadIn(JSON.stringify(input ?? ''), skills));
  });
}

function messageEvents(message: z.infer<typeof MessageEnd>['message']): readonly AgentEvent[] {
  const { role, content: text, usage: used, errorMessage } = message;
  if (role !== 'assistant') return [];
  if (errorMessage !== undefined) return [{ type: 'failure', refusal: { failure: errorMessage } }];
  return [
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...(used === undefined ? [] : [{ type: 'usage', ...used, isTotal: false } as const]),
  ];
}
