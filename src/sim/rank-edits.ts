import { groupBy } from './group-by.ts';
import { byWeight } from './merge-edits.ts';
import type { OptimizerPrompt } from './read-prompt.ts';
import { editKey, readEdit, readJson, type WireEdit } from './wire-edit.ts';

type ListedEdit = { readonly index: number; readonly edit: WireEdit };

/** The reply to a ranking call: the weightiest edits, without those that add what the skill or a chosen edit says. */
export function rankEdits({ edits, skill, limit }: OptimizerPrompt): { reasoning: string; selected_indices: number[] } {
  const news = readList(edits).filter(({ edit }) => !isSaid(edit, skill));
  const weighty = news.sort((a, b) => byWeight(a.edit, b.edit) || a.index - b.index);
  const distinct = groupBy(weighty, ({ edit }) => editKey(edit)).map((group) => group[0]!.index);
  return { reasoning: 'Failures first, then by support.', selected_indices: distinct.slice(0, limit) };
}

function readList(lines: string): ListedEdit[] {
  return [...lines.matchAll(/^\[(\d{1,9})\] (.*)$/gm)].flatMap(([, index, json = '']) =>
    readEdit(readJson(json)).map((edit) => ({ index: Number(index), edit })),
  );
}

function isSaid({ op, content }: WireEdit, skill: string): boolean {
  return (op === 'append' || op === 'insert_after') && skill.includes(content.trim());
}
