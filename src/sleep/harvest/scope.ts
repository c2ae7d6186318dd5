import { realpath } from 'node:fs/promises';
import { posix, win32 } from 'node:path';
import { redactSecrets } from '../../core/guard/index.ts';
import type { Place } from '../../transcripts/index.ts';

/** Which projects count: folders with all that lies below them, or all projects. */
export type Scope = 'all' | readonly string[];

/** Whether a project lies in one of the folders, by its own path or its real path: agents write either. */
export async function scopeTest(scope: Scope, place: Place): Promise<(project: string) => boolean> {
  if (scope === 'all') return () => true;
  const forms = (await Promise.all(scope.map((folder) => formsOf(folder, place)))).flat();
  return (project) => {
    if (project === '') return false;
    const path = plainPath(project, place);
    return forms.some((form) => path === form || path.startsWith(form === '/' ? form : `${form}/`));
  };
}

/** The home may have two paths too: `~` stands for both. */
async function formsOf(folder: string, place: Place): Promise<string[]> {
  const [home, realHome] = [plainPath(place.home, place), plainPath(await realpathOf(place.home), place)];
  const path = plainPath(folder, place);
  const real = plainPath(await realpathOf(expandHome(folder, place.home)), place);
  const viaHome = [path, real].map((form) => (isBelow(form, realHome) ? home + form.slice(realHome.length) : form));
  const forms = [path, real, ...viaHome];
  return [...new Set([...forms, ...forms.map(redactSecrets)])]; // the index keeps redacted paths
}

const isBelow = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

const realpathOf = (path: string): Promise<string> => realpath(path).catch(() => path);

export const expandHome = (path: string, home: string): string =>
  /^~(?=$|[/\\])/.test(path) ? home + path.slice(1) : path;

/** Absolute, with `/` between names and none at the end; in lower case where the file system ignores case. Opens nothing. */
export function plainPath(path: string, { home, platform }: Pick<Place, 'home' | 'platform'>): string {
  const expanded = expandHome(path, home);
  const normal = platform === 'win32' ? win32.normalize(expanded).replaceAll('\\', '/') : posix.normalize(expanded);
  const trimmed = normal.length > 1 ? normal.replace(/(?<!\/)\/+$/, '') : normal;
  return platform === 'win32' || platform === 'darwin' ? trimmed.toLowerCase() : trimmed;
}
