import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { AgentCli, AgentEvent, AgentJob, AgentOutput, EventReader } from '../agent-cli.ts';
import { NO_KEY, openaiProvider, option, PLAIN_PROMPT, uselessTools } from '../cli-parts.ts';
import { lastEvent } from '../read-events.ts';
import { claudeReader } from './claude.ts';

/**
 * As a chat, `--bare` keeps out QWEN.md, skills, extensions and settings; only the way of signing in is taken from the
 * settings. With tools it prints what Claude Code prints. It reports a refused call as a success.
 */
export const qwen: AgentCli<'qwen'> = {
  name: 'qwen',
  cli: 'qwen-cli',
  title: 'Qwen Code',
  binary: 'qwen',
  installCommand: 'npm install -g @qwen-code/qwen-code',
  signInCommand: 'qwen auth',
  variables: () => [
    ...['QWEN_*', 'OPENAI_*', 'DASHSCOPE_*', 'BAILIAN_*', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'ANTHROPIC_MODEL'],
    ...['GEMINI_API_KEY', 'GEMINI_MODEL', 'GOOGLE_API_KEY', 'GOOGLE_MODEL'],
  ],
  documents: {
    home: { variable: 'QWEN_HOME', folder: '.qwen' },
    ownSkills: ['skills'],
    sharedSkills: ['.agents/skills'],
    projectSkills: ['.qwen/skills', '.agents/skills'],
    instructions: ['QWEN.md', 'AGENTS.md'],
  },
  invoke: ({ model, conversation, system, folder, userHome }) => ({
    args: [...withoutTools, ...option('--auth-type', authType(userHome)), ...option('--model', model)],
    input: conversation,
    env: { QWEN_SYSTEM_MD: join(folder, 'system.md'), QWEN_RUNTIME_DIR: join(folder, 'runtime') },
    files: { 'system.md': system || PLAIN_PROMPT },
    logs: 'runtime/debug',
  }),
  read: readAnswer,
  refusalIn(line) {
    const [, status, words = line] = RETRYING.exec(line) ?? [];
    return status === undefined ? undefined : { failure: words, status: Number(status) };
  },
  skillFolders: { user: '.qwen/skills', project: '.qwen/skills' },
  capabilities: { seesLoading: 'event', seesOffers: true, limitsTurns: true },
  hidden: ['.qwen/settings.json'], // which it would also rewrite
  keyVariables: ['OPENAI_API_KEY'],
  provider: openaiProvider,
  signIn: ({ userHome }) => ({ '.qwen/oauth_creds.json': `${userHome}/.qwen/oauth_creds.json` }),
  launch: (job) => ({
    args: workArgs(job),
    env: job.modelUrl === undefined ? {} : { OPENAI_BASE_URL: job.modelUrl, OPENAI_API_KEY: NO_KEY },
    files: { '.qwen/settings.json': workSettings(job) },
  }),
  reader: (skills) => withRefusals(claudeReader('skill')(skills)),
};

const withoutTools = [
  ...['--output-format', 'json', '--bare', '--chat-recording', 'false'],
  ...['--exclude-tools', 'read_file,edit,run_shell_command'],
];

function authType(userHome: string): string | undefined {
  try {
    const settings = JSON.parse(readFileSync(join(userHome, '.qwen/settings.json'), 'utf8'));
    const type: unknown = settings.security?.auth?.selectedType;
    return typeof type === 'string' ? type : undefined;
  } catch {
    return undefined; // no settings: variables may do, and otherwise the CLI says that no sign-in is chosen
  }
}

const Result = z.object({
  type: z.literal('result'),
  is_error: z.boolean(),
  result: z.string().default(''),
  error: z.object({ message: z.string() }).optional(),
  usage: z.object({
    input_tokens: z.number(),
    output_tokens: z.number(),
    cache_read_input_tokens: z.number().default(0),
  }),
});

/** The text of a refused call, which it reports as a success. */
const REFUSED = '[API Error: ';

function readAnswer({ stdout }: AgentOutput) {
  const found = lastEvent(stdout, Result);
  if (found === undefined) return undefined;
  const { is_error, error, result: text } = found;
  if (is_error) return { failure: error?.message ?? text };
  if (text.startsWith(REFUSED)) return { failure: text };
  const { input_tokens: input, output_tokens: output, cache_read_input_tokens: cached } = found.usage;
  return { text, usage: { input, cached, output, reasoning: 0 } };
}

/** A line of its log. Nothing is printed, and no setting ends the tries: after seven there are ten more, a minute apart. */
const RETRYING = /^\S+ \[\w+\] \[RETRY\] .*failed with status (\d+)\..*?(?:Error: (.*))?$/;

const workArgs = ({ model, limits: { maxTurns }, prompt, modelUrl }: AgentJob): string[] => [
  ...['-o', 'stream-json', '--yolo', '--no-chat-recording'],
  ...option('--auth-type', modelUrl === undefined ? undefined : 'openai'),
  ...option('--model', model),
  ...option('--max-session-turns', maxTurns),
  ...['-p', prompt],
];

const WEB = { search: [], fetch: ['web_fetch'] };

const workSettings = (job: AgentJob) =>
  JSON.stringify({
    security: { auth: { selectedType: job.modelUrl === undefined ? 'qwen-oauth' : 'openai' } },
    general: { disableAutoUpdate: true },
    privacy: { usageStatisticsEnabled: false },
    tools: { exclude: uselessTools(job, WEB) },
    hooksConfig: { enabled: false },
    telemetry: { enabled: false },
  });

function withRefusals(read: EventReader): EventReader {
  return (line) =>
    read(line).map((event): AgentEvent => {
      if (event.type !== 'end' || !event.text?.startsWith(REFUSED)) return event;
      return { type: 'failure', refusal: { failure: event.text } };
    });
}
