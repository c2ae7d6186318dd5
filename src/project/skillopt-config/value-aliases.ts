/** Our word for each of theirs. */
export type Words = Readonly<Record<string, string>>;

/** `{ fixed: ['manual'] }` as `{ fixed: 'fixed', manual: 'fixed' }`. */
function words(groups: Readonly<Record<string, readonly string[]>>): Words {
  const pairs = Object.entries(groups).flatMap(([word, others]) => [word, ...others].map((name) => [name, word]));
  return Object.fromEntries(pairs) as Words;
}

const ON = ['true', 'yes', 'on', '1'];
const OFF = ['false', 'no', 'off', '0'];

export const SWITCH_WORDS: Readonly<Record<string, boolean>> = Object.fromEntries([
  ...ON.map((word) => [word, true]),
  ...OFF.map((word) => [word, false]),
]);

export const LR_CONTROL_WORDS = words({
  fixed: ['manual', 'scheduler', 'scheduled'],
  autonomous: ['auto', 'optimizer'],
  none: ['off', 'no_lr'],
});

export const PAIR_POLICY_WORDS = words({
  mixed: ['default', 'random', 'all'],
  changed: ['change', 'delta', '10_01', '01_10'],
  unchanged: ['stable', 'same', '00_11'],
});

export const UPDATE_MODE_WORDS = words({
  patch: ['edits'],
  rewrite_from_suggestions: ['rewrite', 'suggestions', 'rewrite_suggestions'],
  full_rewrite_minibatch: ['full_rewrite', 'minibatch_full_rewrite', 'skill_rewrite_minibatch'],
});

/** How Qwen models think. */
export const THINKING_WORDS = words({
  server_default: ['default', 'auto', 'server'],
  enabled: ['enable', ...ON],
  disabled: ['disable', 'none', ...OFF],
});

/** How MiniMax models think. */
export const MINIMAX_THINKING_WORDS = words({
  adaptive: ['enabled', 'auto', ...ON],
  disabled: OFF,
});

export const REGION_WORDS = words({ global: ['global_en'], cn: ['cn_zh'] });

/** How an Azure endpoint is signed in to. `openai` is an endpoint that is not Azure's. */
export const AUTH_WORDS = words({
  key: ['api_key'],
  entra: ['azure_cli', 'managed_identity', 'azure_ad', 'aad'],
  openai: ['openai_compatible', 'compat'],
});

/** Words that mean: send no temperature. */
export const NO_TEMPERATURE = ['none', 'off', 'null'];

/** true and yes, false and no, whole numbers, decimals; anything else is text. */
export function castText(text: string): unknown {
  if (/^(true|yes)$/i.test(text)) return true;
  if (/^(false|no)$/i.test(text)) return false;
  return /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}
