import { register } from 'node:module';

const ROOMS = ['envs', 'judges', 'models', 'sim', 'testing'];

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
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const url = (path: string) => new URL(`../../${path}index.${extension}`, import.meta.url).href;
  const rooms = ROOMS.map((room) => [`skillopt/${room}`, url(`${room}/`)]);
  register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, {
    data: Object.fromEntries([['skillopt', url('')], ...rooms]) as unknown,
  });
}
