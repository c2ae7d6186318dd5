import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { AgentCall, AgentCli, AgentEvent, AgentJob, AgentOutput, CliUser, EventReader } from '../agent-cli.ts';
import { GOOGLE_CLOUD, NO_KEY, option, PLAIN_PROMPT, uselessTools } from '../cli-parts.ts';
import { lastEvent, lineReader, skillNamedIn, toolEvents } from '../read-events.ts';

/**
 * It always reads GEMINI.md in the user's home, so it gets another home: as a chat with the sign-in linked into it, with
 * tools with settings that turn off hooks and updates and limit its turns.
 */
export const gemini: AgentCli<'gemini'> = {
  name: 'gemini',
  cli: 'gemini-cli',
  title: 'Gemini CLI',
  binary: 'gemini',
  installCommand: 'npm install -g @google/gemini-cli',
  signInCommand: 'gemini (sign in once, then leave it)',
  variables: () => [
    ...['GEMINI_*', 'GOOGLE_API_KEY', 'GOOGLE_GEMINI_*', 'GOOGLE_GENAI_*', 'CODE_ASSIST_ENDPOINT'],
    ...GOOGLE_CLOUD,
  ],
  signInFiles: (user) => ['oauth_creds.json', 'gemini-credentials.json'].map((name) => join(userFolder(user), name)),
  documents: {
    home: { variable: 'GEMINI_CLI_HOME', folder: '' }, // the home in which .gemini is
    ownSkills: ['.gemini/skills'],
    sharedSkills: ['.agents/skills'],
    projectSkills: ['.gemini/skills', '.agents/skills'],
    instructions: ['GEMINI.md'],
  },
  invoke: (call) => ({
    args: ['--output-format', 'json', '--extensions', 'none', ...option('-m', call.model)],
    input: call.conversation,
    env: {
      GEMINI_CLI_HOME: join(call.folder, 'home'),
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_SYSTEM_MD: join(call.folder, 'system.md'),
    },
    files: { 'home/.gemini/settings.json': chatSettings(call), 'system.md': call.system || PLAIN_PROMPT },
    links: credentialFiles('home/.gemini', call),
  }),
  read: readAnswer,
  skillFolders: { user: '.gemini/skills', project: '.gemini/skills' },
  capabilities: { seesLoading: 'event', seesOffers: false, limitsTurns: true },
  hidden: ['.gemini/settings.json'], // read in a trusted folder, and in another one it runs no tools
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  provider: ({ GOOGLE_API_KEY, GEMINI_API_KEY: key = GOOGLE_API_KEY, GOOGLE_GEMINI_BASE_URL }) => ({
    baseURL: GOOGLE_GEMINI_BASE_URL ?? 'https://generativelanguage.googleapis.com',
    key,
    auth: 'x-goog-api-key',
  }),
  signIn: (user) => credentialFiles('.gemini', user),
  launch: (job) => ({
    args: [
      ...['-o', 'stream-json', '--approval-mode', 'yolo', '--extensions', 'none'],
      ...option('-m', job.model),
      ...['-p', job.prompt],
    ],
    env: {
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      ...(job.modelUrl === undefined ? {} : { GOOGLE_GEMINI_BASE_URL: job.modelUrl, GEMINI_API_KEY: NO_KEY }),
    },
    files: { '.gemini/settings.json': workSettings(job) },
  }),
  reader: geminiReader,
};

const userFolder = ({ env, userHome }: CliUser) => join(env.GEMINI_CLI_HOME ?? userHome, '.gemini');

const CREDENTIALS = ['oauth_creds.json', 'google_accounts.json', 'gemini-credentials.json', 'installation_id'];

const credentialFiles = (below: string, user: CliUser): Readonly<Record<string, string>> =>
  Object.fromEntries(CREDENTIALS.map((name) => [`${below}/${name}`, join(userFolder(user), name)]));

const off = { enabled: false };

const commonSettings = {
  hooksConfig: off,
  general: { enableAutoUpdate: false, maxAttempts: 1 }, // retrying is ours
  privacy: { usageStatisticsEnabled: false },
  telemetry: off,
};

/** Nothing of the user's settings but the way of signing in. */
const chatSettings = (call: AgentCall) =>
  JSON.stringify({
    ...commonSettings,
    security: { auth: userAuth(join(userFolder(call), 'settings.json')) },
    context: { includeDirectoryTree: false, memoryBoundaryMarkers: [] }, // nothing from the folders above
    skills: off,
    tools: { core: [] },
    admin: { extensions: off, mcp: off },
  });

