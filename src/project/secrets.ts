import { SkillError } from '../core/contracts/index.ts';
import { placeIn } from './origin.ts';

const SECRET_KEY =
  /^(.*api[-_]?key|.*secret|.*password|((access|auth|bearer|refresh)[-_]?)?token|authorization|headers)$/i;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const isSecretKey = (key: string): boolean => SECRET_KEY.test(key);

type Problem = { readonly what: string; readonly hint: string };

/** Throws when a project file holds a secret. Never repeats the value: messages end up in logs. */
export async function refuseSecrets(value: unknown, file: string): Promise<void> {
  const found = findEntry(value, problemOf);
  if (found === undefined) return;
  const { path, found: problem } = found;
  const message = `${await placeIn(file, [path])}: ${path.join('.')} ${problem.what}`;
  throw new SkillError('CONFIG_INVALID', message, { hint: problem.hint });
}

/** The first entry, however deep, in which `find` sees something. */
export function findEntry<Found>(
  value: unknown,
  find: (key: string, entry: unknown) => Found | undefined,
  path: readonly string[] = [],
): { readonly path: readonly string[]; readonly found: Found } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, entry] of Object.entries(value)) {
    const here = [...path, key];
    const found = find(key, entry);
    const seen = found === undefined ? findEntry(entry, find, here) : { path: here, found };
    if (seen !== undefined) return seen;
  }
  return undefined;
}

function problemOf(key: string, entry: unknown): Problem | undefined {
  if (isSecretKey(key) && holdsValue(entry)) return SECRET;
  if (key === 'apiKeyEnv' && !(typeof entry === 'string' && VARIABLE_NAME.test(entry))) return NO_VARIABLE;
  return typeof entry === 'string' && hasUserInUrl(entry) ? SECRET : undefined;
}

const SECRET: Problem = {
  what: 'looks like a secret, and secrets do not belong in this file',
  hint: 'Put the key into an environment variable and name the variable: apiKeyEnv: MY_API_KEY',
};

const NO_VARIABLE: Problem = {
  what: 'must be the name of an environment variable',
  hint: 'For example apiKeyEnv: MY_API_KEY, and in the shell: export MY_API_KEY=…',
};

/** Numbers such as a token limit are no secrets. */
const holdsValue = (entry: unknown) =>
  (typeof entry === 'string' && entry !== '') || (typeof entry === 'object' && entry !== null);

export const hasUserInUrl = (text: string) => /https?:\/\/[^/\s@]+@/.test(text);
