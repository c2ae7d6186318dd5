import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { AgentCall, AgentCli } from '../agent-cli.ts';
import { eventsLike, jsonEvents } from '../json-events.ts';

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

/** `--bare` keeps QWEN.md, skills, extensions and settings out; the way of signing in is taken from the settings. */
export const qwen: AgentCli = {
  name: 'qwen-cli',
  binary: 'qwen',
  installCommand: 'npm install -g @qwen-code/qwen-code',
  signInCommand: 'qwen auth',
  variables: () => [
    ...['QWEN_*', 'OPENAI_*', 'DASHSCOPE_*', 'BAILIAN_*', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'ANTHROPIC_MODEL'],
    ...['GEMINI_API_KEY', 'GEMINI_MODEL', 'GOOGLE_API_KEY', 'GOOGLE_MODEL'],
  ],
  invoke: ({ model, conversation, system, folder, userHome }) => ({
    args: [...headless, ...authArgs(userHome), ...(model === undefined ? [] : ['--model', model])],
    input: conversation,
    env: { QWEN_SYSTEM_MD: join(folder, 'system.md'), QWEN_RUNTIME_DIR: join(folder, 'runtime') },
    files: { 'system.md': system || 'Answer the user.' },
    logs: 'runtime/debug',
  }),
  read({ stdout }) {
    const result = eventsLike(jsonEvents(stdout), Result).at(-1);
    if (result === undefined) return undefined;
    if (result.is_error) return { failure: result.error?.message ?? result.result };
    // a refused call is reported as a success with this text
    if (result.result.startsWith('[API Error: ')) return { failure: result.result };
    const { input_tokens, output_tokens, cache_read_input_tokens } = result.usage;
    const usage = { input: input_tokens, cached: cache_read_input_tokens, output: output_tokens, reasoning: 0 };
    return { text: result.result, usage };
  },
  refusalIn(line) {
    const [, status, words = line] = RETRYING.exec(line) ?? [];
    return status === undefined ? undefined : { failure: words, status: Number(status) };
  },
};

/** A line of its log. Nothing is printed, and no setting ends the tries: after seven there are ten more, a minute apart. */
const RETRYING = /^\S+ \[\w+\] \[RETRY\] .*failed with status (\d+)\..*?(?:Error: (.*))?$/;

const headless = [
  ...['--output-format', 'json', '--bare', '--chat-recording', 'false'],
  ...['--exclude-tools', 'read_file,edit,run_shell_command'],
];

function authArgs(userHome: AgentCall['userHome']): readonly string[] {
  try {
    const settings = JSON.parse(readFileSync(join(userHome, '.qwen/settings.json'), 'utf8'));
    const type: unknown = settings.security?.auth?.selectedType;
    return typeof type === 'string' ? ['--auth-type', type] : [];
  } catch {
    return []; // no settings: variables may do, and otherwise the CLI says that no sign-in is chosen
  }
}
