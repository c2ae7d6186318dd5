import { readFileSync } from 'node:fs';
import { register } from 'node:module';

const PACKAGE = new URL('../../../package.json', import.meta.url);

/** Runs in the loader's thread: no imports, and no types, since it travels as text. */
const HOOKS = `
let urls = {};
export async function initialize(data) { urls = data; }
export async function resolve(specifier, context, next) { return next(urls[specifier] ?? specifier, context); }
`;

let isRegistered = false;

/**
 * Lets a user's module import `skillopt` from wherever it lies, without installing it there. It gets the library that is
 * running, so that errors thrown by one are recognised by the other.
 */
export function resolveSelfImports(): void {
  if (isRegistered) return;
  isRegistered = true;
  register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, { data: doors() as unknown });
}

/** Every door of the package: what is imported, and the file behind it, compiled or not as this one is. */
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
