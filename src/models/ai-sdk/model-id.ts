type Settings = Readonly<Record<string, unknown>>;

/** `name?setting=value&…`, without the settings that are undefined: what the replies of a model are cached under. */
export function modelId(name: string, settings: Settings): string {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  const suffix = given.map(([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : value}`);
  return suffix.length === 0 ? name : `${name}?${suffix.join('&')}`;
}
