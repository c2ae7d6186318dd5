import type { z } from 'zod';
import { unknownKeys } from './closest-name.ts';

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

/** What a schema wanted, in words for people who have never seen it. */
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

/** A number in quotes is the commonest slip, and looks right. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'number') return String(value);
  const isQuoted = typeof value === 'string' && /^(true|false|-?\d+(\.\d+)?)$/.test(value);
  return `${JSON.stringify(value)}${isQuoted ? ', which is text: leave the quotes out' : ''}`;
}
