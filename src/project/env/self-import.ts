import { readFileSync } from 'node:fs';
import { register } from 'node:module';

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
  register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, { data: doorUrls() as unknown });
}

/** Every door of the package by its specifier. In a clone there is no `dist`: its doors are those of `src`. */
function doorUrls(): Readonly<Record<string, string>> {
  const manifest = new URL('../../../package.json', import.meta.url);
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports: Record<string, { default?: string }> };
  const isSource = import.meta.url.endsWith('.ts');
  const doors = Object.entries(exports).flatMap(([door, { default: file }]) => {
    if (file === undefined) return [];
    const path = isSource ? file.replace('./dist/', './src/').replace(/\.js$/, '.ts') : file;
    return [[`skillopt${door.slice(1)}`, new URL(path, manifest).href]];
  });
  return Object.fromEntries(doors);
}
