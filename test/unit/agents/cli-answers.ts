import type { AgentCliName } from 'skillopt/agents';

export const messages = [
  { role: 'system' as const, content: 'Be "brief".\nAlways.' },
  { role: 'user' as const, content: 'What is 2 + 2?' },
];

const claudeUsage = {
  input_tokens: 5,
  output_tokens: 3,
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 100,
};
export const claudeResult = (fields: object) =>
  `print(${JSON.stringify({ type: 'result', is_error: false, usage: claudeUsage, result: '', ...fields })});`;
const codexUsage = { input_tokens: 30, cached_input_tokens: 10, output_tokens: 9, reasoning_output_tokens: 4 };
const geminiTokens = { prompt: 30, cached: 10, candidates: 5, thoughts: 4 };
export const qwenUsage = { input_tokens: 30, output_tokens: 9, cache_read_input_tokens: 10 };
const piUsage = { input: 20, output: 9, cacheRead: 10, cacheWrite: 0 };
export const piMessage = {
  role: 'assistant',
  content: [{ type: 'text', text: 'four' }],
  usage: piUsage,
  stopReason: 'stop',
};
const opencodeTokens = { input: 20, output: 5, reasoning: 4, cache: { read: 10, write: 0 } };
const none = { input: 0, cached: 0, output: 0, reasoning: 0 };
const thirty = { input: 30, cached: 10, output: 9, reasoning: 0 };

/** What each CLI prints for the answer "four", and the tokens in it. */
export const answers: readonly [AgentCliName, string, object][] = [
  ['claude-cli', claudeResult({ result: 'four' }), { input: 125, cached: 100, output: 3, reasoning: 0 }],
  [
    'codex-cli',
    `print('a line that is no JSON\\n');
     print({ type: 'item.completed', item: { type: 'error', message: 'Model metadata not found.' } });
     print({ type: 'item.completed', item: { type: 'agent_message', text: 'four' } });
     print(${JSON.stringify({ type: 'turn.completed', usage: codexUsage })});`,
    { ...thirty, reasoning: 4 },
  ],
  ['copilot-cli', `print({ type: 'assistant.message', data: { content: 'four' } });`, none],
  ['cursor-cli', `print({ type: 'result', is_error: false, result: 'four' });`, none],
  [
    'gemini-cli',
    `print(JSON.stringify(${JSON.stringify({ response: 'four', stats: { models: { a: { tokens: geminiTokens } } } })}, null, 2));`,
    { ...thirty, reasoning: 4 },
  ],
  [
    'opencode-cli',
    `print({ type: 'text', part: { text: 'four' } });
     print(${JSON.stringify({ type: 'step_finish', part: { reason: 'stop', tokens: opencodeTokens } })});`,
    { ...thirty, reasoning: 4 },
  ],
  ['pi-cli', `print(${JSON.stringify({ type: 'message_end', message: piMessage })});`, thirty],
  [
    'qwen-cli',
    `print(${JSON.stringify([{ type: 'result', is_error: false, result: 'four', usage: qwenUsage }])});`,
    thirty,
  ],
];

export const instructions = {
  '.claude/CLAUDE.md': 'PLANTED',
  '.codex/AGENTS.md': 'PLANTED',
  '.codex/config.toml': 'developer_instructions = "PLANTED"',
  '.codex/auth.json': 'CODEX-SIGN-IN',
  '.gemini/GEMINI.md': 'PLANTED',
  '.gemini/settings.json': JSON.stringify({ security: { auth: { selectedType: 'oauth' } }, context: 'PLANTED' }),
  '.gemini/oauth_creds.json': 'GEMINI-SIGN-IN',
  '.config/opencode/AGENTS.md': 'PLANTED',
};
