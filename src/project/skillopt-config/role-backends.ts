import { suggestion } from '../../core/text/index.ts';
import { type Backend, isBlank, type Role } from './key-row.ts';
import type { Values } from './layer.ts';
import { BadValue, plainWord } from './read-value.ts';

export type RoleBackends = Readonly<Record<Role, Backend>>;

const both = (backend: Backend): RoleBackends => ({ optimizer: backend, target: backend });
const targetOnly = (backend: Backend): RoleBackends => ({ optimizer: 'openai_chat', target: backend });

/** What a label of `model.backend` means for each role. */
const LABELS: Readonly<Record<string, RoleBackends>> = {
  azure_openai: both('openai_chat'),
  azure: both('openai_chat'),
  openai_chat: both('openai_chat'),
  claude: both('claude_chat'),
  anthropic: both('claude_chat'),
  claude_chat: both('claude_chat'),
  codex: both('codex_exec'),
  openai: both('codex_exec'),
  codex_exec: both('codex_exec'),
  copilot: both('copilot_chat'),
  copilot_chat: both('copilot_chat'),
  copilot_cli: both('copilot_chat'),
  github_copilot: both('copilot_chat'),
  compat: both('openai_compatible'),
  openai_compatible: both('openai_compatible'),
  openai_compatible_chat: both('openai_compatible'),
  cursor: targetOnly('cursor_exec'),
  cursor_agent: targetOnly('cursor_exec'),
  cursor_exec: targetOnly('cursor_exec'),
  claude_code: targetOnly('claude_code_exec'),
  claude_code_exec: targetOnly('claude_code_exec'),
  copilot_exec: targetOnly('copilot_exec'),
  qwen: targetOnly('qwen_chat'),
  qwen_chat: targetOnly('qwen_chat'),
  minimax: targetOnly('minimax_chat'),
  minimax_chat: targetOnly('minimax_chat'),
};

/** The label fills roles that are not set; `openai_chat` counts as not set, since the base file says it. */
export function roleBackends(model: Values): RoleBackends {
  const label = isBlank(model.backend) ? both('openai_chat') : findLabel('model.backend', model.backend);
  const choose = (role: Role): Backend => {
    const key = `${role}_backend`;
    const own = isBlank(model[key]) ? 'openai_chat' : findLabel(`model.${key}`, model[key]).target;
    return own === 'openai_chat' ? label[role] : own;
  };
  return { optimizer: choose('optimizer'), target: choose('target') };
}

function findLabel(key: string, value: unknown): RoleBackends {
  const name = plainWord(value);
  if (Object.hasOwn(LABELS, name)) return LABELS[name]!;
  const names = Object.keys(LABELS);
  const message = `unknown backend ${JSON.stringify(value)}${suggestion(name, names)}`;
  throw new BadValue(key, message, `Known: ${names.join(', ')}.`);
}

/** Azure is where `openai_chat` goes when the label says so; without a label it goes to OpenAI. */
export const isAzureLabel = (model: Values): boolean => plainWord(model.backend ?? '').startsWith('azure');
