import { z } from 'zod';
import { noUsage } from '../../core/contracts/index.ts';
import type { AgentCli } from '../agent-cli.ts';
import { inSections } from '../flatten-messages.ts';
import { eventsLike, jsonEvents } from '../json-events.ts';

const Result = z.object({ type: z.literal('result'), is_error: z.boolean(), result: z.string().default('') });

/**
 * It takes the prompt as an argument only, no system prompt, and reports no tokens. A prompt outside of sections could be
 * read as an option, a command such as `logout`, or, with `&` before it, as work for the cloud.
 */
export const cursor: AgentCli = {
  name: 'cursor-cli',
  binary: 'cursor-agent',
  installCommand: 'curl https://cursor.com/install -fsS | bash',
  signInCommand: 'cursor-agent login',
  variables: () => ['CURSOR_*'],
  invoke: (call) => ({
    args: [...headless, ...(call.model === undefined ? [] : ['--model', call.model]), inSections(call)],
    input: '',
  }),
  read({ stdout }) {
    const result = eventsLike(jsonEvents(stdout), Result).at(-1);
    if (result === undefined) return undefined;
    return result.is_error ? { failure: result.result } : { text: result.result, usage: noUsage };
  },
};

const headless = ['-p', '--output-format', 'json', '--mode', 'ask', '--trust'];
