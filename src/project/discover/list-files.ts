import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';

/** Where agents keep skills below a project. */
const SKILL_PLACES = ['.claude/skills', '.agents/skills', '.codex/skills', '.github/skills', 'skills'];
/** Folders that hold what others made. */
const SKIPPED = /^(node_modules|runs|dist|build|coverage|vendor|target|venv|__pycache__|\..*)$/;
const MOST_ENTRIES = 500;
/** As many levels of folders are looked into for skills, and as many folders. */
export const DEEPEST = 4;
export const MOST_FOLDERS = 1000;
const MOST_NEAR = 100;

type Listed = {
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly links: readonly string[];
};

/** What is in a folder by name, sorted. Links are followed by whoever opens them. Nothing where nobody may look. */
async function list(folder: string): Promise<Listed> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const sorted = entries.sort((one, other) => (one.name < other.name ? -1 : 1)).slice(0, MOST_ENTRIES);
  const names = (keep: (entry: (typeof sorted)[number]) => boolean) => sorted.filter(keep).map(({ name }) => name);
  return {
    files: names((entry) => entry.isFile()),
    folders: names((entry) => entry.isDirectory()),
    links: names((entry) => entry.isSymbolicLink()),
  };
}

const isWanted = (name: string) => !SKIPPED.test(name);

export type Walked = { readonly folders: readonly string[]; readonly isCut: boolean };

/** The folders that may be skills, the nearest first: this one, those below it, and those in the places of agents. Relative to it. */
export async function skillFolders(directory: string): Promise<Walked> {
  const found = ['.'];
  let level = ['.', ...SKILL_PLACES];
  for (let depth = 1; depth <= DEEPEST && found.length <= MOST_FOLDERS; depth += 1) {
    const below = await Promise.all(level.map((folder) => foldersIn(directory, folder)));
    found.push(...below.flatMap(({ folders, links }) => [...folders, ...links].sort()));
    level = [...new Set(below.flatMap(({ folders }) => folders))].slice(0, MOST_FOLDERS);
  }
  const folders = [...new Set(found)];
  return { folders: folders.slice(0, MOST_FOLDERS), isCut: folders.length > MOST_FOLDERS };
}

/** What lies in a skill belongs to it. A link may be a skill, but is not walked through: it may lead anywhere, and in circles. */
async function foldersIn(directory: string, folder: string): Promise<Omit<Listed, 'files'>> {
  const { files, folders, links } = await list(join(directory, folder));
  if (folder !== '.' && [...files, ...links].some((name) => /^skill\.md$/i.test(name)))
    return { folders: [], links: [] };
  const below = (names: readonly string[]) => names.filter(isWanted).map((name) => join(folder, name));
  return { folders: below(folders), links: below(links) };
}

/** The files here, in the folders here, and in these skills and their `evals`. Relative to the directory, each once. */
export async function filesToLookAt(directory: string, skills: readonly string[]): Promise<string[]> {
  const { folders, links } = await list(directory);
  const near = [...folders, ...links].sort().filter(isWanted).slice(0, MOST_NEAR);
  const places = new Set(['.', ...skills, ...skills.map((path) => join(path, 'evals')), ...near]);
  const found: string[] = [];
  for (const place of places) {
    const listed = await list(join(directory, place));
    found.push(...[...listed.files, ...listed.links].sort().map((name) => join(place, name)));
  }
  return onceEach(directory, found);
}

/** Each file once, however many links lead to it, and by the path where it really lies if that is among them. */
export async function onceEach(directory: string, paths: readonly string[]): Promise<string[]> {
  const root = await realpath(directory).catch(() => directory);
  const kept = new Map<string, string>();
  for (const path of new Set(paths)) {
    const real = await realpath(join(directory, path)).catch(() => undefined);
    if (real !== undefined && (!kept.has(real) || real === join(root, path))) kept.set(real, path);
  }
  return [...kept.values()];
}
