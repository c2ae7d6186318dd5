import { basename, posix } from 'node:path';
import { agentPrograms, type CliDocuments } from '../../agents/index.ts';

/** How a document reaches the agents: a sentence for a person. `path` is the one that agents look at, not the real one. */
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

/** Of the agents whose documents are known, and of these those that fit. */
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
