import { join } from 'node:path';
import { z } from 'zod';
import type { Usage } from '../../core/contracts/index.ts';
import type { AgentCli, AgentEvent, AgentJob, AgentOutput } from '../agent-cli.ts';
import { isPassing, statusIn } from '../agent-error.ts';
import {
  bareModel,
  NO_KEY,
  openaiProvider,
  option,
  PLAIN_PROMPT,
  providerVariables,
  uselessTools,
} from '../cli-parts.ts';
import { eventsLike, jsonEvents, lastEvent, lineReader, skillNamedIn, toolEvents } from '../read-events.ts';

/**
 * As a chat, its settings come from a private folder, with an agent that has our prompt and no tools. Behind the gateway it
 * asks a provider that our settings define; with a sign-in, the one that its model names.
 */
export const opencode: AgentCli<'opencode'> = {
  name: 'opencode',
  cli: 'opencode-cli',
  title: 'OpenCode',
  binary: 'opencode',
  installCommand: 'npm install -g opencode-ai',
  signInCommand: 'opencode auth login',
  hasManyProviders: true,
  variables: ({ model }) => ['OPENCODE_*', ...providerVariables(model)],
  documents: {
    home: { variable: 'XDG_CONFIG_HOME', folder: '.config' },
    ownSkills: ['opencode/skills', 'opencode/skill'],
    sharedSkills: ['.claude/skills', '.agents/skills'],
    projectSkills: ['.opencode/skills', '.claude/skills', '.agents/skills', '.opencode/skill'],
    instructions: ['AGENTS.md'],
    otherInstructions: ['CLAUDE.md'],
  },
  invoke: ({ model, conversation, system, folder }) => ({
    args: [...withoutTools, ...option('--model', model)],
    input: conversation,
    env: {
      XDG_CONFIG_HOME: join(folder, 'config'),
      OPENCODE_DISABLE_CLAUDE_CODE: '1',
      OPENCODE_DISABLE_PROJECT_CONFIG: '1',
      OPENCODE_TEST_HOME: join(folder, 'home'), // there is no other way past ~/.opencode
      OPENCODE_DISABLE_AUTOUPDATE: '1',
    },
    files: { 'config/opencode/opencode.json': chatSettings, 'config/opencode/system.md': system || PLAIN_PROMPT },
  }),
  read: readAnswer,
  refusalIn(line) {
    const words = line.startsWith('timestamp=') && line.includes(REFUSED) ? lastError(line) : undefined;
    return words !== undefined && isPassing(statusIn(words)) ? { failure: words } : undefined;
  },
  skillFolders: { user: '.config/opencode/skills', project: '.opencode/skills' },
  capabilities: { seesLoading: 'event', seesOffers: false, limitsTurns: false },
  needs: ['rg'], // it would download one, and without a network its tool for skills fails
  // Its own switches leave plugins on, whatever their documentation says.
  hidden: [
    ...['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc'],
    ...['.opencode/plugin', '.opencode/plugins', '.opencode/tool', '.opencode/tools'],
  ],
  keyVariables: ['OPENAI_API_KEY'],
  provider: openaiProvider,
  signIn: ({ env: { XDG_DATA_HOME }, userHome }) => ({
    '.local/share/opencode/auth.json': join(XDG_DATA_HOME ?? join(userHome, '.local/share'), 'opencode/auth.json'),
  }),
  launch: (job) => ({
    args: [...['run', '--format', 'json', '--auto', '--title', 'task'], ...modelArgs(job), '--', job.prompt],
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
    files: { '.config/opencode/opencode.json': workSettings(job) },
  }),
  reader: () => lineReader(Line, readLine),
};

const withoutTools = [
  ...['run', '--pure', '--format', 'json', '--agent', 'chat', '--title', 'chat'],
  ...['--print-logs', '--log-level', 'ERROR'],
];

const commonSettings = { autoupdate: false, share: 'disabled', snapshot: false };

const chatSettings = JSON.stringify({
  ...commonSettings,
  agent: {
    chat: { mode: 'primary', prompt: '{file:./system.md}', tools: { '*': false }, permission: { '*': 'deny' } },
  },
});

const modelArgs = ({ modelUrl, model }: AgentJob) =>
  option('-m', modelUrl === undefined ? model : `skillopt/${bareModel(model)}`);

const WEB = { search: [], fetch: ['webfetch'] };

