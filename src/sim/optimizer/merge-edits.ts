import { groupBy } from '../../core/text/index.ts';
import type { OptimizerPrompt } from './read-prompt.ts';
import { toSuggestion } from './suggestion.ts';
import { mergeVersions } from './whole-version.ts';
import { byWeight, editKey, readEdits, readJson, type WireEdit } from './wire-edit.ts';

/** The reply to a merge call: equal edits become one with their supports added up, failures first, then by support. */
export function mergeEdits({ mode, skill, patches }: OptimizerPrompt): object {
  if (mode === 'full_rewrite_minibatch') return mergeVersions(skill, patches);
  const edits = patches.flatMap(readPatches);
  const merged = groupBy(edits, editKey).map(mergeGroup).sort(byWeight);
  const reasoning = `${edits.length} edits say ${merged.length} different things.`;
  if (mode === 'patch') return { reasoning, edits: merged };
  return { reasoning, revise_suggestions: merged.map(inWords) };
}

function inWords({ support_count, source_type, ...change }: WireEdit) {
  return { ...toSuggestion(change), support_count, source_type };
}

function readPatches(block: string): WireEdit[] {
  const patches = readJson(block);
  return Array.isArray(patches) ? patches.flatMap(readEdits) : readEdits(patches);
}

function mergeGroup(group: readonly WireEdit[]): WireEdit {
  return {
    ...group[0]!,
    support_count: group.reduce((sum, edit) => sum + edit.support_count, 0),
    source_type: group.some((edit) => edit.source_type === 'failure') ? 'failure' : 'success',
  };
}
