import { oneLine, suggestion } from '../../core/text/index.ts';
import { type Place, transcriptSources } from '../../transcripts/index.ts';
import { plainPath } from './scope.ts';
import type { SessionHead } from './session-index.ts';

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
export type IgnoreRule = {
  readonly isNegated: boolean;
  readonly kind: 'source' | 'session' | 'task' | 'name' | 'path';
  /** Names to be met one after the other; for a path from the root on. */
  readonly names: readonly string[];
  /** The folder below which names count. `undefined`: anywhere. */
  readonly base: string | undefined;
};

type RuleSource = {
  /** The folder that paths in the file begin at. */
  readonly base: string;
  /** Whether the file speaks of the whole machine. */
  readonly isWide: boolean;
};

/** What a line that does not do what it looks like does instead. */
type LineProblem = { readonly line: number; readonly what: string };

export type ParsedIgnore = { readonly rules: readonly IgnoreRule[]; readonly problems: readonly LineProblem[] };

export function parseIgnore(text: string, source: RuleSource): ParsedIgnore {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((line) => line.trim());
  const said = lines.flatMap((line, at) => (line === '' || line.startsWith('#') ? [] : [{ line: at + 1, text: line }]));
  const problems = said.flatMap(({ line, text: written }) => {
    const what = problemOf(patternOf(written));
    return what === undefined ? [] : [{ line, what }];
  });
  return { rules: said.flatMap(({ text: written }) => toRule(written, source) ?? []), problems };
}

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

/** `~` is left as it is: who matches knows the home. */
function namesOf(path: string, base: string): string[] {
  const isWhole = path.startsWith('/') || /^~(\/|$)|^[A-Za-z]:\//.test(path);
  const whole = isWhole ? path : `${base}/${path}`;
  return whole.split('/').filter((name) => name !== '' && name !== '.');
}

/** A session, or a task that was made from one. */
export type Ignorable = Pick<SessionHead, 'source' | 'sessionId' | 'project' | 'folder'> & { readonly taskId?: string };

/** The same, with every path of its project in plain form. */
type Subject = Omit<Ignorable, 'project' | 'folder'> & { readonly paths: readonly string[] };

export function isMatch(rule: IgnoreRule, { source, sessionId, taskId = '', paths }: Subject, place: Place): boolean {
  const [first = ''] = rule.names;
  if (rule.kind === 'task') return taskId === first;
  if (rule.kind === 'source') return isLike(source, first);
  if (rule.kind === 'session') return oneLine(sessionId) === oneLine(first); // As people saw it and typed it.
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
