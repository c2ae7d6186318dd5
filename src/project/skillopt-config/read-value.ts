import { z } from 'zod';
import { configShape, innerType } from '../../core/contracts/index.ts';
import { suggestion } from '../../core/text/index.ts';
import { projectKeys } from '../project.ts';
import { variableIn } from '../secrets.ts';

export type Values = Readonly<Record<string, unknown>>;
/** Our word for each of theirs. */
type Words = Readonly<Record<string, string>>;

/** How the value of a key is read. By default it is text. */
export type ValueRule = {
  readonly values?: Words;
  /** A `temperature` is a number, or a word for none. A `word` is text whose case does not count. */
  readonly kind?: 'number' | 'temperature' | 'word';
  /** The environment variable for a secret. */
  readonly variable?: string;
};

/** `{ fixed: 'manual scheduled' }` as `{ fixed: 'fixed', manual: 'fixed', scheduled: 'fixed' }`. */
function wordsOf(groups: Words): Words {
  const pairs = Object.entries(groups).flatMap(([word, others]) =>
    [word, ...others.split(' ')].map((name) => [name, word]),
  );
  return Object.fromEntries(pairs) as Words;
}

const ON = 'true yes on 1';
const OFF = 'false no off 0';
const SWITCHES = wordsOf({ true: ON, false: OFF });
const NO_TEMPERATURE = ['none', 'off', 'null'];

/** Our words, each with those that SkillOpt accepts for it. */
export const WORDS = {
  lrControl: wordsOf({ fixed: 'manual scheduler scheduled', autonomous: 'auto optimizer', none: 'off no_lr' }),
  pairPolicy: wordsOf({
    mixed: 'default random all',
    changed: 'change delta 10_01 01_10',
    unchanged: 'stable same 00_11',
  }),
  updateMode: wordsOf({
    patch: 'edits',
    rewrite_from_suggestions: 'rewrite suggestions rewrite_suggestions',
    full_rewrite_minibatch: 'full_rewrite minibatch_full_rewrite skill_rewrite_minibatch',
  }),
  thinking: wordsOf({
    server_default: 'default auto server',
    enabled: `enable ${ON}`,
    disabled: `disable none ${OFF}`,
  }),
  minimaxThinking: wordsOf({ adaptive: `enabled auto ${ON}`, disabled: OFF }),
  region: wordsOf({ global: 'global_en', cn: 'cn_zh' }),
  /** The sign-in at an Azure endpoint. `openai` is another endpoint. */
  auth: wordsOf({
    key: 'api_key',
    entra: 'azure_cli managed_identity azure_ad aad',
    openai: 'openai_compatible compat',
  }),
};

/** A value that a key cannot have. The caller knows the files and adds the line. */
export class BadValue extends Error {
  /** `section.key`, as the file has it. */
  readonly key: string;
  readonly hint: string;

  constructor(key: string, message: string, hint: string) {
    super(message);
    this.key = key;
    this.hint = hint;
  }
}

/** Reads the value of `key` by its rule, or throws `BadValue`. */
export function readValue(key: string, { values, kind, variable }: ValueRule, value: unknown): unknown {
  if (variable !== undefined) return variableIn(value);
  if (values !== undefined) return readWord(key, values, value);
  if (kind === 'word') return plainWord(value);
  if (kind === 'temperature' && NO_TEMPERATURE.includes(plainWord(value))) return null;
  return kind === undefined ? String(value).trim() : readNumber(key, value);
}

export function readWord(key: string, words: Words, value: unknown): string {
  const word = plainWord(value);
  if (Object.hasOwn(words, word)) return words[word]!;
  const names = Object.keys(words);
  const message = `expected one of ${names.join(', ')}, got ${JSON.stringify(value)}${suggestion(word, names)}`;
  throw new BadValue(key, message, `Here they mean ${[...new Set(Object.values(words))].join(', ')}.`);
}

export function readNumber(key: string, value: unknown): number {
  const number = asNumber(value);
  if (typeof number === 'number') return number;
  throw new BadValue(key, `expected a number, got ${JSON.stringify(value)}`, 'Write a number, or leave the key out.');
}

const types = new Map(
  Object.entries({ ...configShape, ...projectKeys }).map(([key, schema]) => [key, innerType(schema)]),
);

/** Reads a value by the type of our key `to`, since files also write numbers and switches as text. The schema checks it later. */
export function readFor(to: string, value: unknown): unknown {
  const type = types.get(to);
  const word = plainWord(value);
  if (type instanceof z.ZodNumber) return asNumber(value);
  if (type instanceof z.ZodBoolean) return Object.hasOwn(SWITCHES, word) ? SWITCHES[word] === 'true' : value;
  if (type instanceof z.ZodEnum) return type.options.includes(word) ? word : value;
  return type instanceof z.ZodString && typeof value === 'number' ? String(value) : value;
}

export const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

/** Case, outer spaces, and `-` instead of `_` do not matter. */
export const plainWord = (value: unknown): string => String(value).trim().toLowerCase().replaceAll('-', '_');

const asNumber = (value: unknown): unknown => (typeof value === 'string' ? castText(value.trim()) : value);

/** Booleans, yes and no, and numbers. Anything else is text. */
export function castText(text: string): unknown {
  if (/^(true|yes)$/i.test(text)) return true;
  if (/^(false|no)$/i.test(text)) return false;
  return /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}

export type Backend =
  | 'openai_compatible'
  | `${'openai' | 'qwen' | 'minimax' | 'claude' | 'copilot'}_chat`
  | `${'codex' | 'claude_code' | 'cursor' | 'copilot'}_exec`;

/** Names of `model.backend` that count for both roles. */
const FOR_BOTH = wordsOf({
  openai_chat: 'azure_openai azure',
  claude_chat: 'claude anthropic',
  codex_exec: 'codex openai',
  copilot_chat: 'copilot copilot_cli github_copilot',
  openai_compatible: 'compat openai_compatible_chat',
});

/** Names that count for the target alone. The optimizer stays with `openai_chat`. */
const FOR_TARGET = wordsOf({
  cursor_exec: 'cursor cursor_agent',
  claude_code_exec: 'claude_code',
  copilot_exec: 'copilot_exec',
  qwen_chat: 'qwen',
  minimax_chat: 'minimax',
});

export type RoleBackends = Readonly<Record<'optimizer' | 'target', Backend>>;

/** The shared name fills roles that are not set. `openai_chat` counts as not set, since the base file has it. */
export function roleBackends(model: Values): RoleBackends {
  const shared = readBackend('backend', model);
  const [optimizer, target] = [readBackend('optimizer_backend', model), readBackend('target_backend', model)];
  const forOptimizer = Object.hasOwn(FOR_BOTH, shared) ? shared : 'openai_chat';
  return {
    optimizer: optimizer === 'openai_chat' ? forOptimizer : optimizer,
    target: target === 'openai_chat' ? shared : target,
  };
}

function readBackend(key: string, { [key]: value }: Values): Backend {
  if (isBlank(value)) return 'openai_chat';
  const backends: Words = { ...FOR_BOTH, ...FOR_TARGET };
  const [name, names] = [plainWord(value), Object.keys(backends)];
  if (names.includes(name)) return backends[name] as Backend;
  const message = `unknown backend ${JSON.stringify(value)}${suggestion(name, names)}`;
  throw new BadValue(`model.${key}`, message, `Known: ${names.join(', ')}.`);
}
