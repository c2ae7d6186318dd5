import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize, posix, win32 } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { redactSecrets } from '../../core/guard/index.ts';
import { memoize, oneLine, suggestion } from '../../core/text/index.ts';
import { fileReason, shownPath } from '../../stores/index.ts';
import { type Place, transcriptSources } from '../../transcripts/index.ts';
import { folderOf, type SessionHead } from './session-index.ts';

/** Which projects count: folders with all that lies below them, or all projects. */
export type Scope = 'all' | readonly string[];

/** Whether a project lies in one of the folders, by its own path or its real path: agents write either. */
export async function scopeTest(scope: Scope, place: Place): Promise<(project: string) => boolean> {
  if (scope === 'all') return () => true;
  const forms = scope.flatMap((folder) => formsOf(folder, place));
  return memoize((project: string) => {
    if (project === '') return false;
    const path = plainPath(project, place);
    return forms.some((form) => path === form || path.startsWith(form === '/' ? form : `${form}/`));
  });
}

/** The home may have two paths too: `~` stands for both. */
function formsOf(folder: string, place: Place): string[] {
  const [home, realHome] = [plainPath(place.home, place), plainPath(realPathOf(place.home), place)];
  const path = plainPath(folder, place);
  const real = plainPath(realPathOf(expandHome(folder, place.home)), place);
  const viaHome = [path, real].map((form) => (isBelow(form, realHome) ? home + form.slice(realHome.length) : form));
  const forms = [path, real, ...viaHome];
  return [...new Set([...forms, ...forms.map(redactSecrets)])]; // the index keeps redacted paths
}

const isBelow = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

/** The path itself if it is gone, or may not be read. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

export const expandHome = (path: string, home: string): string =>
  /^~(?=$|[/\\])/.test(path) ? home + path.slice(1) : path;

/** Absolute, with `/` between names and none at the end; in lower case where the file system ignores case. Opens nothing. */
function plainPath(path: string, { home, platform }: Pick<Place, 'home' | 'platform'>): string {
  const expanded = expandHome(path, home);
  const normal = platform === 'win32' ? win32.normalize(expanded).replaceAll('\\', '/') : posix.normalize(expanded);
  const trimmed = normal.length > 1 ? normal.replace(/(?<!\/)\/+$/, '') : normal;
  return platform === 'win32' || platform === 'darwin' ? trimmed.toLowerCase() : trimmed;
}

export const IGNORE_FILE = '.skilloptignore';

/** Whether a person wants nothing to be learned from a session, or from a task. */
export type Ignored = (head: Ignorable) => boolean;

type IgnoreOptions = {
  readonly place: Place;
  readonly stateFolder: string;
  /** For lines that have no effect, with their file and number. */
  readonly onWarning?: ((warning: string) => void) | undefined;
};

/**
 * Reads `.skilloptignore` in the home and in the state folder, and for each session those in its project's folder and
 * above it. The last line that fits decides; the files of the home and of the state folder come last.
 */
export async function loadIgnore({ place, stateFolder, onWarning = () => undefined }: IgnoreOptions): Promise<Ignored> {
  const wide = [place.home, stateFolder].flatMap((folder) => {
    const text = readSmall(join(folder, IGNORE_FILE));
    if (text instanceof Error) throw unreadable(join(folder, IGNORE_FILE), text);
    return rulesIn(folder, text, { base: plainPath(place.home, place), isWide: true, onWarning });
  });
  // There are few folders and many sessions.
  const rulesOf = memoize((folder: string) => ownRules(folder, place, onWarning));
  const isElsewhere = (folder: string) => folder !== place.home && folder !== stateFolder;
  const projectOf = memoize((project: string) => {
    const paths = pathsTo(project, place);
    const folders = [...new Set(paths.flatMap(foldersAbove))].filter(isElsewhere);
    const rules = [...folders.flatMap(rulesOf), ...wide];
    return { paths: paths.map((path) => plainPath(path, place)), rules };
  });
  return (head) => {
    const { paths, rules } = projectOf(folderOf(head));
    const subject = { ...head, paths };
    return rules.reduce((ignored, rule) => (isMatch(rule, subject, place) ? !rule.isNegated : ignored), false);
  };
}

