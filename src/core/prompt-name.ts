/** The optimizer's prompts, each of which a user or an environment may replace by name. */
export const PROMPT_NAMES = [
  'analyst_error',
  'analyst_success',
  'merge_failure',
  'merge_success',
  'merge_final',
  'ranking',
] as const;
export type PromptName = (typeof PROMPT_NAMES)[number];
export type PromptOverrides = { readonly [name in PromptName]?: string | undefined };
