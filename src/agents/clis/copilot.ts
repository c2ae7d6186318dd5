import { z } from 'zod';
import { noUsage } from '../../core/contracts/index.ts';
import type { AgentCli, AgentEvent, AgentJob, AgentOutput } from '../agent-cli.ts';
import { isPassing } from '../agent-error.ts';
import { NO_KEY, openaiProvider, option, withSystemSection } from '../cli-parts.ts';
import { contentOf, eventsLike, jsonEvents, lastEvent, lineReader, skillNamedIn, toolEvents } from '../read-events.ts';

/**
 * It takes no system prompt and reports no tokens. With tools and a key it asks a provider of the user's own; otherwise it
 * needs a sign-in. The workspace is not marked as trusted, so that hooks and servers of the repository stay off.
 */
export const copilot: AgentCli<'copilot'> = {
  name: 'copilot',
  cli: 'copilot-cli',
  title: 'Copilot CLI',
  binary: 'copilot',
  installCommand: 'npm install -g @github/copilot',
  signInCommand: 'copilot login',
  variables: () => ['COPILOT_*', 'GH_TOKEN', 'GH_HOST', 'GITHUB_TOKEN'],
  documents: {
    home: { variable: 'COPILOT_HOME', folder: '.copilot' },
    ownSkills: ['skills'],
    sharedSkills: ['.agents/skills'],
    projectSkills: ['.github/skills', '.claude/skills', '.agents/skills'],
    instructions: ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.github/copilot-instructions.md'],
  },
  invoke: (call) => ({
    args: [...common, ...withoutTools, ...option('--model', call.model)],
    input: withSystemSection(call),
    env: { COPILOT_AUTO_UPDATE: 'false' },
  }),
  read: readAnswer,
  refusalIn(line) {
    const refused = lastEvent(line, Refused)?.data;
    return refused && { failure: refused.errorMessage, status: refused.statusCode };
  },
  skillFolders: { user: '.copilot/skills', project: '.github/skills' },
  capabilities: { seesLoading: 'event', seesOffers: true, limitsTurns: false },
  longestDescription: 1024,
  dropsLonger: true,
  keyVariables: ['COPILOT_PROVIDER_API_KEY', 'OPENAI_API_KEY'],
  provider({ COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_BASE_URL, ...env }) {
    const openai = openaiProvider(env);
    return {
      ...openai,
      baseURL: COPILOT_PROVIDER_BASE_URL ?? openai.baseURL,
      key: COPILOT_PROVIDER_API_KEY ?? openai.key,
    };
  },
  signIn: ({ userHome }) => ({ '.copilot/config.json': `${userHome}/.copilot/config.json` }),
  keyrings: ['darwin', 'linux', 'win32'],
  launch: (job) => ({
    args: [...common, '--allow-all-tools', ...option('--model', job.model), '-p', job.prompt],
    env: { COPILOT_AUTO_UPDATE: 'false', ...gatewayVariables(job) },
    files: { '.copilot/settings.json': JSON.stringify({ disableAllHooks: true }) },
  }),
  reader() {
    const tools = toolEvents();
    return lineReader(Line, (line) => readLine(line, tools));
  },
};

const common = [
  ...['--output-format', 'json', '--stream', 'off', '--log-level', 'none', '--no-auto-update'],
  ...['--disable-builtin-mcps', '--no-ask-user'],
];

const withoutTools = ['--no-color', '--no-custom-instructions', '--available-tools', 'none', '--no-remote'];

const gatewayVariables = ({ modelUrl }: AgentJob) =>
  modelUrl === undefined
    ? {}
    : {
        COPILOT_PROVIDER_TYPE: 'openai',
        COPILOT_PROVIDER_BASE_URL: modelUrl,
        COPILOT_PROVIDER_API_KEY: NO_KEY,
        COPILOT_OFFLINE: 'true',
      };

const Message = z.object({ type: z.literal('assistant.message'), data: z.object({ content: z.string() }) });
const Failed = z.object({
  type: z.literal('session.error'),
  data: z.object({ message: z.string(), statusCode: z.number().optional() }),
});
const Refused = z.object({
  type: z.literal('model.call_failure'),
  data: z.object({
    errorMessage: z.string().default('the call was refused'),
    statusCode: z.number().refine(isPassing),
  }),
});
const Line = z.discriminatedUnion('type', [
  Message,
  Failed,
  z.object({
    type: z.literal('tool.execution_start'),
    data: z.object({ toolCallId: z.string(), toolName: z.string(), arguments: z.unknown() }),
  }),
  z.object({
    type: z.literal('tool.execution_complete'),
    data: z.object({
      toolCallId: z.string(),
      success: z.boolean(),
      result: z.unknown().optional(),
      error: z.unknown().optional(),
    }),
  }),
  z.object({
    type: z.literal('session.skills_loaded'),
    data: z.object({ skills: z.array(z.object({ name: z.string(), enabled: z.boolean().optional() })) }),
  }),
  z.object({ type: z.literal('result') }),
]);

function readAnswer({ stdout }: AgentOutput) {
  const failed = lastEvent(stdout, Failed)?.data;
  if (failed !== undefined) return { failure: failed.message, status: failed.statusCode };
  const texts = eventsLike(jsonEvents(stdout), Message).map(({ data }) => data.content);
  return texts.length === 0 ? undefined : { text: texts.filter(Boolean).join('\n'), usage: noUsage };
}

function readLine(line: z.infer<typeof Line>, tools: ReturnType<typeof toolEvents>): readonly AgentEvent[] {
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
      return tools.called({ id, tool, input }, tool === 'skill' ? skillNamedIn(input, 'skill') : []);
    }
    case 'tool.execution_complete': {
      const { toolCallId: id, success, result, error } = line.data;
      return tools.returned({ id, output: contentOf(success ? result : error), isError: !success });
    }
  }
}
