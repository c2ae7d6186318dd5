import { groupBy } from './group-by.ts';
import { editKey, readEdits, readJson, type WireEdit } from './wire-edit.ts';

/** The reply to a merge call: equal edits become one with their supports added up, failures first, then by support. */
export function mergeEdits(patchBlocks: readonly string[]): { reasoning: string; edits: WireEdit[] } {
  const edits = patchBlocks.flatMap(readPatches);
  const merged = groupBy(edits, editKey).map(mergeGroup).sort(byWeight);
  return { reasoning: `${edits.length} edits say ${merged.length} different things.`, edits: merged };
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

/** What failed comes before what went well, and what many ask for before what few do. */
export function byWeight(a: WireEdit, b: WireEdit): number {
  const rank = (edit: WireEdit) => (edit.source_type === 'failure' ? 0 : 1);
  return rank(a) - rank(b) || b.support_count - a.support_count;
}
