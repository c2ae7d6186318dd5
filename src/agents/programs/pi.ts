import { z } from 'zod';
import { type AgentEvent, type AgentJob, type AgentProgram, type EventReader, NO_KEY } from './agent-program.ts';
import { OPENAI_URL } from './codex.ts';
import { parseLine, skillsReadIn, textOf } from './event-line.ts';

/** Behind a gateway it asks a provider of our making. There is no event for loading a skill: it reads the file. */
export const pi: AgentProgram = {
  name: 'pi',
  cli: 'pi-cli',
  skillFolders: { user: '.pi/agent/skills', project: '.pi/skills' },
  capabilities: { seesLoading: 'reads', seesOffers: false, limitsTurns: false },
  hidden: ['.pi/settings.json'], // a prefix to each command is among them
  keyVariables: ['OPENAI_API_KEY'],
  provider: ({ OPENAI_API_KEY: key, OPENAI_BASE_URL: baseURL = OPENAI_URL }) => ({ baseURL, key, auth: 'bearer' }),
  signIn: ({ userHome }) => ({ '.pi/agent/auth.json': `${userHome}/.pi/agent/auth.json` }),
  launch: (job) => ({
    args: [...['-p', '--mode', 'json', '--no-session', '--no-extensions'], ...modelArguments(job), job.prompt],
    env: { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' },
    ...(job.modelUrl === undefined ? {} : { files: { '.pi/agent/models.json': modelsFor(job) } }),
  }),
  reader: piReader,
};

const modelName = ({ model = 'default' }: AgentJob) => model.slice(model.indexOf('/') + 1);

const modelArguments = (job: AgentJob) =>
  job.modelUrl !== undefined
    ? ['--provider', 'skillopt', '--model', modelName(job)]
    : job.model === undefined
      ? []
      : ['--model', job.model];

function modelsFor(job: AgentJob): string {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const limits = { contextWindow: 200_000, maxTokens: 32_000 };
  const name = modelName(job);
  const model = { id: name, name, reasoning: false, input: ['text'], ...limits, cost };
  const skillopt = { baseUrl: job.modelUrl, api: 'openai-completions', apiKey: NO_KEY, models: [model] };
  return JSON.stringify({ providers: { skillopt } });
}

const Line = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message_end'),
    message: z.object({
      role: z.string(),
      content: z.array(z.object({ type: z.string(), text: z.string().optional() })).catch([]),
      usage: z
        .object({
          input: z.number(),
          output: z.number(),
          cacheRead: z.number().default(0),
          cacheWrite: z.number().default(0),
          cost: z.object({ total: z.number() }).partial().optional(),
        })
        .optional(),
      errorMessage: z.string().optional(),
    }),
  }),
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
type Line = z.infer<typeof Line>;
const Content = z.object({ content: z.unknown() });

function piReader(skills: readonly string[]): EventReader {
  const reading = new Map<string, readonly string[]>();
  const read = (line: Line): AgentEvent[] => {
    if (line.type === 'agent_end') return [{ type: 'end', ended: 'done' }];
    if (line.type === 'message_end') return messageEvents(line.message);
    if (line.type === 'tool_execution_start') {
      const { toolCallId: id, toolName: tool, args: input } = line;
      reading.set(id, skillsReadIn(JSON.stringify(input ?? ''), skills));
      return [{ type: 'tool-call', id, tool, input }];
    }
    const { toolCallId: id, isError, result } = line;
    const content = Content.safeParse(result);
    const output = textOf(content.success ? content.data.content : result);
    const loaded = isError ? [] : (reading.get(id) ?? []);
    return [
      { type: 'tool-result', id, output, isError },
      ...loaded.map((name) => ({ type: 'skill-loaded', name }) as const),
    ];
  };
  return (text) => {
    const line = Line.safeParse(parseLine(text));
    return line.success ? read(line.data) : [];
  };
}

function messageEvents({
  role,
  content,
  usage,
  errorMessage,
}: Extract<Line, { type: 'message_end' }>['message']): AgentEvent[] {
  if (role !== 'assistant') return [];
  if (errorMessage !== undefined) return [{ type: 'failure', refusal: { failure: errorMessage } }];
  const text = content.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('');
  return [...(text === '' ? [] : [{ type: 'text', text } as const]), ...(usage ? [usageEvent(usage)] : [])];
}

function usageEvent({
  input,
  output,
  cacheRead,
  cacheWrite,
  cost,
}: NonNullable<Extract<Line, { type: 'message_end' }>['message']['usage']>): AgentEvent {
  const usage = { input: input + cacheRead + cacheWrite, cached: cacheRead, output, reasoning: 0 };
  return { type: 'usage', usage, costUsd: cost?.total, isTotal: false };
}
