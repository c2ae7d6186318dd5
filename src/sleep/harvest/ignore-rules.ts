import { oneLine } from '../../core/text/printable.ts';
import type { Place } from '../../transcripts/transcript-source.ts';
import { plainPath } from './scope.ts';
import type { SessionHead } from './session-index.ts';

/**
 * A line of `.skilloptignore`:
 *
 *     # a comment
 *     source:cursor          all sessions of an agent
 *     session:0199a1b2-…     one session, by its id
 *     task:task_1a2b3c…      one task that was made from sessions
 *     /srv/secret            a folder and all below it; also ~/work/client-*
 *     sub/folder             the same, from the folder of this file (from the home, in the home's and in the state folder's file)
 *     client                 every folder of this name, anywhere in a session's path below the file's folder; also a session's id
 *     *                      everything below the file's folder, and the folder itself
 *     !sub/public            but not this one: the last line that fits decides
 *
 * `*` and `?` stand for letters within a name, `**` for any number of folders.
 */
export type IgnoreRule = {
  readonly isNegated: boolean;
  readonly kind: 'source' | 'session' | 'task' | 'name' | 'path';
  /** Names to be met one after the other; for a path from the root on. */
  readonly names: readonly string[];
  /** The folder that the file speaks of. */
  readonly base: string;
};

export function parseIgnore(text: string, base: string): IgnoreRule[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  return lines
    .map((line) => line.trim())
    .flatMap((line) => (line === '' || line.startsWith('#') ? [] : toRule(line, base)));
}

function toRule(line: string, base: string): IgnoreRule {
  const isNegated = line.startsWith('!');
  const pattern = isNegated ? line.slice(1).trim() : line;
  const [, kind, value] = /^(source|session|task):\s*(.*)$/s.exec(pattern) ?? [];
  if (kind !== undefined) return { isNegated, kind: kind as 'source' | 'session' | 'task', names: [value!], base };
  const path = pattern.replaceAll('\\', '/').replace(/(?<=.)\/+$/, '');
  if (!path.includes('/') && path !== '~' && path !== '.') return { isNegated, kind: 'name', names: [path], base };
  return { isNegated, kind: 'path', names: namesOf(path, base), base };
}

/** `~` is left as it is: who matches knows the home. */
function namesOf(path: string, base: string): string[] {
  const isWhole = path.startsWith('/') || /^~(\/|$)|^[A-Za-z]:\//.test(path);
  const whole = isWhole ? path : `${base}/${path}`;
  return whole.split('/').filter((name) => name !== '' && name !== '.');
}

/** A session, or a task that was made from one. */
export type Ignorable = Pick<SessionHead, 'source' | 'sessionId' | 'project'> & { readonly taskId?: string };

export function isMatch(
  rule: IgnoreRule,
  { source, sessionId, project, taskId = '' }: Ignorable,
  place: Place,
): boolean {
  const [first = ''] = rule.names;
  if (rule.kind === 'task') return taskId === first;
  if (rule.kind === 'source') return isLike(source, first);
  if (rule.kind === 'session') return oneLine(sessionId) === oneLine(first); // As people saw it and typed it.
  const path = project === '' ? undefined : plainPath(project, place);
  if (rule.kind === 'name') return sessionId === first || (path !== undefined && hasName(path, rule, place));
  return (
    path !== undefined &&
    startsWith(
      split(path),
      split(plainPath(rule.names[0] === '~' ? rule.names.join('/') : `/${rule.names.join('/')}`, place)),
    )
  );
}

const split = (path: string) => path.split('/').filter((name) => name !== '');

/** The folder of the file itself is called `.` here, so that `*` means all of it. */
function hasName(path: string, { names: [name = ''], base }: IgnoreRule, place: Place): boolean {
  if (path !== base && !path.startsWith(`${base === '/' ? '' : base}/`)) return false;
  const wanted = plainCase(name, place);
  return ['.', ...split(path.slice(base.length))].some((one) => isLike(one, wanted));
}

const plainCase = (name: string, { platform }: Place) =>
  platform === 'win32' || platform === 'darwin' ? name.toLowerCase() : name;

/** Whether the first of these names are as the pattern wants; what follows lies below. */
function startsWith(names: readonly string[], patterns: readonly string[]): boolean {
  let reached = new Set([0]);
  for (const pattern of patterns) {
    reached = new Set([...reached].flatMap((at) => stepsFrom(names, at, pattern)));
  }
  return reached.size > 0;
}

function stepsFrom(names: readonly string[], at: number, pattern: string): number[] {
  if (pattern === '**')
    return names
      .slice(at)
      .map((_, index) => at + index)
      .concat(names.length);
  return at < names.length && isLike(names[at]!, pattern) ? [at + 1] : [];
}

/** `*` and `?`, in time that grows with the product of the lengths at worst: patterns come from files of others. */
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
