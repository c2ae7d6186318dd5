import { readdir } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine } from '../../core/text/index.ts';
import type { Place } from '../../transcripts/index.ts';
import { readSkillHint } from '../mine/skill-hint.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import { placesOf } from './agent-places.ts';
import { type LiveDocument, readLive } from './live-document.ts';

export type DocumentSearch = {
  /** Whose documents: the name of a source or of an agent CLI. */
  readonly agent: string;
  readonly place: Place;
  readonly project: string;
  readonly settings: Pick<SleepSettings, 'targetSkillPath' | 'managedSkillName' | 'skillRoots' | 'multiSkillFanout'>;
};

export type ResolvedSkill =
  | { readonly status: 'found'; readonly document: LiveDocument }
  | { readonly status: 'missing' | 'ambiguous' | 'vendored' | 'bad-name' | 'refused'; readonly why: string };

/** A skill by the name that sessions know it by. One of a plugin belongs to somebody else, and is left alone. */
export async function resolveSkill(hint: string, search: DocumentSearch): Promise<ResolvedSkill> {
  const read = readSkillHint(hint);
  if (read === undefined) return { status: 'bad-name', why: 'it is no name of a skill' };
  if (read.plugin !== undefined)
    return { status: 'vendored', why: 'it belongs to a plugin, whose updates would undo it' };
  const { there, refusals } = await lookFor(read.skill, search);
  const distinct = [...new Map(there.map((document) => [document.live.realPath, document])).values()];
  const [document, other] = distinct;
  if (document === undefined && refusals[0] !== undefined) return { status: 'refused', why: refusals[0] };
  if (document === undefined) return { status: 'missing', why: 'no file of that name was found' };
  if (other !== undefined)
    return {
      status: 'ambiguous',
      why: `there are ${distinct.length} of that name: ${distinct.map(pathOf).join(', ')}`,
    };
  return isVendored(document, search)
    ? { status: 'vendored', why: 'it lies in a package, whose updates would undo it' }
    : { status: 'found', document };
}

const pathOf = ({ live }: LiveDocument) => live.realPath;

/** In every folder of skills; a link that leads out of its folder is not ours to change. */
async function lookFor(name: string, search: DocumentSearch) {
  const [there, refusals]: [LiveDocument[], string[]] = [[], []];
  for (const root of skillRootsOf(search)) {
    const path = join(root, name, 'SKILL.md');
    try {
      const document = await readLive({ kind: 'skill', name, path, roots: [root], isNewAllowed: false });
      if (document.live.bytes !== null) there.push(document);
    } catch (error) {
      refusals.push((error as Error).message);
    }
  }
  return { there, refusals };
}

/** What a package manager put below the project or the home. Folders above them say nothing. */
function isVendored({ live }: LiveDocument, { project, place }: DocumentSearch): boolean {
  const base = [project, place.home].find((folder) => isBelow(live.realPath, folder));
  const path = base === undefined ? live.realPath : relative(base, live.realPath);
  return path.split(/[\\/]/).some((folder) => VENDORED.has(folder));
}

const VENDORED = new Set(['node_modules', 'plugins', 'vendor', 'site-packages']);

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && !/^\.\.([\\/]|$)/.test(way) && !isAbsolute(way);
}

const skillRootsOf = ({ agent, place, project, settings }: DocumentSearch): string[] => [
  ...placesOf(agent).projectSkills.map((folder) => join(project, folder)),
  ...placesOf(agent).userSkills(place),
  ...settings.skillRoots,
];

/** A skill may be named by its folder. */
export const skillFileOf = (path: string): string => (/\.md$/i.test(path) ? path : join(path, 'SKILL.md'));

/** The skill in a folder, or whose SKILL.md this is. It must be there, and be the person's own. */
export async function skillAt(given: string, search: DocumentSearch): Promise<LiveDocument> {
  const path = skillFileOf(resolve(search.project, given));
  if (basename(path).toLowerCase() !== 'skill.md')
    throw notFound(`expected the SKILL.md of a skill, got ${path}`, 'Give the path of its SKILL.md, or of its folder.');
  const name = basename(dirname(path));
  const document = await readLive({ kind: 'skill', name, path, roots: [dirname(path)], isNewAllowed: false });
  if (document.live.bytes === null)
    throw notFound(`the target skill ${path} is not there`, 'Give the path of its SKILL.md.');
  if (!isVendored(document, search)) return document;
  const hint = 'Copy the skill to a folder of your own, and name that one.';
  throw new SkillError('DOCUMENT_REFUSED', `${path} lies in a package, whose updates would undo what is learned`, {
    hint,
  });
}

const notFound = (message: string, hint: string) => new SkillError('SKILL_NOT_FOUND', message, { hint });

/** The existing skill that a person names: what looks like a path is one, anything else a name. */
export async function skillNamed(given: string, search: DocumentSearch, directory: string): Promise<LiveDocument> {
  if (/[\\/]|^\.|\.md$/i.test(given)) return skillAt(resolve(directory, given), search);
  const found = await resolveSkill(given, search);
  if (found.status === 'found') return found.document;
  const names = await namesOfSkills(search);
  const hint = names.length > 0 ? `There are: ${names.join(', ')}. Or give a path.` : 'Give the path of its SKILL.md.';
  throw notFound(`expected the name of a skill of yours, got ${oneLine(given)}: ${found.why}`, hint);
}

/** In the folders where the agent finds skills. */
async function namesOfSkills(search: DocumentSearch): Promise<string[]> {
  const lists = skillRootsOf(search).map((root) => readdir(root).catch(() => []));
  const names = [...new Set((await Promise.all(lists)).flat())].sort();
  const found = await Promise.all(names.map(async (name) => ({ name, ...(await resolveSkill(name, search)) })));
  return found.filter(({ status }) => status === 'found').map(({ name }) => oneLine(name));
}
