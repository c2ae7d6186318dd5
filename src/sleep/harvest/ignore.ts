import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { memoize } from '../../core/text/index.ts';
import { fileReason, shownPath } from '../../stores/index.ts';
import type { Place } from '../../transcripts/index.ts';
import { type Ignorable, type IgnoreRule, isMatch, parseIgnore } from './ignore-rules.ts';
import { expandHome, plainPath } from './scope.ts';
import { folderOf } from './session-index.ts';

export const IGNORE_FILE = '.skilloptignore';

/** Whether a person said that nothing is to be learned from a session, or from a task. */
export type Ignored = (head: Ignorable) => boolean;

type IgnoreOptions = {
  readonly place: Place;
  readonly stateFolder: string;
  /** For lines that have no effect, with their file and number. */
  readonly onWarning?: ((warning: string) => void) | undefined;
};

/**
 * Reads `.skilloptignore` in the home and in the state folder, and for each session those in its project's folder and above
 * it, from wherever this is called. The last word counts, and that of the person is above that of a project.
 */
export async function loadIgnore({ place, stateFolder, onWarning = () => undefined }: IgnoreOptions): Promise<Ignored> {
  const wide = [place.home, stateFolder].flatMap((folder) => {
    const text = readSmall(join(folder, IGNORE_FILE));
    if (text instanceof Error) throw unreadable(join(folder, IGNORE_FILE), text);
    return rulesIn(folder, text, { base: plainPath(place.home, place), isWide: true, onWarning });
  });
  // There are few folders and many sessions.
  const rulesOf = memoize((folder: string) => ownRules(folder, place, onWarning));
  const pathsOf = memoize((project: string) => pathsTo(project, place));
  const isElsewhere = (folder: string) => folder !== place.home && folder !== stateFolder;
  return (head) => {
    const paths = pathsOf(folderOf(head));
    const folders = [...new Set(paths.flatMap(foldersAbove))].filter(isElsewhere);
    const rules = [...folders.flatMap(rulesOf), ...wide];
    const subject = { ...head, paths: paths.map((path) => plainPath(path, place)) };
    return rules.reduce((ignored, rule) => (isMatch(rule, subject, place) ? !rule.isNegated : ignored), false);
  };
}

/** A project's folder as the session names it, and as it is called without links. */
function pathsTo(project: string, { home }: Place): string[] {
  if (project === '') return [];
  const path = normalize(expandHome(project, home));
  if (!isHere(path)) return [path];
  try {
    return [...new Set([path, realpathSync(path)])];
  } catch {
    return [path]; // It is gone, or nobody may look there.
  }
}

/** `//host/share` and `/net/host` would ask another machine: a transcript must not make us do that. */
const isHere = (path: string) => isAbsolute(path) && !/^(?:[\\/]{2}|\/(?:net|afs|proc|dev|sys)\/)/.test(path);

/** The outermost first. */
function foldersAbove(path: string): string[] {
  if (!isHere(path)) return [];
  const above = dirname(path);
  return above === path ? [path] : [...foldersAbove(above), path];
}

/** What somebody wants to keep to themselves and we cannot read leaves out all that lies there. */
function ownRules(folder: string, place: Place, onWarning: (warning: string) => void): readonly IgnoreRule[] {
  const text = readSmall(join(folder, IGNORE_FILE));
  const source = { base: plainPath(folder, place), isWide: false, onWarning };
  if (!(text instanceof Error)) return rulesIn(folder, text, source);
  onWarning(`${unreadable(join(folder, IGNORE_FILE), text).message}; nothing below ${shownPath(folder)} is considered`);
  return rulesIn(folder, '*', source);
}

type RuleSource = Parameters<typeof parseIgnore>[1] & { readonly onWarning: (warning: string) => void };

function rulesIn(folder: string, text: string | undefined, source: RuleSource): readonly IgnoreRule[] {
  const { rules, problems } = parseIgnore(text ?? '', source);
  for (const { line, what } of problems) source.onWarning(`${shownPath(join(folder, IGNORE_FILE))}:${line}: ${what}`);
  return rules;
}

const MAX_BYTES = 65_536;

/** `undefined`: there is none. */
function readSmall(path: string): string | undefined | Error {
  try {
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // A pipe would keep us waiting.
    try {
      const found = fstatSync(file);
      if (found.isFile() && found.size <= MAX_BYTES) return readFileSync(file, 'utf8');
      return new Error(`expected a file of at most ${MAX_BYTES} bytes`);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return isThere(path) ? (error as Error) : undefined;
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function unreadable(path: string, cause: Error): SkillError {
  const message = `${shownPath(path)} cannot be read: ${fileReason(cause)}`;
  return new SkillError('CONFIG_INVALID', message, { cause, hint: 'Mend it, or delete it.' });
}
