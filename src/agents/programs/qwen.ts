import type { AgentEvent, AgentJob, AgentProgram, EventReader } from './agent-program.ts';
import { NO_KEY } from './agent-program.ts';
import { claudeReader } from './claude.ts';
import { OPENAI_URL } from './codex.ts';

/** It prints what Claude Code prints, and says of a call that was refused that it succeeded. */
export const qwen: AgentProgram = {
  name: 'qwen',
  cli: 'qwen-cli',
  skillFolders: { user: '.qwen/skills', project: '.qwen/skills' },
  capabilities: { seesLoading: 'event', seesOffers: true, limitsTurns: true },
  hidden: ['.qwen/settings.json'], // which it would also rewrite
  keyVariables: ['OPENAI_API_KEY'],
  provider: ({ OPENAI_API_KEY: key, OPENAI_BASE_URL: baseURL = OPENAI_URL }) => ({ baseURL, key, auth: 'bearer' }),
  signIn: ({ userHome }) => ({ '.qwen/oauth_creds.json': `${userHome}/.qwen/oauth_creds.json` }),
  launch: (job) => ({
    args: argumentsFor(job),
    env: variablesFor(job),
    files: { '.qwen/settings.json': settingsFor(job) },
  }),
  reader: (skills) => refusalsSeen(claudeReader('skill')(skills)),
};

function argumentsFor({ model, limits: { maxTurns }, prompt, modelUrl }: AgentJob): string[] {
  return [
    ...['-o', 'stream-json', '--yolo', '--no-chat-recording'],
    ...(modelUrl === undefined ? [] : ['--auth-type', 'openai']),
    ...(model === undefined ? [] : ['--model', model]),
    ...(maxTurns === undefined ? [] : ['--max-session-turns', String(maxTurns)]),
    ...['-p', prompt],
  ];
}

const variablesFor = ({ modelUrl }: AgentJob) =>
  modelUrl === undefined ? {} : { OPENAI_BASE_URL: modelUrl, OPENAI_API_KEY: NO_KEY };

const settingsFor = ({ modelUrl }: AgentJob) =>
  JSON.stringify({
    security: { auth: { selectedType: modelUrl === undefined ? 'qwen-oauth' : 'openai' } },
    general: { disableAutoUpdate: true },
    privacy: { usageStatisticsEnabled: false },
    hooksConfig: { enabled: false },
    telemetry: { enabled: false },
  });

const REFUSED = '[API Error: ';

function refusalsSeen(read: EventReader): EventReader {
  return (line) =>
    read(line).map((event): AgentEvent => {
      if (event.type !== 'end' || !event.text?.startsWith(REFUSED)) return event;
      return { type: 'failure', refusal: { failure: event.text } };
    });
}
