import type { UpdateMode } from '../../core/skill/update-mode.ts';
import type { Change } from './change.ts';
import { toSuggestion } from './suggestion.ts';
import { writeVersion } from './whole-version.ts';

type Supported = Change & { readonly support_count?: number };

/** Changes as an analyst of each update mode gives them. */
export function inMode(mode: UpdateMode, skill: string, changes: readonly Supported[]): object {
  if (mode === 'patch') return { edits: changes };
  if (mode === 'rewrite_from_suggestions') {
    const inWords = ({ support_count, ...change }: Supported) => ({ ...toSuggestion(change), support_count });
    return { revise_suggestions: changes.map(inWords) };
  }
  if (changes.length === 0) return { skill_candidates: [] };
  const support_count = Math.max(...changes.map((change) => change.support_count ?? 1));
  return { skill_candidates: [{ ...writeVersion(skill, changes), support_count }] };
}
