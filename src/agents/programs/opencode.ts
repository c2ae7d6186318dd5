import { join } from 'node:path';
import { z } from 'zod';
import { type AgentEvent, type AgentJob, type AgentProgram, NO_KEY } from './agent-program.ts';
import { OPENAI_URL } from './codex.ts';
import { parseLine, textOf } from './event-line.ts';

/** Behind a gateway it asks a provider of our making; with a sign-in, the one that its model names. */
export const opencode: AgentProgram = {
  name: 'opencode',
  cli: 'opencode-cli',
  skillFolders: { user: '.config/opencode/skills', project: '.opencode/skills' },
  capabilities: { seesLoading: 'event', seesOffers: false, limitsTurns: false },
  needs: ['rg'], // it would download one, and without network its tool for skills fails
  // Its own switches leave plugins on, whatever they are said to do.
  hidden: [
    ...['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc'],
    ...['.opencode/plugin', '.opencode/plugins', '.opencode/tool', '.opencode/tools'],
  ],
  keyVariables: ['OPENAI_API_KEY'],
  provider: ({ OPENAI_API_KEY: key, OPENAI_BASE_URL: baseURL = OPENAI_URL }) => ({ baseURL, key, auth: 'bearer' }),
  signIn: ({ env: { XDG_DATA_HOME }, userHome }) => ({
    '.local/share/opencode/auth.json': join(XDG_DATA_HOME ?? join(userHome, '.local/share'), 'opencode/auth.json'),
  }),
  launch: (job) => ({
    args: [...['run', '--format', 'json', '--auto', '--title', 'task'], ...modelArguments(job), '--', job.prompt],
    env: {
      XDG_CONFIG_HOME: join(job.home, '.config'),
      XDG_DATA_HOME: join(job.home, '.local/share'),
      XDG_STATE_HOME: join(job.home, '.local/state'),
      XDG_CACHE_HOME: join(job.home, '.cache'),
      OPENCODE_PURE: '1',
      OPENCODE_DISABLE_PROJECT_CONFIG: '1', // it would also write to .opencode
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    },
    files: { '.config/opencode/opencode.json': settingsFor(job) },
  }),
  reader: () => (text) => {
    const line = Line.safeParse(parseLine(text));
    return line.success ? read(line.data) : [];
  },
};

const modelName = ({ model = 'default' }: AgentJob) => model.slice(model.indexOf('/') + 1);

const modelArguments = (job: AgentJob) =>
  job.modelUrl !== undefined ? ['-m', `skillopt/${modelName(job)}`] : job.model === undefined ? [] : ['-m', job.model];

function settingsFor(job: AgentJob): string {
  const options = { baseURL: job.modelUrl, apiKey: NO_KEY };
  const skillopt = { npm: '@ai-sdk/openai-compatible', options, models: { [modelName(job)]: {} } };
  return JSON.stringify({
    autoupdate: false,
    share: 'disabled',
    snapshot: false,
    // Left out with the settings of the repository, and no programs.
    instructions: ['AGENTS.md', 'CLAUDE.md'].map((name) => join(job.workspace, name)),
    skills: { paths: [join(job.workspace, opencode.skillFolders.project)] },
    ...(job.modelUrl === undefined ? {} : { provider: { skillopt }, small_model: `skillopt/${modelName(job)}` }),
  });
}

const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), part: z.object({ text: z.string() }) }),
  z.object({
    type: z.literal('tool_use'),
    part: z.object({
      tool: z.string(),
      callID: z.string(),
      state: z.object({ status: z.string(), input: z.unknown(), output: z.unknown(), error: z.unknown() }).partial(),
    }),
  }),
  z.object({
    type: z.literal('step_finish'),
    part: z.object({
      reason: z.string().optional(),
      cost: z.number().optional(),
      tokens: z.object({
        input: z.number(),
        output: z.number(),
        reasoning: z.number().default(0),
        cache: z.object({ read: z.number().default(0), write: z.number().default(0) }),
      }),
    }),
  }),
  z.object({
    type: z.literal('error'),
    error: z.object({
      name: z.string(),
      data: z.object({ message: z.string().optional(), statusCode: z.number().optional() }).optional(),
    }),
  }),
]);
type Line = z.infer<typeof Line>;
const Loading = z.object({ name: z.string() });

function read(line: Line): AgentEvent[] {
  if (line.type === 'text') return [{ type: 'text', text: line.part.text }];
  if (line.type === 'error') {
    const { name, data } = line.error;
    return [{ type: 'failure', refusal: { failure: data?.message ?? name, status: data?.statusCode } }];
  }
  if (line.type === 'step_finish') return stepEvents(line.part);
  return toolEvents(line.part);
}

function stepEvents({ tokens, cost, reason }: Extract<Line, { type: 'step_finish' }>['part']): AgentEvent[] {
  const { input, output, reasoning, cache } = tokens;
  const usage = { input: input + cache.read + cache.write, cached: cache.read, output: output + reasoning, reasoning };
  const used: AgentEvent = { type: 'usage', usage, costUsd: cost, isTotal: false };
  return reason === 'tool-calls' ? [used] : [used, { type: 'end', ended: 'done' }];
}

function toolEvents({ tool, callID: id, state }: Extract<Line, { type: 'tool_use' }>['part']): AgentEvent[] {
  const isError = state.status !== 'completed';
  const named = tool === 'skill' && !isError ? Loading.safeParse(state.input) : undefined;
  return [
    { type: 'tool-call', id, tool, input: state.input },
    { type: 'tool-result', id, output: textOf(isError ? (state.error ?? state.output) : state.output), isError },
    ...(named?.success ? [{ type: 'skill-loaded', name: named.data.name } as const] : []),
  ];
}
