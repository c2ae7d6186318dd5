import { readFileSync } from 'node:fs';
import { register } from 'node:module';

const PACKAGE = new URL('../../../package.json', import.meta.url);

/** Runs in the loader's thread: no imports, and no types, since it travels as text. */
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
 * Lets a user's module import `skillopt` from wherever it lies, without installing it there. It gets the library that is
 * running, so that errors thrown by one are recognised by the other. `zod` is ours where the module has none of its own.
 */
export function resolveSelfImports(): void {
  if (isRegistered) return;
  isRegistered = true;
  register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, {
    data: { urls: doors(), zod: import.meta.resolve('zod') } as unknown,
  });
}

/** Every door of the package: what is imported, and the file behind it, compiled or not as this one is. */
export function doors(): Readonly<Record<string, string>> {
  const { exports } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { exports: Record<string, { default?: string }> };
  const isSource = import.meta.url.endsWith('.ts');
  const files = Object.entries(exports).flatMap(([door, { default: compiled }]) => {
    if (compiled === undefined) return [];
    const file = isSource ? compiled.replace('/dist/', '/src/').replace(/\.js$/, '.ts') : compiled;
    return [[door.replace('.', 'skillopt'), new URL(file, PACKAGE).href]];
  });
  return Object.fromEntries(files);
}
