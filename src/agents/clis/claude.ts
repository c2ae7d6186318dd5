import { join } from 'node:path';
import { z } from 'zod';
import type { AgentCall, AgentCli } from '../agent-cli.ts';
import { AMAZON, GOOGLE_CLOUD } from '../child-environment.ts';
import { eventsLike, jsonEvents } from '../json-events.ts';

const Result = z.object({
  type: z.literal('result'),
  is_error: z.boolean(),
  api_error_status: z.number().nullish(),
  result: z.string().default(''),
  stop_reason: z.string().nullish(),
  usage: z.object({
    input_tokens: z.number(),
    output_tokens: z.number(),
    cache_creation_input_tokens: z.number().default(0),
    cache_read_input_tokens: z.number().default(0),
  }),
});

/** Sign-in stays where it is; `--setting-sources ""` keeps out CLAUDE.md, skills and settings. `--bare` would sign out. */
export const claude: AgentCli = {
  name: 'claude-cli',
  binary: 'claude',
  installCommand: 'npm install -g @anthropic-ai/claude-code',
  signInCommand: 'claude auth login',
  variables: ({ env: { CLAUDE_CODE_USE_BEDROCK, CLAUDE_CODE_USE_VERTEX } }) => [
    ...['ANTHROPIC_*', 'CLAUDE_*', 'DISABLE_TELEMETRY', 'DISABLE_ERROR_REPORTING', 'API_TIMEOUT_MS', 'IS_SANDBOX'],
    ...(CLAUDE_CODE_USE_BEDROCK ? AMAZON : []),
    ...(CLAUDE_CODE_USE_VERTEX ? GOOGLE_CLOUD : []),
  ],
  signInFiles: ({ env: { CLAUDE_CONFIG_DIR }, userHome }) => [
    join(CLAUDE_CONFIG_DIR ?? join(userHome, '.claude'), '.credentials.json'),
  ],
  invoke: (call) => ({
    args: [...isolation, ...modelArgs(call), ...systemArgs(call)],
    input: call.conversation,
    env,
    files: { 'system.md': call.system },
  }),
  read({ stdout }) {
    const result = eventsLike(jsonEvents(stdout), Result).at(-1);
    if (result === undefined) return undefined;
    if (result.is_error) return { failure: result.result, status: result.api_error_status ?? undefined };
    return {
      text: result.result,
      usage: toUsage(result.usage),
      finishReason: result.stop_reason === 'max_tokens' ? 'length' : 'stop',
    };
  },
};

const isolation = [
  ...['-p', '--output-format', 'json', '--tools', '', '--setting-sources', ''],
  ...['--strict-mcp-config', '--disable-slash-commands', '--no-session-persistence'],
];

const modelArgs = ({ model }: AgentCall) => (model === undefined ? [] : ['--model', model]);

/** Without a system prompt of ours, the CLI would put its own long one there. */
const systemArgs = ({ system, folder }: AgentCall) =>
  system === '' ? ['--system-prompt', 'Answer the user.'] : ['--system-prompt-file', join(folder, 'system.md')];

const env = {
  CLAUDECODE: undefined, // set inside a session, where the CLI refuses to start another
  CLAUDE_CODE_MAX_RETRIES: '0', // retrying is ours
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
};

/** The provider counts what is read from and written to its cache apart from the rest of the input. */
function toUsage(usage: z.infer<typeof Result>['usage']) {
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usage;
  return {
    input: input_tokens + cache_creation_input_tokens + cache_read_input_tokens,
    cached: cache_read_input_tokens,
    output: output_tokens,
    reasoning: 0,
  };
}
