import { INDEXED_LINE } from '../../core/contracts/index.ts';
import { groupBy } from '../../core/text/index.ts';
import { topicOf } from './change.ts';
import { readExperience } from './experience.ts';
import type { OptimizerPrompt } from './read-prompt.ts';
import { byWeight, editKey, readEdit, readJson, type WireEdit } from './wire-edit.ts';

export type ListedEdit = { readonly index: number; readonly edit: WireEdit };

/**
 * The reply to a ranking call: the weightiest edits, without those that add what the skill or a chosen edit says. An
 * optimizer that knows that remarks do not help puts them last.
 */
export function rankEdits(prompt: OptimizerPrompt): { reasoning: string; selected_indices: number[] } {
  const { edits, skill, limit } = prompt;
  const { knowsRemarks } = readExperience(prompt);
  const isRemark = ({ edit }: ListedEdit) => Number(knowsRemarks && topicOf(edit) === undefined);
  const weighty = newsAmong(edits, skill).sort(
    (a, b) => isRemark(a) - isRemark(b) || byWeight(a.edit, b.edit) || a.index - b.index,
  );
  const distinct = groupBy(weighty, ({ edit }) => editKey(edit)).map((group) => group[0]!.index);
  return { reasoning: 'Failures first, then by support.', selected_indices: distinct.slice(0, limit) };
}

/** The listed edits that do not add what the skill says already. */
export function newsAmong(lines: string, skill: string): ListedEdit[] {
  return readList(lines).filter(({ edit }) => !isSaid(edit, skill));
}

function readList(lines: string): ListedEdit[] {
  return [...lines.matchAll(INDEXED_LINE)].flatMap(([, index, json = '']) =>
    readEdit(readJson(json)).map((edit) => ({ index: Number(index), edit })),
  );
}

function isSaid({ op, content }: WireEdit, skill: string): boolean {
  return (op === 'append' || op === 'insert_after') && skill.includes(content.trim());
}