function workSettings(job: AgentJob): string {
  const { workspace, modelUrl, model } = job;
  const name = bareModel(model);
  const options = { baseURL: modelUrl, apiKey: NO_KEY };
  const skillopt = { npm: '@ai-sdk/openai-compatible', options, models: { [name]: {} } };
  return JSON.stringify({
    ...commonSettings,
    // Without the settings of the repository it would miss these too, and they are no programs.
    instructions: ['AGENTS.md', 'CLAUDE.md'].map((file) => join(workspace, file)),
    skills: { paths: [join(workspace, opencode.skillFolders.project)] },
    tools: Object.fromEntries(uselessTools(job, WEB).map((tool) => [tool, false])),
    ...(modelUrl === undefined ? {} : { provider: { skillopt }, small_model: `skillopt/${name}` }),
  });
}

const Session = z.object({ sessionID: z.string() });
const Text = z.object({ type: z.literal('text'), part: z.object({ text: z.string() }) });
const ToolUse = z.object({
  type: z.literal('tool_use'),
  part: z.object({
    tool: z.string(),
    callID: z.string(),
    state: z.object({ status: z.string(), input: z.unknown(), output: z.unknown(), error: z.unknown() }).partial(),
  }),
});
const Finish = z.object({
  type: z.literal('step_finish'),
  part: z.object({
    reason: z.string().optional(),
    cost: z.number().optional(),
    tokens: z
      .object({
        input: z.number(),
        output: z.number(),
        reasoning: z.number().default(0),
        cache: z.object({ read: z.number().default(0), write: z.number().default(0) }),
      })
      .transform(({ input, output, reasoning, cache }): Usage => {
        const all = input + cache.read + cache.write;
        return { input: all, cached: cache.read, output: output + reasoning, reasoning };
      }),
  }),
});
const Failed = z.object({
  type: z.literal('error'),
  error: z
    .object({
      name: z.string(),
      data: z.object({ message: z.string().optional(), statusCode: z.number().optional() }).optional(),
    })
    .transform(({ name, data }) => ({ failure: data?.message ?? name, status: data?.statusCode })),
});
const Line = z.discriminatedUnion('type', [Text, ToolUse, Finish, Failed]);

function readAnswer({ stdout, stderr }: AgentOutput) {
  const events = jsonEvents(stdout);
  const failed = lastEvent(stdout, Failed)?.error;
  if (failed !== undefined) return failed;
  const texts = eventsLike(events, Text).map(({ part }) => part.text);
  if (texts.length === 0) return HELP.test(stderr) ? { failure: 'unknown option: it printed its help' } : undefined;
  const finish = lastEvent(stdout, Finish)?.part;
  if (finish === undefined) return { failure: 'its answer has no end: it was cut off' };
  const sessions = new Set(eventsLike(events, Session).map(({ sessionID }) => sessionID));
  if (sessions.size > 1) return { failure: `expected the answer of one session, got ${sessions.size} mixed` };
  const finishReason = finish.reason === 'length' ? 'length' : 'stop';
  return { text: texts.join(''), usage: finish.tokens, finishReason } as const;
}

/** It prints nothing else about an option that it does not know. */
const HELP = /^opencode run \[message/m;

/** A line of its log. It reports a refused try, but not the status. */
const REFUSED = ' message="stream error" ';

function lastError(line: string): string | undefined {
  const at = line.lastIndexOf('error.error="');
  if (at === -1 || !line.endsWith('"')) return undefined;
  return line.slice(at + 'error.error="'.length, -1).replace(/^\w+: /, '');
}

function readLine(line: z.infer<typeof Line>): readonly AgentEvent[] {
  if (line.type === 'text') return [{ type: 'text', text: line.part.text }];
  if (line.type === 'error') return [{ type: 'failure', refusal: line.error }];
  if (line.type === 'step_finish') {
    const { tokens: usage, cost: costUsd, reason } = line.part;
    const used = { type: 'usage', usage, costUsd, isTotal: false } as const;
    return reason === 'tool-calls' ? [used] : [used, { type: 'end', ended: 'done' }];
  }
  const { tool, callID: id, state } = line.part;
  const { called, returned } = toolEvents();
  const isError = state.status !== 'completed';
  return [
    ...called({ id, tool, input: state.input }, tool === 'skill' ? skillNamedIn(state.input, 'name') : []),
    ...returned({ id, output: isError ? (state.error ?? state.output) : state.output, isError }),
  ];
}
