import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { newPiecesOf, readBlock } from '../../core/document/index.ts';
import { oneLine } from '../../core/text/index.ts';
import type { TaskDelta } from '../../report/index.ts';
import type { Place } from '../../transcripts/index.ts';
import { readSkillHint } from '../mine/heuristic-miner.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import { groupByHint } from '../splits.ts';
import type { TaskRecord, Tasks } from '../task-record.ts';
import { type LiveDocument, placesOf, readLive, scaffoldOf } from './live-document.ts';

export type DocumentSearch = {
  /** Whose documents: the name of a source or of an agent CLI. */
  readonly agent: string;
  readonly place: Place;
  readonly project: string;
  readonly settings: Pick<
    SleepSettings,
    'targetSkillPath' | 'managedSkillName' | 'skillScope' | 'skillRoots' | 'multiSkillFanout'
  >;
};

export type ResolvedSkill =
  | { readonly status: 'found'; readonly document: LiveDocument }
  | { readonly status: 'missing' | 'ambiguous' | 'vendored' | 'bad-name' | 'refused'; readonly why: string };

/** A skill by the name that sessions use. One of a plugin is left alone. */
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
  const paths = distinct.map(({ live }) => live.realPath).join(', ');
  if (other !== undefined) return { status: 'ambiguous', why: `there are ${distinct.length} of that name: ${paths}` };
  return isVendored(document, search)
    ? { status: 'vendored', why: 'it lies in a package, whose updates would undo it' }
    : { status: 'found', document };
}

/** In every folder of skills. A link that leads out of its folder is refused. */
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

/** Whether a package manager put it below the project or the home. Folders above them do not count. */
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

export const skillFileOf = (path: string): string => (/\.md$/i.test(path) ? path : join(path, 'SKILL.md'));

/** The skill of a folder or of a SKILL.md. It must exist, and be the person's own. */
async function skillAt(given: string, search: DocumentSearch): Promise<LiveDocument> {
  const path = skillFileOf(resolve(search.project, given));
  if (basename(path).toLowerCase() !== 'skill.md')
    throw notFound(`expected the SKILL.md of a skill, got ${path}`, 'Give the path of its SKILL.md, or of its folder.');
  const name = basename(dirname(path));
  const document = await readLive({ kind: 'skill', name, path, roots: [dirname(path)], isNewAllowed: false });
  if (document.live.bytes === null)
    throw notFound(`the target skill ${path} is not there`, 'Give the path of its SKILL.md.');
  if (!isVendored(document, search)) return document;
  const message = `${path} lies in a package, whose updates would undo what is learned`;
  throw new SkillError('DOCUMENT_REFUSED', message, {
    hint: 'Copy the skill to a folder of your own, and name that one.',
  });
}

const notFound = (message: string, hint: string) => new SkillError('SKILL_NOT_FOUND', message, { hint });

export async function skillNamed(given: string, search: DocumentSearch, directory: string): Promise<LiveDocument> {
  if (/[\\/]|^\.|\.md$/i.test(given)) return skillAt(resolve(directory, given), search);
  const found = await resolveSkill(given, search);
  if (found.status === 'found') return found.document;
  const names = await namesOfSkills(search);
  const hint = names.length > 0 ? `There are: ${names.join(', ')}. Or give a path.` : 'Give the path of its SKILL.md.';
  throw notFound(`expected the name of a skill of yours, got ${oneLine(given)}: ${found.why}`, hint);
}

async function namesOfSkills(search: DocumentSearch): Promise<string[]> {
  const lists = skillRootsOf(search).map((root) => readdir(root).catch(() => []));
  const names = [...new Set((await Promise.all(lists)).flat())].sort();
  const found = await Promise.all(names.map(async (name) => ({ name, ...(await resolveSkill(name, search)) })));
  return found.filter(({ status }) => status === 'found').map(({ name }) => oneLine(name));
}

export type NamedSkill = LiveDocument & { readonly hints: readonly string[] };

export type SkillChoice = { readonly skills: readonly NamedSkill[]; readonly notes: readonly string[] };

export const noChoice: SkillChoice = { skills: [], notes: [] };

/** The existing skills that tasks were done with. For any other hint there is a note, and its tasks stay with `main`. */
export async function chooseSkills(
  tasks: Tasks,
  search: DocumentSearch,
  main: Pick<LiveDocument, 'name' | 'live'>,
): Promise<SkillChoice> {
  const { multiSkillFanout, targetSkillPath, managedSkillName } = search.settings;
  const own = [main.name, managedSkillName, inProject(managedSkillName)];
  if (!multiSkillFanout || targetSkillPath !== undefined) return noChoice;
  const skills = new Map<string, NamedSkill>();
  const notes: string[] = [];
  for (const { skillHint, tasks: named } of groupByHint(tasks)) {
    if (skillHint === '' || own.includes(readSkillHint(skillHint)?.skill ?? '')) continue;
    const found = await resolveSkill(skillHint, search);
    if (found.status !== 'found') {
      const count = named.length === 1 ? 'Its task counts' : `Its ${named.length} tasks count`;
      notes.push(`The skill ${skillHint} is not trained: ${found.why}. ${count} for ${main.name}.`);
      continue;
    }
    const { realPath } = found.document.live;
    const before = skills.get(realPath) ?? { ...found.document, hints: [] }; // two names may lead to one file
    if (realPath !== main.live.realPath) skills.set(realPath, { ...before, hints: [...before.hints, skillHint] });
  }
  return { skills: [...skills.values()], notes };
}

