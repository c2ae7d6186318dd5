import { basename, join, posix } from 'node:path';
import { type AgentName, agentPrograms, type CliDocuments } from '../../agents/index.ts';
import { readBlock } from '../../core/document/index.ts';
import { type ReadDocument, readDocument } from '../../skills/index.ts';
import { homePath, type Place } from '../../transcripts/index.ts';
import { textOf } from '../staging/stage.ts';

/** A document as it is on disk, or as it would begin. */
export type LiveDocument = {
  readonly kind: 'skill' | 'memory';
  readonly name: string;
  /** If there is no file yet: what it begins with. */
  readonly text: string;
  readonly live: ReadDocument;
  /** The folders in which it may be written. */
  readonly roots: readonly string[];
  /** Whether it may be made where there is none. */
  readonly isNewAllowed: boolean;
  /** Set for an existing skill that tasks name: the hints by which they do. */
  readonly hints?: readonly string[] | undefined;
  /** Of a skill of our own in a project: the one for all projects of the user. Agents read both. */
  readonly userWide?: LiveDocument | undefined;
};

/** What an agent reads of a document: also the rules for all projects, which need not be learned again. */
export function readText({ text, userWide }: LiveDocument): string {
  const rules = userWide ? readBlock(userWide.text, 'learned').trim() : '';
  return rules === '' ? text : `${text.trimEnd()}\n\n# Learned for all projects\n\n${rules}\n`;
}

type DocumentToRead = Omit<LiveDocument, 'text' | 'live'> & { readonly path: string; readonly scaffold?: string };

/** Reads a document with every link resolved once, and refuses one that could not be replaced. */
export async function readLive({ path, scaffold = '', ...wanted }: DocumentToRead): Promise<LiveDocument> {
  const live = await readDocument(path, wanted.roots);
  return { ...wanted, live, text: live.bytes === null ? scaffold : textOf(live.bytes, path) };
}

export const scaffoldOf = (name: string) => `---
name: ${name}
description: How this person likes things done, as learned from their own sessions. Read it before any task.
---

# Learned from your sessions

Short rules that proved themselves on your own tasks.
`;

type AgentPlaces = {
  /** Folders of skills of the user, the one for new skills first. */
  readonly userSkills: (place: Place) => readonly string[];
  readonly projectSkills: readonly string[];
  /** Files with instructions in a project, the usual one first. */
  readonly memory: readonly string[];
};

const COMMON: AgentPlaces = {
  userSkills: ({ home }) => [join(home, '.agents', 'skills')],
  projectSkills: ['.agents/skills'],
  memory: ['AGENTS.md'],
};

/** By the name of a model or of a transcript source: `claude-cli`, `copilot`. */
export function placesOf(agent: string): AgentPlaces {
  const name = agent.replace(/-cli$/, '');
  const documents = Object.hasOwn(agentPrograms, name) ? agentPrograms[name as AgentName].documents : undefined;
  if (documents === undefined) return COMMON;
  const { home: own, ownSkills, sharedSkills, projectSkills, instructions, otherInstructions = [] } = documents;
  return {
    userSkills: ({ env, home }) => [
      ...ownSkills.map((folder) => join(homePath(env[own.variable] || own.folder, home), folder)),
      ...sharedSkills.map((folder) => join(home, folder)),
    ],
    projectSkills,
    memory: [...instructions, ...otherInstructions],
  };
}

/** A sentence about how agents load a document. `path` is the path that agents look at, not the real one. */
export function agentLoads(path: string): string {
  const name = basename(path);
  const always = titlesOf(({ instructions }) => instructions.some((file) => isSameName(posix.basename(file), name)));
  if (always.length > 0)
    return `${listed(always)} ${always.length > 1 ? 'put' : 'puts'} ${name} into every prompt of a new session.`;
  const folders = path.replaceAll('\\', '/');
  const readers = titlesOf((documents) => skillFolders(documents).some((folder) => folders.includes(`/${folder}/`)));
  if (!isSameName(name, 'SKILL.md') || readers.length === 0)
    return 'No agent is known to load a file from there by itself: refer to it from one that is loaded.';
  const [see, load] = readers.length > 1 ? ['see', 'load'] : ['sees', 'loads'];
  return `${listed(readers)} ${see} its name and description in a new session, and ${load} the text when a request fits.`;
}

const titlesOf = (fits: (documents: CliDocuments) => boolean): string[] =>
  Object.values(agentPrograms).flatMap(({ title, documents }) => (documents && fits(documents) ? [title] : []));

const skillFolders = ({ home, ownSkills, sharedSkills, projectSkills }: CliDocuments) => [
  ...ownSkills.map((folder) => posix.join(home.folder, folder)),
  ...sharedSkills,
  ...projectSkills,
];

const isSameName = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

const listed = (names: readonly string[]) =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
