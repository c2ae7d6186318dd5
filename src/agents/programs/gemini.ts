import { join } from 'node:path';
import { z } from 'zod';
import { type AgentEvent, type AgentJob, type AgentProgram, type EventReader, NO_KEY } from './agent-program.ts';
import { parseLine, textOf } from './event-line.ts';

/** Its home is ours, with settings that turn hooks and updates off and bound its turns. */
export const gemini: AgentProgram = {
  name: 'gemini',
  cli: 'gemini-cli',
  skillFolders: { user: '.gemini/skills', project: '.gemini/skills' },
  capabilities: { seesLoading: 'event', seesOffers: false, limitsTurns: true },
  hidden: ['.gemini/settings.json'], // of a folder that is trusted, without which it runs no tools
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  provider: ({
    GOOGLE_API_KEY,
    GEMINI_API_KEY: key = GOOGLE_API_KEY,
    GOOGLE_GEMINI_BASE_URL: baseURL = GOOGLE_URL,
  }) => ({
    baseURL,
    key,
    auth: 'x-goog-api-key',
  }),
  signIn: ({ env: { GEMINI_CLI_HOME }, userHome }) =>
    Object.fromEntries(
      CREDENTIALS.map((name) => [`.gemini/${name}`, join(GEMINI_CLI_HOME ?? userHome, '.gemini', name)]),
    ),
  launch: (job) => ({
    args: [
      ...['-o', 'stream-json', '--approval-mode', 'yolo', '--extensions', 'none'],
      ...(job.model === undefined ? [] : ['-m', job.model]),
      ...['-p', job.prompt],
    ],
    env: {
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      ...(job.modelUrl === undefined ? {} : { GOOGLE_GEMINI_BASE_URL: job.modelUrl, GEMINI_API_KEY: NO_KEY }),
    },
    files: { '.gemini/settings.json': settingsFor(job) },
  }),
  reader: geminiReader,
};

const GOOGLE_URL = 'https://generativelanguage.googleapis.com';
const CREDENTIALS = ['oauth_creds.json', 'google_accounts.json', 'gemini-credentials.json', 'installation_id'];

function settingsFor({ modelUrl, limits: { maxTurns } }: AgentJob): string {
  const off = { enabled: false };
  return JSON.stringify({
    security: { auth: { selectedType: modelUrl === undefined ? 'oauth-personal' : 'gemini-api-key' } },
    ...(maxTurns === undefined ? {} : { model: { maxSessionTurns: maxTurns } }),
    hooksConfig: off,
    context: { memoryBoundaryMarkers: [] }, // no instructions from the folders above the workspace
    general: { enableAutoUpdate: false, maxAttempts: 1 }, // retrying is the gateway's
    privacy: { usageStatisticsEnabled: false },
    telemetry: off,
  });
}

const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message'), role: z.string(), content: z.string(), delta: z.boolean().optional() }),
  z.object({ type: z.literal('tool_use'), tool_name: z.string(), tool_id: z.string(), parameters: z.unknown() }),
  z.object({ type: z.literal('tool_result'), tool_id: z.string(), status: z.string(), output: z.unknown() }),
  z.object({ type: z.literal('error'), message: z.string() }),
  z.object({
    type: z.literal('result'),
    status: z.string(),
    error: z.object({ type: z.string().optional(), message: z.string() }).optional(),
    stats: z
      .object({
        input_tokens: z.number().default(0),
        output_tokens: z.number().default(0),
        cached: z.number().default(0),
      })
      .optional(),
  }),
]);
type Line = z.infer<typeof Line>;
const Loading = z.object({ name: z.string() });

/** Its words come in pieces; a call or the end closes them. */
function geminiReader(): EventReader {
  let said = '';
  const loading = new Map<string, string>();
  const flush = (): AgentEvent[] => {
    const text = said;
    said = '';
    return text === '' ? [] : [{ type: 'text', text }];
  };
  const read = (line: Line): AgentEvent[] => {
    if (line.type === 'message') {
      if (line.role === 'assistant') said += line.content;
      return [];
    }
    if (line.type === 'error') return [];
    if (line.type === 'result') return [...flush(), ...resultEvents(line)];
    if (line.type === 'tool_use') {
      const named = line.tool_name === 'activate_skill' ? Loading.safeParse(line.parameters) : undefined;
      if (named?.success) loading.set(line.tool_id, named.data.name);
      return [...flush(), { type: 'tool-call', id: line.tool_id, tool: line.tool_name, input: line.parameters }];
    }
    const isError = line.status !== 'success';
    const name = isError ? undefined : loading.get(line.tool_id);
    const result = { type: 'tool-result', id: line.tool_id, output: textOf(line.output), isError } as const;
    return [...flush(), result, ...(name === undefined ? [] : [{ type: 'skill-loaded', name } as const])];
  };
  return (text) => {
    const line = Line.safeParse(parseLine(text));
    return line.success ? read(line.data) : [];
  };
}

function resultEvents({ status, error, stats }: Extract<Line, { type: 'result' }>): AgentEvent[] {
  const usage = {
    input: stats?.input_tokens ?? 0,
    cached: stats?.cached ?? 0,
    output: stats?.output_tokens ?? 0,
    reasoning: 0,
  };
  const used: AgentEvent = { type: 'usage', usage, isTotal: true };
  if (status === 'success') return [used, { type: 'end', ended: 'done' }];
  if (/turn/i.test(`${error?.type} ${error?.message}`)) return [used, { type: 'end', ended: 'turns' }];
  return [used, { type: 'failure', refusal: { failure: error?.message ?? status } }];
}
