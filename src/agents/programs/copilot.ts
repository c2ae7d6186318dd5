import { z } from 'zod';
import { type AgentEvent, type AgentJob, type AgentProgram, type EventReader, NO_KEY } from './agent-program.ts';
import { OPENAI_URL } from './codex.ts';
import { parseLine, textOf } from './event-line.ts';

/**
 * With a key it asks a provider of the user's own; otherwise it needs a sign-in. It drops skills with long descriptions.
 * The workspace is not said to be trusted, so that hooks and servers of the repository stay off.
 */
export const copilot: AgentProgram = {
  name: 'copilot',
  cli: 'copilot-cli',
  skillFolders: { user: '.copilot/skills', project: '.github/skills' },
  capabilities: { seesLoading: 'event', seesOffers: true, limitsTurns: false },
  longestDescription: 1024,
  dropsLonger: true,
  keyVariables: ['COPILOT_PROVIDER_API_KEY', 'OPENAI_API_KEY'],
  provider: ({
    OPENAI_API_KEY,
    OPENAI_BASE_URL = OPENAI_URL,
    COPILOT_PROVIDER_API_KEY,
    COPILOT_PROVIDER_BASE_URL,
  }) => ({
    baseURL: COPILOT_PROVIDER_BASE_URL ?? OPENAI_BASE_URL,
    key: COPILOT_PROVIDER_API_KEY ?? OPENAI_API_KEY,
    auth: 'bearer',
  }),
  signIn: ({ userHome }) => ({ '.copilot/config.json': `${userHome}/.copilot/config.json` }),
  keyrings: ['darwin', 'linux', 'win32'],
  launch: (job) => ({
    args: [
      ...['--allow-all-tools', '--no-ask-user', '--disable-builtin-mcps', '--stream', 'off', '--output-format', 'json'],
      ...['--no-auto-update', '--log-level', 'none'],
      ...(job.model === undefined ? [] : ['--model', job.model]),
      ...['-p', job.prompt],
    ],
    env: { COPILOT_AUTO_UPDATE: 'false', ...providerVariables(job) },
    files: { '.copilot/settings.json': JSON.stringify({ disableAllHooks: true }) },
  }),
  reader: copilotReader,
};

const providerVariables = ({ modelUrl }: AgentJob) =>
  modelUrl === undefined
    ? {}
    : {
        COPILOT_PROVIDER_TYPE: 'openai',
        COPILOT_PROVIDER_BASE_URL: modelUrl,
        COPILOT_PROVIDER_API_KEY: NO_KEY,
        COPILOT_OFFLINE: 'true',
      };

const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('assistant.message'), data: z.object({ content: z.string() }) }),
  z.object({
    type: z.literal('tool.execution_start'),
    data: z.object({ toolCallId: z.string(), toolName: z.string(), arguments: z.unknown() }),
  }),
  z.object({
    type: z.literal('tool.execution_complete'),
    data: z.object({ toolCallId: z.string(), success: z.boolean(), result: z.unknown(), error: z.unknown() }).partial({
      result: true,
      error: true,
    }),
  }),
  z.object({
    type: z.literal('session.skills_loaded'),
    data: z.object({ skills: z.array(z.object({ name: z.string(), enabled: z.boolean().optional() })) }),
  }),
  z.object({
    type: z.literal('session.error'),
    data: z.object({ message: z.string(), statusCode: z.number().optional() }),
  }),
  z.object({ type: z.literal('result') }),
]);
const Loading = z.object({ skill: z.string() });
const Content = z.object({ content: z.unknown() });

function copilotReader(): EventReader {
  const loading = new Map<string, string>();
  return (text) => {
    const line = Line.safeParse(parseLine(text));
    return line.success ? read(line.data, loading) : [];
  };
}

function read(line: z.infer<typeof Line>, loading: Map<string, string>): AgentEvent[] {
  switch (line.type) {
    case 'assistant.message':
      return line.data.content === '' ? [] : [{ type: 'text', text: line.data.content }];
    case 'session.skills_loaded':
      return line.data.skills
        .filter(({ enabled = true }) => enabled)
        .map(({ name }) => ({ type: 'skill-offered', name }));
    case 'session.error':
      return [{ type: 'failure', refusal: { failure: line.data.message, status: line.data.statusCode } }];
    case 'result':
      return [{ type: 'end', ended: 'done' }];
    case 'tool.execution_start': {
      const { toolCallId: id, toolName: tool, arguments: input } = line.data;
      const named = tool === 'skill' ? Loading.safeParse(input) : undefined;
      if (named?.success) loading.set(id, named.data.skill);
      return [{ type: 'tool-call', id, tool, input }];
    }
    case 'tool.execution_complete': {
      const { toolCallId: id, success, result, error } = line.data;
      const content = Content.safeParse(success ? result : error);
      const output = textOf(content.success ? content.data.content : success ? result : error);
      const name = success ? loading.get(id) : undefined;
      const given = { type: 'tool-result', id, output, isError: !success } as const;
      return [given, ...(name === undefined ? [] : [{ type: 'skill-loaded', name } as const])];
    }
  }
}