/** A project's folder as the session names it, and its real path. */
function pathsTo(project: string, { home }: Place): string[] {
  if (project === '') return [];
  const path = normalize(expandHome(project, home));
  return isHere(path) ? [...new Set([path, realPathOf(path)])] : [path];
}

/** `//host/share` and `/net/host` would ask another machine: a transcript must not make us do that. */
const isHere = (path: string) =>
  isAbsolute(path) && !/^(?:[\\/]{2}|\/(?:net|afs|proc|dev(?!\/shm\/)|sys)\/)/.test(path);

/** The outermost first. */
function foldersAbove(path: string): string[] {
  if (!isHere(path)) return [];
  const above = dirname(path);
  return above === path ? [path] : [...foldersAbove(above), path];
}

/** A file that cannot be read leaves out everything below its folder. */
function ownRules(folder: string, place: Place, onWarning: (warning: string) => void): readonly IgnoreRule[] {
  const text = readSmall(join(folder, IGNORE_FILE));
  const source = { base: plainPath(folder, place), isWide: false, onWarning };
  if (!(text instanceof Error)) return rulesIn(folder, text, source);
  onWarning(`${unreadable(join(folder, IGNORE_FILE), text).message}; nothing below ${shownPath(folder)} is considered`);
  return rulesIn(folder, '*', source);
}

function rulesIn(folder: string, text = '', source: RuleSource): readonly IgnoreRule[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  return lines.flatMap((raw, at) => {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) return [];
    const problem = problemOf(patternOf(line));
    if (problem !== undefined) source.onWarning(`${shownPath(join(folder, IGNORE_FILE))}:${at + 1}: ${problem}`);
    return toRule(line, source) ?? [];
  });
}

const MAX_BYTES = 65_536;

