import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SkillError } from '../../core/errors.ts';
import type { Place } from '../../transcripts/transcript-source.ts';
import { readSkillHint } from '../mine/skill-hint.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import { placesOf } from './agent-places.ts';
import { type LiveDocument, readLive, scaffoldOf } from './live-document.ts';

export type DocumentSearch = {
  /** Whose documents: the name of a source or of an agent CLI. */
  readonly agent: string;
  readonly place: Place;
  readonly project: string;
  readonly settings: Pick<SleepSettings, 'targetSkillPath' | 'managedSkillName' | 'skillRoots'>;
};

/** The skill that a night improves: the one that was named, else one of our own in the agent's user scope. */
export async function findSkill({ agent, place, project, settings }: DocumentSearch): Promise<LiveDocument> {
  const { targetSkillPath, managedSkillName: name } = settings;
  if (targetSkillPath !== undefined) return namedSkill(resolve(project, targetSkillPath));
  const [root] = placesOf(agent).userSkills(place);
  const path = join(root!, name, 'SKILL.md');
  // The scope's folder may itself be a link, or not be there yet.
  const roots = [dirname(root!)];
  return readLive({ kind: 'skill', name, path, roots, isNewAllowed: true, scaffold: scaffoldOf(name) });
}

async function namedSkill(path: string): Promise<LiveDocument> {
  const name = basename(dirname(path));
  const document = await readLive({ kind: 'skill', name, path, roots: [dirname(path)], isNewAllowed: false });
  if (document.live.bytes !== null) return document;
  throw new SkillError('SKILL_NOT_FOUND', `the target skill ${path} is not there`, {
    hint: 'Give the path of its SKILL.md.',
  });
}

/** The project's file with instructions: the first of the agent's that is there, else the usual one. */
export async function findMemory({ agent, project }: Pick<DocumentSearch, 'agent' | 'project'>): Promise<LiveDocument> {
  const names = placesOf(agent).memory;
  const name = names.find((one) => existsSync(join(project, one))) ?? names[0]!;
  return readLive({ kind: 'memory', name, path: join(project, name), roots: [project], isNewAllowed: true });
}

export type ResolvedSkill =
  | { readonly status: 'found'; readonly document: LiveDocument }
  | { readonly status: 'missing' | 'ambiguous' | 'vendored' | 'bad-name'; readonly why: string };

/** A skill by the name that sessions know it by. One of a plugin belongs to somebody else, and is left alone. */
export async function resolveSkill(hint: string, search: DocumentSearch): Promise<ResolvedSkill> {
  const read = readSkillHint(hint);
  if (read === undefined) return { status: 'bad-name', why: 'it is no name of a skill' };
  if (read.plugin !== undefined) return { status: 'vendored', why: 'it belongs to a plugin' };
  const found = [];
  for (const root of skillRootsOf(search)) {
    const path = join(root, read.skill, 'SKILL.md');
    const wanted = { kind: 'skill' as const, name: read.skill, path, roots: [root], isNewAllowed: false };
    found.push(await readLive(wanted).catch(() => undefined)); // a link that leads out of its folder is not ours to change
  }
  const there = found.filter((document) => document !== undefined && document.live.bytes !== null);
  const distinct = [...new Map(there.map((document) => [document!.live.realPath, document!])).values()];
  if (distinct.length === 0) return { status: 'missing', why: 'no file of that name was found' };
  if (distinct.length > 1) return { status: 'ambiguous', why: `there are ${distinct.length} of that name` };
  const [document] = distinct;
  const isVendored = /[\\/](?:node_modules|plugins|vendor|site-packages)[\\/]/.test(document!.live.realPath);
  return isVendored ? { status: 'vendored', why: 'it lies in a package' } : { status: 'found', document: document! };
}

const skillRootsOf = ({ agent, place, project, settings }: DocumentSearch): string[] => [
  ...placesOf(agent).projectSkills.map((folder) => join(project, folder)),
  ...placesOf(agent).userSkills(place),
  ...settings.skillRoots,
];
