import { z } from 'zod';
import { noUsage } from '../../core/contracts/index.ts';
import type { AgentCli } from '../agent-cli.ts';
import { isPassing } from '../agent-error.ts';
import { withSystemSection } from '../flatten-messages.ts';
import { eventsLike, jsonEvents } from '../json-events.ts';

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

/** It takes no system prompt and reports no tokens. Its skills need a tool to be seen, and there is none. */
export const copilot: AgentCli = {
  name: 'copilot-cli',
  binary: 'copilot',
  installCommand: 'npm install -g @github/copilot',
  signInCommand: 'copilot login',
  variables: () => ['COPILOT_*', 'GH_TOKEN', 'GH_HOST', 'GITHUB_TOKEN'],
  invoke: (call) => ({
    args: [...headless, ...(call.model === undefined ? [] : ['--model', call.model])],
    input: withSystemSection(call),
    env: { COPILOT_AUTO_UPDATE: 'false' },
  }),
  read({ stdout }) {
    const events = jsonEvents(stdout);
    const failed = eventsLike(events, Failed).at(-1)?.data;
    if (failed !== undefined) return { failure: failed.message, status: failed.statusCode };
    const texts = eventsLike(events, Message).map(({ data }) => data.content);
    return texts.length === 0 ? undefined : { text: texts.filter(Boolean).join('\n'), usage: noUsage };
  },
  refusalIn(line) {
    const [refused] = eventsLike(jsonEvents(line), Refused);
    return refused && { failure: refused.data.errorMessage, status: refused.data.statusCode };
  },
};

const headless = [
  ...['--output-format', 'json', '--stream', 'off', '--no-color', '--log-level', 'none', '--no-auto-update'],
  ...[
    '--no-custom-instructions',
    '--available-tools',
    'none',
    '--disable-builtin-mcps',
    '--no-ask-user',
    '--no-remote',
  ],
];