/** `undefined` if there is no file. */
function readSmall(path: string): string | undefined | Error {
  try {
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // a pipe would block
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
  return new SkillError('CONFIG_INVALID', message, { cause, hint: 'Correct it, or delete it.' });
}

/**
 * A line of `.skilloptignore`:
 *
 *     # a comment
 *     source:cursor          all sessions of an agent
 *     session:0199a1b2-…     one session, by its id
 *     task:task_1a2b3c…      one task that was made from sessions
 *     /srv/secret            a folder and all below it; also ~/code/client-*
 *     sub/folder             the same, from the folder of this file (from the home, in the home's and in the state folder's file)
 *     client                 every folder of this name and all below it: in a project's file those below the project, in the
 *                            home's and in the state folder's file anywhere; also a session's id
 *     *                      everything: in a project's file the project, in the other two all sessions
 *     !sub/public            but not this one: the last line that fits decides
 *
 * `*` and `?` stand for letters within a name, `**` for any number of folders.
 */
type IgnoreRule = {
  readonly isNegated: boolean;
  readonly kind: 'source' | 'session' | 'task' | 'name' | 'path';
  /** Names to be met one after the other; for a path from the root on. */
  readonly names: readonly string[];
  /** The folder below which names count. `undefined`: anywhere. */
  readonly base: string | undefined;
};

type RuleSource = {
  /** Paths in the file begin at this folder. */
  readonly base: string;
  readonly isWide: boolean;
  readonly onWarning: (warning: string) => void;
};

const patternOf = (line: string) => (line.startsWith('!') ? line.slice(1).trim() : line);

const KINDS = ['source', 'session', 'task'] as const;
const KIND = /^([A-Za-z]{2,}):\s*(.*)$/s;

function problemOf(pattern: string): string | undefined {
  if (pattern === '')
    return 'expected a folder, session:, task: or source: behind the !, got nothing; it has no effect';
  if (/^~[^/\\]/.test(pattern)) return `expected ~/FOLDER or a whole path, got ${pattern}; it has no effect`;
  const [, kind, value = ''] = KIND.exec(pattern) ?? [];
  if (kind === undefined) return undefined;
  if (!KINDS.some((one) => one === kind))
    return `expected ${KINDS.join(':, ')}: or a folder, got ${kind}:${suggestion(kind, KINDS)}; it is taken for a folder of that name`;
  if (value === '') return `expected a name behind ${kind}:, got nothing; it has no effect`;
  return kind === 'source' ? problemOfSource(value) : undefined;
}

function problemOfSource(value: string): string | undefined {
  const names = transcriptSources.map(({ name }) => name);
  if (names.some((name) => isLike(name, plainSource(value)))) return undefined;
  return `expected one of ${names.join(', ')}, got ${value}${suggestion(value, names)}; it has no effect`;
}

const plainSource = (name: string) => name.toLowerCase().replaceAll('_', '-');

function toRule(line: string, { base, isWide }: RuleSource): IgnoreRule | undefined {
  const isNegated = line.startsWith('!');
  const pattern = patternOf(line);
  const [, typed, value = ''] = KIND.exec(pattern) ?? [];
  const kind = KINDS.find((one) => one === typed);
  if (pattern === '' || (kind !== undefined && value === '')) return undefined;
  if (kind !== undefined) return { isNegated, kind, names: [kind === 'source' ? plainSource(value) : value], base };
  const path = pattern.replaceAll('\\', '/').replace(/(?<=[^/]|^\/)\/+$/, '');
  if (!path.includes('/') && path !== '~' && path !== '.')
    return { isNegated, kind: 'name', names: [path], base: isWide ? undefined : base };
  return { isNegated, kind: 'path', names: namesOf(path, base), base };
}

/** `~` stays: `isMatch` knows the home. */
function namesOf(path: string, base: string): string[] {
  const isWhole = path.startsWith('/') || /^~(\/|$)|^[A-Za-z]:\//.test(path);
  const whole = isWhole ? path : `${base}/${path}`;
  return whole.split('/').filter((name) => name !== '' && name !== '.');
}

/** A session, or a task that was made from one. */
type Ignorable = Pick<SessionHead, 'source' | 'sessionId' | 'project' | 'folder'> & { readonly taskId?: string };

function isMatch(
  rule: IgnoreRule,
  { source, sessionId, taskId = '', paths }: Ignorable & { readonly paths: readonly string[] },
  place: Place,
): boolean {
  const [first = ''] = rule.names;
  if (rule.kind === 'task') return taskId === first;
  if (rule.kind === 'source') return isLike(source, first);
  if (rule.kind === 'session') return oneLine(sessionId) === oneLine(first); // as it was shown to people
  if (rule.kind === 'name') return sessionId === first || hasName(paths, rule, place);
  const wanted = rule.names[0] === '~' ? rule.names.join('/') : `/${rule.names.join('/')}`;
  return paths.some((path) => startsWith(split(path), split(plainPath(wanted, place))));
}

const split = (path: string) => path.split('/').filter((name) => name !== '');

/** The folder of the file itself is called `.` here, so that `*` means all of it. */
function hasName(paths: readonly string[], { names: [name = ''], base }: IgnoreRule, place: Place): boolean {
  const wanted = plainCase(name, place);
  if (base === undefined) return isLike('', wanted) || paths.flatMap(split).some((one) => isLike(one, wanted));
  const below = paths.filter((path) => path === base || path.startsWith(`${base === '/' ? '' : base}/`));
  return below.some((path) => ['.', ...split(path.slice(base.length))].some((one) => isLike(one, wanted)));
}

const plainCase = (name: string, { platform }: Place) =>
  platform === 'win32' || platform === 'darwin' ? name.toLowerCase() : name;

/** Whether the first names match the patterns; what follows lies below. */
function startsWith(names: readonly string[], patterns: readonly string[]): boolean {
  let reached = new Set([0]);
  for (const pattern of patterns) reached = new Set([...reached].flatMap((at) => stepsFrom(names, at, pattern)));
  return reached.size > 0;
}

function stepsFrom(names: readonly string[], at: number, pattern: string): number[] {
  if (pattern === '**') return Array.from({ length: names.length - at + 1 }, (_, index) => at + index);
  return at < names.length && isLike(names[at]!, pattern) ? [at + 1] : [];
}

/** `*` and `?`. Takes at most the product of the lengths: patterns come from files of others. */
function isLike(text: string, pattern: string): boolean {
  let [at, on, star, mark] = [0, 0, -1, 0];
  while (at < text.length) {
    if (pattern[on] === '*') [star, mark, on] = [on, at, on + 1];
    else if (pattern[on] === '?' || pattern[on] === text[at]) [at, on] = [at + 1, on + 1];
    else if (star >= 0) [mark, at, on] = [mark + 1, mark + 1, star + 1];
    else return false;
  }
  while (pattern[on] === '*') on += 1;
  return on === pattern.length;
}
