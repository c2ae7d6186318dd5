import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { SkillError } from '../../core/errors.ts';
import { fileReason } from '../../stores/file-error.ts';
import { shownPath } from '../../stores/shown-path.ts';
import type { Place } from '../../transcripts/transcript-source.ts';
import { type Ignorable, type IgnoreRule, isMatch, parseIgnore } from './ignore-rules.ts';
import { expandHome, plainPath } from './scope.ts';

export const IGNORE_FILE = '.skilloptignore';

/** Whether a person said that nothing is to be learned from a session, or from a task. */
export type Ignored = (head: Ignorable) => boolean;

type IgnoreOptions = {
  readonly place: Place;
  readonly stateFolder: string;
  /** Folders of projects whose own files count too. */
  readonly projects: readonly string[];
};

/** Reads `.skilloptignore` in the home, in the state folder, and in each project and the folders above it below the home. */
export async function loadIgnore({ place, stateFolder, projects }: IgnoreOptions): Promise<Ignored> {
  const folders = new Set(projects.flatMap((project) => foldersOf(expandHome(project, place.home), place)));
  folders.delete(place.home);
  const own = await Promise.all([...folders].map((folder) => readRules(folder, folder, place)));
  const wide = await Promise.all([place.home, stateFolder].map((folder) => readRules(folder, place.home, place)));
  // The last word counts, and that of the person is above that of a project.
  const rules = [...own, ...wide].flat();
  return (head) => rules.reduce((ignored, rule) => (isMatch(rule, head, place) ? !rule.isNegated : ignored), false);
}

/** A project's folder, and those between it and the home. Outside of the home it alone is looked at. */
function foldersOf(project: string, place: Place): string[] {
  const [path, home] = [plainPath(project, place), plainPath(place.home, place)];
  if (!isAbsolute(project) || path.startsWith('//')) return []; // `//host/share` would ask another machine.
  if (!path.startsWith(`${home}/`)) return [project];
  const folders: string[] = [];
  for (let folder = project; plainPath(folder, place).startsWith(`${home}/`); folder = dirname(folder))
    folders.unshift(folder);
  return folders;
}

const MAX_BYTES = 65_536;

async function readRules(folder: string, base: string, place: Place): Promise<IgnoreRule[]> {
  const path = join(folder, IGNORE_FILE);
  const text = await readSmall(path);
  return text === undefined ? [] : parseIgnore(text, plainPath(base, place));
}

/** A file that is there and cannot be read is an error: what somebody wants to keep to themselves would be learned. */
async function readSmall(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // A pipe would keep us waiting.
    try {
      const { size } = await file.stat().then((found) => (found.isFile() ? found : { size: Number.POSITIVE_INFINITY }));
      if (size > MAX_BYTES) throw new Error(`expected a file of at most ${MAX_BYTES} bytes`);
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((await lstat(path).catch(() => undefined)) === undefined) return undefined;
    const message = `${shownPath(path)} cannot be read: ${fileReason(error)}`;
    throw new SkillError('CONFIG_INVALID', message, { cause: error, hint: 'Mend it, or delete it.' });
  }
}
