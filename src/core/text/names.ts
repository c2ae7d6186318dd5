import type { z } from 'zod';

/** Nobody mistypes a longer one, and comparing takes as many steps as both lengths multiplied. */
const LONGEST_NAME = 100;

/** The nearest name, if one is near. Case, `-` and `_` do not count. */
export function closestName(typed: string, names: readonly string[]): string | undefined {
  const comparable = [typed, ...names].filter(({ length }) => length <= LONGEST_NAME);
  if (comparable[0] !== typed) return undefined;
  const ranked = comparable.slice(1).map((name) => ({ name, distance: editDistance(plain(typed), plain(name)) }));
  const nearest = ranked.sort((a, b) => a.distance - b.distance)[0];
  return nearest && nearest.distance <= Math.max(1, Math.floor(typed.length / 3)) ? nearest.name : undefined;
}

export function suggestion(typed: string, names: readonly string[]): string {
  const name = closestName(typed, names);
  return name === undefined ? '' : ` — did you mean ${name}?`;
}

/** `unknown key maxUsdd — did you mean maxUsd?`, and which there are. */
export function unknownKeys(typed: readonly string[], known: readonly string[]): string {
  const named = typed.map((key) => `${key}${suggestion(key, known)}`).join(', ');
  const there = known.length === 0 ? '' : `; it may have ${known.join(', ')}`;
  return `unknown ${typed.length > 1 ? 'keys' : 'key'} ${named}${there}`;
}

const plain = (name: string) => name.toLowerCase().replace(/[-_]/g, '');

function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) {
    const above = rows[row - 1]!;
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const change = above[column - 1]! + (from[row - 1] === to[column - 1] ? 0 : 1);
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const swap = isSwap ? rows[row - 2]![column - 2]! + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(above[column]! + 1, current[column - 1]! + 1, change, swap));
    }
    rows.push(current);
  }
  return rows[from.length]![to.length]!;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: Windows has no files with them
const NOT_IN_NAMES = /[<>:"/\\|?*\x00-\x1f]/g;
/** Windows takes each for a device, with any ending. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])(?=\.|$)/i;

/** Whether a file or folder can have this name on every system. Windows drops a dot or a space at its end. */
export const isPortableName = (name: string): boolean => name !== '' && portableName(name) === name;

/** The name itself if every system takes it, else one like it. */
export const portableName = (name: string): string =>
  name
    .replace(NOT_IN_NAMES, '-')
    .replace(/(?<![. ])[. ]+$/, '')
    .replace(DEVICE, '$&-1') || '-';

/** For messages; undefined if every system takes the name. */
export const nameProblem = (name: string): string | undefined =>
  isPortableName(name)
    ? undefined
    : `expected a name that a folder can have on every system, got ${JSON.stringify(name)}: Windows refuses con, nul, com1 and the like, < > : " | ? *, and a dot or a space at the end`;

type Issue = z.core.$ZodIssue;

/** `batchSize: expected a number, got "many"`: which key, what was expected, what came. */
export function describeIssue(issue: Issue, input: unknown, known: readonly string[] = []): string {
  const where = issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return `${where}${describeValue(issue, input, known)}`;
}

/** The same without the key. `known` are the keys that there may be. */
export function describeValue(issue: Issue, input: unknown, known: readonly string[] = []): string {
  if (issue.code === 'unrecognized_keys') return unknownKeys(issue.keys, known);
  const expected = expectedBy(issue);
  return expected.includes('got') ? expected : `${expected}, got ${shown(valueAt(issue, input))}`;
}

export const valueAt = ({ path }: Pick<Issue, 'path'>, input: unknown): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], input);

const KINDS: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  record: 'keys and values',
  object: 'keys and values',
};

export function expectedBy(issue: Issue): string {
  if (issue.code === 'invalid_type') return `expected ${KINDS[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value') return `expected one of ${issue.values.join(', ')}`;
  if (issue.code === 'too_big') return `expected at most ${issue.maximum}`;
  if (issue.code === 'too_small' && issue.origin === 'number') {
    return `expected ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
  }
  if (issue.code === 'too_small') return `expected ${KINDS[issue.origin] ?? issue.origin} that is not empty`;
  return issue.message.replace(/^Invalid (input|option): /, '');
}

/** A number in quotes is the commonest mistake, and looks right. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'number') return String(value);
  const isQuoted = typeof value === 'string' && /^(true|false|-?\d+(\.\d+)?)$/.test(value);
  return `${JSON.stringify(value)}${isQuoted ? ', which is text: leave the quotes out' : ''}`;
}
