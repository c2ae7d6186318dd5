import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { doors, resolveSelfImports } from './self-import.ts';

type Module = { readonly default?: unknown };

/** A module of the user, in JavaScript or TypeScript. It may import `skillopt`, and gets the library that is running. */
export async function importModule(path: string): Promise<Module> {
  if (/^\.[cm]?ts$/.test(extname(path))) return importTypeScript(path);
  resolveSelfImports();
  return (await import(pathToFileURL(path).href)) as Module;
}

/** Not by Node, since 20 knows no types. Nothing is kept on disk: the usual place is a folder that others may write into. */
async function importTypeScript(path: string): Promise<Module> {
  const { createJiti } = await import('jiti');
  const jiti = createJiti(path, { fsCache: false, virtualModules: ownModules(path) });
  const module = await jiti.import<Module>(path);
  return Object.keys(module).includes('default') ? module : {}; // without one it would be the module itself
}

/** By name, each loaded when it is imported. They are promises, which an `import` waits for. */
function ownModules(path: string): Record<string, unknown> {
  const urls: Readonly<Record<string, string>> = {
    ...(hasOwnZod(path) ? {} : { zod: import.meta.resolve('zod') }),
    ...doors(),
  };
  return new Proxy(
    {},
    {
      has: (_, name) => Object.hasOwn(urls, name),
      get: (_, name) => (Object.hasOwn(urls, name) ? import(urls[name as string]!) : undefined),
    },
  );
}

/** A project may have installed another version, and its other modules may need that. */
function hasOwnZod(path: string): boolean {
  try {
    return createRequire(path).resolve('zod') !== '';
  } catch {
    return false;
  }
}
