import { doors } from './self-import.ts';

/** What to write instead, where a module of the user imports what is not there, or calls `require`. */
export function wrongDoor(cause: unknown): string | undefined {
  const { message = '' } = (cause ?? {}) as Error;
  if (/^require is not defined/.test(message))
    return "It is an ES module: write import { readFileSync } from 'node:fs', not require('node:fs').";
  if (/^The requested module 'skillopt/.test(message)) return `Check that name. ${doorList()}`;
  const wanted = /^Cannot find (?:package|module) '([^']+)'/.exec(message)?.[1];
  if (wanted === undefined) return undefined;
  if (/^skillopt(?:\/|$)/.test(wanted)) return `${isRequired(wanted, message) ? REQUIRED : ''}${doorList()}`;
  if (/^[./]|^file:|^[A-Za-z]:/.test(wanted))
    return 'Check the path of that import: it is read from the folder of the module.';
  return `Install it beside the project file: npm install ${packageOf(wanted)}. An ES module needs no install of skillopt and zod.`;
}

const REQUIRED = 'The library cannot be required: write import, in an ES module (.mjs, .ts). ';

/** A door that an import would have found. */
const isRequired = (wanted: string, message: string) =>
  message.includes('Require stack') && Object.hasOwn(doors(), wanted);

const doorList = () => `What can be imported: ${Object.keys(doors()).join(', ')}.`;

/** `@scope/name/inner` is in `@scope/name`. */
const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
