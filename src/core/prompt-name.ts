/** The optimizer's prompts, each of which a user or an environment may replace by name. */
export const PROMPT_NAMES = [
  'analyst_error',
  'analyst_success',
  'merge_failure',
  'merge_success',
  'merge_final',
  'ranking',
  'analyst_error_rewrite',
  'analyst_success_rewrite',
  'merge_failure_rewrite',
  'merge_success_rewrite',
  'merge_final_rewrite',
  'ranking_rewrite',
  'rewrite',
  'analyst_error_full_rewrite',
  'analyst_success_full_rewrite',
  'merge_failure_full_rewrite',
  'merge_success_full_rewrite',
  'merge_final_full_rewrite',
  'lr_autonomous',
  'slow_update',
  'meta_skill',
  'appendix_consolidate',
  'skill_aware_failure',
  'skill_aware_success',
] as const;
export type PromptName = (typeof PROMPT_NAMES)[number];
export type PromptOverrides = { readonly [name in PromptName]?: string | undefined };