/** The document of a run: the one of its kind, or an existing skill by its name. */
export const documentOf = <Document extends Pick<LiveDocument, 'kind' | 'name' | 'hints'>>(
  documents: readonly Document[],
  kind: LiveDocument['kind'],
  named: string,
): Document | undefined =>
  documents.find(
    (one) => one.kind === kind && (named === '' ? one.hints === undefined : one.name === named && one.hints),
  );

/** The part of the name of a document's run that follows the number of its night; empty for the managed skill or a target. */
export const runNameOf = (kind: LiveDocument['kind'], named: string): string => {
  if (kind === 'memory') return '.memory';
  if (named === '') return '';
  // a skill called `memory` must not share the folder of the memory's run
  return /^memory(\.skill)*$/i.test(named) ? `.${named}.skill` : `.${named}`;
};

/** The name of the skill that a task belongs to; empty: the one that the night improves anyway. */
export function ownerAmong(
  skills: readonly { readonly name: string; readonly hints: readonly string[] }[],
): (task: Pick<TaskRecord, 'skillHint'>) => string {
  const owners = new Map(skills.flatMap(({ name, hints }) => hints.map((hint) => [hint, name] as const)));
  return ({ skillHint }) => owners.get(skillHint.trim()) ?? '';
}

/** The skill that a night improves: the target, else one of our own, in the project or for all projects of the user. */
export async function findSkill(search: DocumentSearch): Promise<LiveDocument> {
  const { targetSkillPath, skillScope } = search.settings;
  if (targetSkillPath !== undefined) return skillAt(targetSkillPath, search);
  const userWide = await ownSkillIn('user', search);
  return skillScope === 'user' ? userWide : { ...(await ownSkillIn('project', search)), userWide };
}

function ownSkillIn(scope: 'user' | 'project', { agent, place, project, settings }: DocumentSearch) {
  const { userSkills, projectSkills } = placesOf(agent);
  const isUserWide = scope === 'user';
  const name = isUserWide ? settings.managedSkillName : inProject(settings.managedSkillName);
  const root = isUserWide ? userSkills(place)[0]! : join(project, projectSkills[0]!);
  const path = join(root, name, 'SKILL.md');
  // The scope's folder may itself be a link, or not be there yet.
  const roots = [isUserWide ? dirname(root) : project];
  return readLive({ kind: 'skill', name, path, roots, isNewAllowed: true, scaffold: scaffoldOf(name) });
}

/** Agents read one skill of a name: the one of the user would hide that of the project. */
const inProject = (name: string) => `${name}-project`;

/** The project's file with instructions: the first of the agent's files that exists, else the usual one. */
export async function findMemory({ agent, project }: Pick<DocumentSearch, 'agent' | 'project'>): Promise<LiveDocument> {
  const names = placesOf(agent).memory;
  const name = names.find((one) => existsSync(join(project, one))) ?? names[0]!;
  return readLive({ kind: 'memory', name, path: join(project, name), roots: [project], isNewAllowed: true });
}

type ProvenBlock = {
  readonly baseBlock: string;
  readonly block: string;
  readonly proof?: { readonly tasks: readonly TaskDelta[] } | undefined;
};

/**
 * Where a proven block goes, and how it looks there: rules that help tasks of two projects to all projects of the user, any other
 * block into the document that was trained. So does one that takes something away: it was proven there.
 */
export function placeOf(document: LiveDocument, { baseBlock, block, proof }: ProvenBlock, tasks: Tasks) {
  const { userWide } = document;
  const known = userWide ? readBlock(userWide.text, 'learned').trim() : '';
  const added = newPiecesOf(`${known}\n${baseBlock}`, block);
  const isOnlyMore = added.length > 0 && newPiecesOf(block, baseBlock).length === 0;
  if (!userWide || !isOnlyMore || projectsHelped(tasks, proof?.tasks ?? []).length < 2) return { document, block };
  return { document: userWide, block: [known, ...added].filter((part) => part !== '').join('\n') };
}

/** One task that did better may be luck. */
const LEAST_HELPED = 2;

/** The projects whose held-out tasks did better, on average and at least two of them. */
function projectsHelped(tasks: Tasks, deltas: readonly TaskDelta[]): string[] {
  const projects = projectsOf(tasks);
  const gains = new Map(deltas.map(({ id, before, after }) => [id, after - before]));
  return projects.filter((project) => {
    const isOf = (folder: string) => folder === project || isBelow(folder, project);
    const own = tasks.filter((task) => isOf(task.project)).flatMap(({ id }) => gains.get(id) ?? []);
    return own.reduce((sum, gain) => sum + gain, 0) > 0 && own.filter((gain) => gain > 0).length >= LEAST_HELPED;
  });
}

/** The projects that tasks come from. A folder below another one belongs to it. */
function projectsOf(tasks: Tasks): string[] {
  const folders = [...new Set(tasks.map(({ project }) => project))].filter((folder) => folder !== '');
  return folders.filter((folder) => !folders.some((above) => isBelow(folder, above)));
}
