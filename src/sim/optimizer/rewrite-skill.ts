import { sayingOf } from './change.ts';
import type { OptimizerPrompt } from './read-prompt.ts';
import { writeVersion } from './whole-version.ts';
import { readEdit, readJson } from './wire-edit.ts';

/** The reply of the writer: the body of the skill with every suggestion carried out that it understands. */
export function rewriteSkill({ skill, edits }: OptimizerPrompt): object {
  const suggestions = readJson(edits);
  const changes = Array.isArray(suggestions) ? suggestions.flatMap(readEdit) : [];
  return { change_summary: changes.map(sayingOf), new_skill: writeVersion(skill, changes).new_skill };
}
