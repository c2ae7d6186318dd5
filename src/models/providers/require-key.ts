import { SkillError } from '../../core/contracts/index.ts';

type KeySource = {
  /** How messages name the provider that wants the key. */
  readonly provider: string;
  /** Where it is looked for, in this order. */
  readonly variables: readonly [string, ...string[]];
};

/** The given key, else that of the environment. Throws `CONFIG_INVALID`, with what to type, when there is none. */
export function requireKey(apiKey: string | undefined, { provider, variables }: KeySource): string {
  const key = [apiKey, ...variables.map((variable) => process.env[variable])].find(Boolean);
  if (key) return key;
  throw new SkillError('CONFIG_INVALID', `${provider} needs a key: no apiKey, and ${variables.join(' and ')} not set`, {
    hint: `Set it: export ${variables[0]}=… Or pass apiKey.`,
  });
}