function userAuth(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).security?.auth;
  } catch {
    return undefined; // the CLI cannot read them either, and then says how to sign in
  }
}

const WEB = { search: ['google_web_search'], fetch: ['web_fetch'] };

const workSettings = (job: AgentJob) =>
  JSON.stringify({
    ...commonSettings,
    security: { auth: { selectedType: job.modelUrl === undefined ? 'oauth-personal' : 'gemini-api-key' } },
    ...(job.limits.maxTurns === undefined ? {} : { model: { maxSessionTurns: job.limits.maxTurns } }),
    context: { memoryBoundaryMarkers: [] }, // no instructions from the folders above the workspace
    tools: { exclude: uselessTools(job, WEB) },
  });

const Tokens = z.object({
  prompt: z.number().default(0),
  cached: z.number().default(0),
  candidates: z.number().default(0),
  thoughts: z.number().default(0),
});
const Response = z.object({
  response: z.string(),
  stats: z.object({ models: z.record(z.string(), z.object({ tokens: Tokens })) }),
});
const Failed = z.object({ error: z.object({ message: z.string(), code: z.unknown() }) });

function readAnswer({ stdout, stderr }: AgentOutput) {
  const answer = lastEvent(stdout, Response);
  if (answer !== undefined) return { text: answer.response, usage: sumTokens(Object.values(answer.stats.models)) };
  const failed = (lastEvent(lastObject(stderr), Failed) ?? lastEvent(stdout, Failed))?.error;
  if (failed === undefined) return undefined;
  const { message, code } = failed;
  return { failure: message, status: typeof code === 'number' && code >= 300 ? code : undefined };
}

/** Failures are printed below warnings, as one object over several lines. */
const lastObject = (text: string) => text.slice(Math.max(text.lastIndexOf('\n{\n'), 0));

function sumTokens(models: readonly { readonly tokens: z.infer<typeof Tokens> }[]) {
  const sum = (key: keyof z.infer<typeof Tokens>) => models.reduce((total, { tokens }) => total + tokens[key], 0);
  const reasoning = sum('thoughts');
  return { input: sum('prompt'), cached: sum('cached'), output: sum('candidates') + reasoning, reasoning };
}

const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message'), role: z.string(), content: z.string() }),
  z.object({ type: z.literal('tool_use'), tool_name: z.string(), tool_id: z.string(), parameters: z.unknown() }),
  z.object({ type: z.literal('tool_result'), tool_id: z.string(), status: z.string(), output: z.unknown() }),
  z.object({
    type: z.literal('result'),
    status: z.string(),
    error: z.object({ type: z.string().optional(), message: z.string() }).optional(),
    stats: z.object({ input_tokens: z.number(), output_tokens: z.number(), cached: z.number() }).partial().default({}),
  }),
]);
type Line = z.infer<typeof Line>;

/** Its words come in pieces; a call or the end closes them. */
function geminiReader(): EventReader {
  const tools = toolEvents();
  let words = '';
  const flush = (): AgentEvent[] => {
    const text = words;
    words = '';
    return text === '' ? [] : [{ type: 'text', text }];
  };
  return lineReader(Line, (line) => {
    if (line.type === 'message') {
      if (line.role === 'assistant') words += line.content;
      return [];
    }
    if (line.type === 'result') return [...flush(), ...resultEvents(line)];
    const { tool_id: id } = line;
    if (line.type === 'tool_result')
      return [...flush(), ...tools.returned({ id, output: line.output, isError: line.status !== 'success' })];
    const { tool_name: tool, parameters: input } = line;
    const skills = tool === 'activate_skill' ? skillNamedIn(input, 'name') : [];
    return [...flush(), ...tools.called({ id, tool, input }, skills)];
  });
}

function resultEvents({ status, error, stats }: Extract<Line, { type: 'result' }>): AgentEvent[] {
  const { input_tokens: input = 0, output_tokens: output = 0, cached = 0 } = stats;
  const usage = { input, cached, output, reasoning: 0 };
  const used: AgentEvent = { type: 'usage', usage, isTotal: true };
  if (status === 'success') return [used, { type: 'end', ended: 'done' }];
  if (/turn/i.test(`${error?.type} ${error?.message}`)) return [used, { type: 'end', ended: 'turns' }];
  return [used, { type: 'failure', refusal: { failure: error?.message ?? status } }];
}
