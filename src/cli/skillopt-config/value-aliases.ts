/** `{ fixed: ['manual'] }` as `{ fixed: 'fixed', manual: 'fixed' }`. */
function words(groups: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, string>> {
  const pairs = Object.entries(groups).flatMap(([word, others]) => [word, ...others].map((name) => [name, word]));
  return Object.fromEntries(pairs) as Record<string, string>;
}

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
