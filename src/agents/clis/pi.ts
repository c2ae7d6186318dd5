import { join } from 'node:path';
import { z } from 'zod';
import type { AgentCli } from '../agent-cli.ts';
import { AMAZON, GOOGLE_CLOUD, PROVIDER_KEYS } from '../child-environment.ts';
import { eventsLike, jsonEvents } from '../json-events.ts';

const MessageEnd = z.object({
  type: z.literal('message_end'),
  message: z.object({
    role: z.literal('assistant'),
    content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
    usage: z.object({
      input: z.number(),
      output: z.number(),
      cacheRead: z.number().default(0),
      cacheWrite: z.number().default(0),
    }),
    stopReason: z.string().optional(),
    errorMessage: z.string().optional(),
  }),
});

const Retrying = z.object({ type: z.literal('auto_retry_start'), errorMessage: z.string() });

export const pi: AgentCli = {
  name: 'pi-cli',
  binary: 'pi',
  installCommand: 'npm install -g @earendil-works/pi-coding-agent',
  signInCommand: 'pi (then /login)',
  variables: ({ model = '' }) => [
    ...['PI_*', ...PROVIDER_KEYS],
    ...(model.startsWith('amazon-bedrock/') ? AMAZON : []),
    ...(model.startsWith('google-vertex') ? GOOGLE_CLOUD : []),
  ],
  invoke: ({ model, conversation, system, folder }) => ({
    args: [
      ...headless,
      '--system-prompt',
      join(folder, 'system.md'),
      ...(model === undefined ? [] : ['--model', model]),
    ],
    input: conversation,
    env: { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' },
    files: { 'system.md': system || 'Answer the user.' },
  }),
  read({ stdout }) {
    const message = eventsLike(jsonEvents(stdout), MessageEnd).at(-1)?.message;
    if (message === undefined) return undefined;
    if (message.errorMessage !== undefined) return { failure: message.errorMessage };
    const { input, output, cacheRead, cacheWrite } = message.usage;
    return {
      text: message.content.map(({ type, text = '' }) => (type === 'text' ? text : '')).join(''),
      usage: { input: input + cacheRead + cacheWrite, cached: cacheRead, output, reasoning: 0 },
      finishReason: message.stopReason === 'length' ? 'length' : 'stop',
    };
  },
  refusalIn(line) {
    const [retrying] = eventsLike(jsonEvents(line), Retrying);
    return retrying && { failure: retrying.errorMessage };
  },
};

const headless = [
  ...['-p', '--mode', 'json', '--no-tools', '--no-session', '--no-extensions', '--no-skills'],
  ...['--no-prompt-templates', '--no-themes', '--no-context-files'],
  ...['--append-system-prompt', ''], // instead of the user's APPEND_SYSTEM.md
];
