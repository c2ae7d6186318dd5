import type { AgentCliName } from 'skillopt/agents';
import { type Does, prints } from './fake-cli.ts';

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
  prints({ type: 'result', is_error: false, usage: claudeUsage, result: '', ...fields });
const codexUsage = { input_tokens: 30, cached_input_tokens: 10, output_tokens: 9, reasoning_output_tokens: 4 };
const geminiTokens = { prompt: 30, cached: 10, candidates: 5, thoughts: 4 };
const qwenUsage = { input_tokens: 30, output_tokens: 9, cache_read_input_tokens: 10 };
export const qwenText = (result: string) => prints([{ type: 'result', is_error: false, result, usage: qwenUsage }]);
const piUsage = { input: 20, output: 9, cacheRead: 10, cacheWrite: 0 };
const piMessage = {
  role: 'assistant',
  content: [{ type: 'text', text: 'four' }],
  usage: piUsage,
  stopReason: 'stop',
};
export const piFailed = (errorMessage: string) =>
  prints({ type: 'message_end', message: { ...piMessage, content: [], errorMessage } });
const opencodeTokens = { input: 20, output: 5, reasoning: 4, cache: { read: 10, write: 0 } };
const none = { input: 0, cached: 0, output: 0, reasoning: 0 };
const thirty = { input: 30, cached: 10, output: 9, reasoning: 0 };

/** What each CLI prints for the answer "four", and the tokens in it. */
export const answers: readonly [AgentCliName, Does, object][] = [
  ['claude-cli', claudeResult({ result: 'four' }), { input: 125, cached: 100, output: 3, reasoning: 0 }],
  [
    'codex-cli',
    prints(
      'a line that is no JSON\n',
      { type: 'item.completed', item: { type: 'error', message: 'Model metadata not found.' } },
      { type: 'item.completed', item: { type: 'agent_message', text: 'four' } },
      { type: 'turn.completed', usage: codexUsage },
    ),
    { ...thirty, reasoning: 4 },
  ],
  ['copilot-cli', prints({ type: 'assistant.message', data: { content: 'four' } }), none],
  ['cursor-cli', prints({ type: 'result', is_error: false, result: 'four' }), none],
  [
    'gemini-cli',
    prints(JSON.stringify({ response: 'four', stats: { models: { a: { tokens: geminiTokens } } } }, null, 2)),
    { ...thirty, reasoning: 4 },
  ],
  [
    'opencode-cli',
    prints(
      { type: 'text', part: { text: 'four' } },
      { type: 'step_finish', part: { reason: 'stop', tokens: opencodeTokens } },
    ),
    { ...thirty, reasoning: 4 },
  ],
  ['pi-cli', prints({ type: 'message_end', message: piMessage }), thirty],
  ['qwen-cli', qwenText('four'), thirty],
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
