import { hideSecrets } from '../../core/text/hide-secrets.ts';

type Settings = Readonly<Record<string, unknown>>;

/**
 * `name?setting=value&…`, without the settings that are undefined: what the replies of a model are cached under. Ids are
 * written down, so what looks like a secret is not in them.
 */
export function modelId(name: string, settings: Settings): string {
  const given = Object.entries(hideSecrets(settings) as Settings).filter(([, value]) => value !== undefined);
  const suffix = given.map(([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : value}`);
  return suffix.length === 0 ? name : `${name}?${suffix.join('&')}`;
}
