import { readFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';

type Module = { readonly default?: unknown };

/** Imports a module of the user in JavaScript or TypeScript. Its `skillopt` is the library that is running. */
export async function importModule(path: string): Promise<Module> {
  if (/^\.[cm]?ts$/.test(extname(path))) return importTypeScript(path);
  resolveSelfImports();
  return (await import(pathToFileURL(path).href)) as Module;
}

export async function importDoors(...names: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const urls = doors();
  return Object.assign({}, ...(await Promise.all(names.map((name) => import(urls[name]!)))));
}

/** Node 20 knows no types. Nothing is cached on disk: others may write into the usual folder. */
async function importTypeScript(path: string): Promise<Module> {
  const { createJiti } = await import('jiti');
  const jiti = createJiti(path, { fsCache: false, virtualModules: ownModules(path) });
  const module = await jiti.import<Module>(path);
  return Object.keys(module).includes('default') ? module : {}; // without one it would be the module itself
}

/** By name. Each is loaded when it is imported, and an `import` waits for its promise. */
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

/** A project may have installed another version. */
function hasOwnZod(path: string): boolean {
  try {
    return createRequire(path).resolve('zod') !== '';
  } catch {
    return false;
  }
}

const PACKAGE = new URL('../../../package.json', import.meta.url);

/** Every entry of the package: its name, and its file, compiled or not as this one is. */
function doors(): Readonly<Record<string, string>> {
  const { exports } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { exports: Record<string, { default?: string }> };
  const isSource = import.meta.url.endsWith('.ts');
  const files = Object.entries(exports).flatMap(([door, { default: compiled }]) => {
    if (compiled === undefined) return [];
    const file = isSource ? compiled.replace('/dist/', '/src/').replace(/\.js$/, '.ts') : compiled;
    return [[door.replace('.', 'skillopt'), new URL(file, PACKAGE).href]];
  });
  return Object.fromEntries(files);
}

/** Runs in the loader's thread. It is sent as text, so it has no imports and no types. */
const HOOKS = `
let urls = {};
let zod = '';
export async function initialize(data) { ({ urls, zod } = data); }
export async function resolve(specifier, context, next) {
  if (specifier !== 'zod') return next(urls[specifier] ?? specifier, context);
  return next(specifier, context).catch(() => next(zod, context));
}
`;

let isRegistered = false;

/**
 * A user's module can import `skillopt` without installing it. It gets the library that is running, so that both share the
 * error classes. `zod` is ours if the module has none of its own.
 */
function resolveSelfImports(): void {
  if (isRegistered) return;
  isRegistered = true;
  register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, {
    data: { urls: doors(), zod: import.meta.resolve('zod') } as unknown,
  });
}

export function importHint(cause: unknown): string | undefined {
  const { message = '' } = (cause ?? {}) as Error;
  if (/^require is not defined/.test(message))
    return "It is an ES module: write import { readFileSync } from 'node:fs', not require('node:fs').";
  if (/^The requested module 'skillopt/.test(message)) return `Check that name. ${doorList()}`;
  const name = /^Cannot find (?:package|module) '([^']+)'/.exec(message)?.[1];
  if (name === undefined) return undefined;
  if (/^skillopt(?:\/|$)/.test(name)) {
    const isRequired = message.includes('Require stack') && Object.hasOwn(doors(), name);
    return `${isRequired ? REQUIRED : ''}${doorList()}`;
  }
  if (/^[./]|^file:|^[A-Za-z]:/.test(name))
    return 'Check the path of that import: it starts at the folder of the module.';
  const packageName = /^(?:@[^/]*\/)?[^/]*/.exec(name)![0]; // `@scope/name/inner` is in `@scope/name`
  return `Install it beside the project file: npm install ${packageName}. An ES module needs no install of skillopt and zod.`;
}

const REQUIRED = 'The library cannot be required: write import, in an ES module (.mjs, .ts). ';

const doorList = () => `What can be imported: ${Object.keys(doors()).join(', ')}.`;
