import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Where agents keep skills below a project. */
const SKILL_PLACES = ['.claude/skills', '.agents/skills', '.codex/skills', '.github/skills', 'skills'];
/** Folders that hold what others made. */
const SKIPPED = /^(node_modules|runs|dist|build|coverage|vendor|target|venv|__pycache__|\..*)$/;
const MOST_ENTRIES = 500;
const MOST_FOLDERS = 100;

type Listed = { readonly files: readonly string[]; readonly folders: readonly string[] };

/** Files and folders of a folder by name, sorted. Links are followed by whoever opens them. Nothing where nobody may look. */
async function list(folder: string): Promise<Listed> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const sorted = entries.sort((one, other) => (one.name < other.name ? -1 : 1)).slice(0, MOST_ENTRIES);
  const names = (keep: (entry: (typeof sorted)[number]) => boolean) => sorted.filter(keep).map(({ name }) => name);
  return {
    files: names((entry) => entry.isFile() || entry.isSymbolicLink()),
    folders: names((entry) => entry.isDirectory() || entry.isSymbolicLink()),
  };
}

/** The folders that may be skills: this one, those in it, and those in the places of agents. Relative to it. */
export async function skillFolders(directory: string): Promise<string[]> {
  const { folders } = await list(directory);
  const here = folders.filter((name) => !SKIPPED.test(name));
  const below = await Promise.all(
    SKILL_PLACES.map(async (place) => (await list(join(directory, place))).folders.map((name) => `${place}/${name}`)),
  );
  return ['.', ...here, ...below.flat()].slice(0, MOST_FOLDERS);
}

/** The files here, in the folders here, and in these skills and their `evals`. Relative to the directory, each once. */
export async function filesToLookAt(directory: string, skills: readonly string[]): Promise<string[]> {
  const { folders } = await list(directory);
  const near = folders.filter((name) => !SKIPPED.test(name)).slice(0, MOST_FOLDERS);
  const places = new Set(['.', ...skills, ...skills.map((path) => join(path, 'evals')), ...near]);
  const found: string[] = [];
  for (const place of places) {
    const { files } = await list(join(directory, place));
    found.push(...files.map((name) => join(place, name)));
  }
  return [...new Set(found)];
}
