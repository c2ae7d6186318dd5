import { join } from 'node:path';
import { z } from 'zod';
import type { AgentCli } from '../agent-cli.ts';
import { isPassing, statusIn } from '../agent-error.ts';
import { AMAZON, GOOGLE_CLOUD, PROVIDER_KEYS } from '../child-environment.ts';
import { eventsLike, jsonEvents } from '../json-events.ts';

const Session = z.object({ sessionID: z.string() });
const Text = z.object({ type: z.literal('text'), part: z.object({ text: z.string() }) });
const Finish = z.object({
  type: z.literal('step_finish'),
  part: z.object({
    reason: z.string().optional(),
    tokens: z.object({
      input: z.number(),
      output: z.number(),
      reasoning: z.number(),
      cache: z.object({ read: z.number(), write: z.number() }),
    }),
  }),
});
const Failed = z.object({
  type: z.literal('error'),
  error: z.object({
    name: z.string(),
    data: z.object({ message: z.string().optional(), statusCode: z.number().optional() }).optional(),
  }),
});

/** Settings come from a private folder, with an agent that has our prompt and no tools; sign-in is in another one. */
export const opencode: AgentCli = {
  name: 'opencode-cli',
  binary: 'opencode',
  installCommand: 'npm install -g opencode-ai',
  signInCommand: 'opencode auth login',
  variables: ({ model = '' }) => [
    ...['OPENCODE_*', ...PROVIDER_KEYS],
    ...(model.startsWith('amazon-bedrock/') ? AMAZON : []),
    ...(model.startsWith('google-vertex') ? GOOGLE_CLOUD : []),
  ],
  invoke: ({ model, conversation, system, folder }) => ({
    args: [...headless, ...(model === undefined ? [] : ['--model', model])],
    input: conversation,
    env: {
      XDG_CONFIG_HOME: join(folder, 'config'),
      OPENCODE_DISABLE_CLAUDE_CODE: '1',
      OPENCODE_DISABLE_PROJECT_CONFIG: '1',
      OPENCODE_TEST_HOME: join(folder, 'home'), // there is no other way past ~/.opencode
      OPENCODE_DISABLE_AUTOUPDATE: '1',
    },
    files: {
      'config/opencode/opencode.json': settingsText,
      'config/opencode/system.md': system || 'Answer the user.',
    },
  }),
  read({ stdout, stderr }) {
    const events = jsonEvents(stdout);
    const failed = eventsLike(events, Failed).at(-1)?.error;
    if (failed !== undefined) return { failure: failed.data?.message ?? failed.name, status: failed.data?.statusCode };
    const texts = eventsLike(events, Text).map(({ part }) => part.text);
    if (texts.length === 0) return HELP.test(stderr) ? { failure: 'unknown option: it printed its help' } : undefined;
    const finish = eventsLike(events, Finish).at(-1)?.part;
    if (finish === undefined) return { failure: 'its answer has no end: it was cut off' };
    const sessions = new Set(eventsLike(events, Session).map(({ sessionID }) => sessionID));
    if (sessions.size > 1) return { failure: `expected the answer of one session, got ${sessions.size} mixed` };
    const finishReason = finish.reason === 'length' ? 'length' : 'stop';
    return { text: texts.join(''), usage: toUsage(finish.tokens), finishReason };
  },
  refusalIn(line) {
    const words = line.startsWith('timestamp=') && line.includes(REFUSED) ? lastError(line) : undefined;
    return words !== undefined && isPassing(statusIn(words)) ? { failure: words } : undefined;
  },
};

/** All that it says of an option that it does not know. */
const HELP = /^opencode run \[message/m;

/** A line of its log, which tells of a refused try without the status. */
const REFUSED = ' message="stream error" ';

function lastError(line: string): string | undefined {
  const at = line.lastIndexOf('error.error="');
  if (at === -1 || !line.endsWith('"')) return undefined;
  return line.slice(at + 'error.error="'.length, -1).replace(/^\w+: /, '');
}

const headless = [
  ...['run', '--pure', '--format', 'json', '--agent', 'chat', '--title', 'chat'],
  ...['--print-logs', '--log-level', 'ERROR'],
];

const settingsText = JSON.stringify({
  autoupdate: false,
  share: 'disabled',
  snapshot: false,
  agent: {
    chat: { mode: 'primary', prompt: '{file:./system.md}', tools: { '*': false }, permission: { '*': 'deny' } },
  },
});

function toUsage(tokens: z.infer<typeof Finish>['part']['tokens']) {
  const { input, output, reasoning, cache } = tokens;
  return { input: input + cache.read + cache.write, cached: cache.read, output: output + reasoning, reasoning };
}
