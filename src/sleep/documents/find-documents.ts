import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { placesOf } from './agent-places.ts';
import { type LiveDocument, readLive, scaffoldOf } from './live-document.ts';
import { type DocumentSearch, skillAt } from './resolve-skill.ts';

/** The skill that a night improves: the one that was named, else one of our own in the agent's user scope. */
export async function findSkill({ agent, place, project, settings }: DocumentSearch): Promise<LiveDocument> {
  const { targetSkillPath, managedSkillName: name } = settings;
  if (targetSkillPath !== undefined) return skillAt(targetSkillPath, { agent, place, project, settings });
  const [root] = placesOf(agent).userSkills(place);
  const path = join(root!, name, 'SKILL.md');
  // The scope's folder may itself be a link, or not be there yet.
  const roots = [dirname(root!)];
  return readLive({ kind: 'skill', name, path, roots, isNewAllowed: true, scaffold: scaffoldOf(name) });
}

/** The project's file with instructions: the first of the agent's that is there, else the usual one. */
export async function findMemory({ agent, project }: Pick<DocumentSearch, 'agent' | 'project'>): Promise<LiveDocument> {
  const names = placesOf(agent).memory;
  const name = names.find((one) => existsSync(join(project, one))) ?? names[0]!;
  return readLive({ kind: 'memory', name, path: join(project, name), roots: [project], isNewAllowed: true });
}
