import type { PromptName } from '../../core/prompt-name.ts';
import type { UpdateMode } from '../../core/skill/update-mode.ts';

type Base = 'analyst_error' | 'analyst_success' | 'merge_failure' | 'merge_success' | 'merge_final' | 'ranking';

const SUFFIX = { patch: '', rewrite_from_suggestions: '_rewrite', full_rewrite_minibatch: '_full_rewrite' } as const;

/** The prompt for a piece of work, in the words of an update mode. Whole rewrites are never ranked. */
export function modePrompt(base: Base, mode: UpdateMode): PromptName {
  return `${base}${base === 'ranking' && mode === 'full_rewrite_minibatch' ? '' : SUFFIX[mode]}` as PromptName;
}
