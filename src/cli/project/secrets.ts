import { SkillError } from '../../core/errors.ts';

const SECRET_KEY =
  /^(.*api[-_]?key|.*secret|.*password|((access|auth|bearer|refresh)[-_]?)?token|authorization|headers)$/i;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const isSecretKey = (key: string): boolean => SECRET_KEY.test(key);

/** Throws when a project file holds a secret. Never repeats the value: messages end up in logs. */
export function refuseSecrets(value: unknown, source: string, path: readonly string[] = []): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, entry] of Object.entries(value)) {
    const where = [...path, key];
    if (isSecretKey(key) && holdsValue(entry)) throw secretIn(source, where.join('.'));
    if (key === 'apiKeyEnv' && !(typeof entry === 'string' && VARIABLE_NAME.test(entry)))
      throw notAVariable(source, where.join('.'));
    if (typeof entry === 'string' && hasUserInUrl(entry)) throw secretIn(source, where.join('.'));
    refuseSecrets(entry, source, where);
  }
}

/** Numbers such as a token limit are no secrets. */
const holdsValue = (entry: unknown) =>
  (typeof entry === 'string' && entry !== '') || (typeof entry === 'object' && entry !== null);

export const hasUserInUrl = (text: string) => /https?:\/\/[^/\s@]+@/.test(text);

const secretIn = (source: string, where: string) =>
  new SkillError('CONFIG_INVALID', `${source}: ${where} looks like a secret, and secrets do not belong in this file`, {
    hint: 'Put the key into an environment variable and name the variable: apiKeyEnv: MY_API_KEY',
  });

const notAVariable = (source: string, where: string) =>
  new SkillError('CONFIG_INVALID', `${source}: ${where} must be the name of an environment variable`, {
    hint: 'For example apiKeyEnv: MY_API_KEY, and in the shell: export MY_API_KEY=…',
  });
