import { groupByHint } from '../mine/dedupe-tasks.ts';
import { readSkillHint } from '../mine/skill-hint.ts';
import type { TaskRecord } from '../task-record.ts';
import type { LiveDocument } from './live-document.ts';
import { type DocumentSearch, resolveSkill } from './resolve-skill.ts';

/** An existing skill that tasks name, and the hints by which they do. */
export type NamedSkill = LiveDocument & { readonly hints: readonly string[] };

export type SkillChoice = {
  readonly skills: readonly NamedSkill[];
  /** Why the others are not trained. */
  readonly notes: readonly string[];
};

export const noChoice: SkillChoice = { skills: [], notes: [] };

/**
 * The existing skills that tasks were done with. What is not found, in doubt or of somebody else is said, and never guessed:
 * such tasks stay with `main`, the skill that the night improves anyway.
 */
export async function chooseSkills(
  tasks: readonly TaskRecord[],
  search: DocumentSearch,
  main: Pick<LiveDocument, 'name' | 'live'>,
): Promise<SkillChoice> {
  const { multiSkillFanout, targetSkillPath } = search.settings;
  if (!multiSkillFanout || targetSkillPath !== undefined) return noChoice;
  const skills = new Map<string, NamedSkill>();
  const notes: string[] = [];
  for (const { skillHint, tasks: own } of groupByHint(tasks)) {
    if (skillHint === '' || readSkillHint(skillHint)?.skill === main.name) continue;
    const found = await resolveSkill(skillHint, search);
    if (found.status !== 'found') notes.push(notTrained(skillHint, found.why, own.length, main.name));
    else if (found.document.live.realPath !== main.live.realPath) addTo(skills, found.document, skillHint);
  }
  return { skills: [...skills.values()], notes };
}

/** Two names may lead to one file. */
function addTo(skills: Map<string, NamedSkill>, document: LiveDocument, hint: string): void {
  const before = skills.get(document.live.realPath);
  skills.set(document.live.realPath, { ...(before ?? document), hints: [...(before?.hints ?? []), hint] });
}

const notTrained = (hint: string, why: string, count: number, main: string) =>
  `The skill ${hint} is not trained: ${why}. ${count === 1 ? 'Its task counts' : `Its ${count} tasks count`} for ${main}.`;

/** The document that a run has trained: the one of its kind, or an existing skill by its name. */
export const documentOf = <Document extends Pick<LiveDocument, 'kind' | 'name' | 'hints'>>(
  documents: readonly Document[],
  kind: LiveDocument['kind'],
  named: string,
): Document | undefined =>
  documents.find(
    (one) => one.kind === kind && (named === '' ? one.hints === undefined : one.name === named && one.hints),
  );

/**
 * The name of a document's run behind the number of its night; nothing for the skill of our own, or a target. A skill that is
 * called as the run of the memory has a name of its own.
 */
export const runNameOf = (kind: LiveDocument['kind'], named: string): string => {
  if (kind === 'memory') return '.memory';
  if (named === '') return '';
  return /^memory(\.skill)*$/i.test(named) ? `.${named}.skill` : `.${named}`;
};

/** The name of the skill that a task belongs to; empty: the one that the night improves anyway. */
export function ownerAmong(
  skills: readonly { readonly name: string; readonly hints: readonly string[] }[],
): (task: Pick<TaskRecord, 'skillHint'>) => string {
  const owners = new Map(skills.flatMap(({ name, hints }) => hints.map((hint) => [hint, name] as const)));
  return ({ skillHint }) => owners.get(skillHint.trim()) ?? '';
}
