import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { shellWord } from '../core/text/index.ts';
import { commands } from './command-table.ts';
import type { Typed } from './define-command.ts';
import { nameProject } from './named-project.ts';

type Started = {
  readonly argv?: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  cwd(): string;
};

const NAMES = [...commands.map(({ name }) => name), '<command>', '--help'].join('|');

/** A command of ours as the code writes it: `skillopt train`, `npx skillopt show demo`. */
const WRITTEN = new RegExp(
  String.raw`(?<![\w/.@-])(?:npx )?skillopt (?:(sleep)(?![\w-])|(?=(?:${NAMES})(?![\w-])))`,
  'g',
);

/**
 * Every command of ours in a text, as this person has to type it. The code of all floors writes `skillopt train`; how the
 * program was started is known here and nowhere else, and so is the project file that was named.
 */
export function calledAs(started: Started, typed: Typed, config?: string): Called {
  return (written, folder = started.cwd()) => {
    const path = config && folder !== started.cwd() ? resolve(started.cwd(), config) : config;
    const text = nameProject(written, path);
    const there = { ...started, cwd: () => folder };
    const program = programOf(there, 'skillopt');
    const sleep = typed === 'skillopt' ? `${program} sleep` : programOf(there, typed);
    return text.replace(WRITTEN, (_, isSleep?: string) => (isSleep ? sleep : `${program} `));
  };
}

type Called = (text: string, folder?: string) => string;

/** Its name where a shell finds it, `node PATH` where a file was named, and otherwise what works in every project. */
function programOf({ argv, env, cwd }: Started, name: Typed): string {
  const script = argv?.[1];
  if (script === undefined) return `npx ${name}`;
  const isPackage = /[\\/]node_modules[\\/]/.test(script);
  if (!isPackage && script.endsWith('.mjs') && !isOwnScript(env))
    return `node ${shownScript(join(dirname(script), `${name}.mjs`), cwd())}`;
  const isFound = (env.PATH ?? '').split(delimiter).includes(dirname(script));
  return isFound && !(isPackage && env.npm_command) ? name : `npx ${name}`; // npm puts its own folders on PATH
}

/** `npm start` in a clone names the file by itself. */
const isOwnScript = ({ npm_package_name, npm_command }: Started['env']) =>
  npm_command !== undefined && npm_package_name === 'skillopt';

function shownScript(script: string, folder: string): string {
  const path = relative(folder, script);
  return shellWord(isAbsolute(path) || path.length > script.length ? script : path);
}
