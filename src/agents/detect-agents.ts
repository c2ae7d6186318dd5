import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import { memoize } from '../core/text/index.ts';
import type { Environment, Located } from './agent-cli.ts';
import { type AgentCliName, agentClis } from './agent-clis.ts';
import { childEnvironment, openCallFolder, runProcess } from './run-process.ts';

export type Whereabouts = {
  readonly cli: AgentCliName;
  /** The CLI's program. Default: the one on `PATH`. */
  readonly path?: string | undefined;
  /** Where `path` was found, when that is a link to it: what the program needs may lie beside the link. */
  readonly foundAt?: string | undefined;
  /** The variables of the caller. The CLI gets those it needs. Default: those of this process. */
  readonly inherited?: Environment | undefined;
  /** Added to them, and given to the CLI as they are. */
  readonly env?: Environment | undefined;
  /** The project's folder. Programs in it are never used. Default: the folder of this process. */
  readonly project?: string | undefined;
  /** The caller's names for the CLI and for the setting of its path, for messages. */
  readonly words?: { readonly agent: string; readonly path: string } | undefined;
};

/** The path of the CLI's program, absolute and without links. Throws with the command that installs it. Runs nothing. */
export const requireInstalled = (where: Whereabouts): string => locate(where).path;

export function locate(where: Whereabouts): Located {
  const { cli, path, foundAt = path } = where;
  const { binary, installCommand } = agentClis[cli];
  const variables = callerVariables(where);
  const projects = projectFolders(where.project ?? process.cwd(), homeIn(variables));
  const found = path === undefined ? findBinary(binary, variables, projects) : isExecutable(path) && path;
  if (found) return { path: realPath(found), foundAt: resolve(foundAt ?? found) };
  const { agent, path: setting } = where.words ?? { agent: cli, path: 'the path' };
  if (path !== undefined) {
    const hint = `Correct ${setting}: it names the file that is started, which command -v ${binary} prints. Without it, ${binary} is looked for on PATH.`;
    throw new SkillError('CONFIG_INVALID', `expected the program of ${agent}, and ${path} ${whyUnusable(path)}`, {
      hint,
    });
  }
  throw new SkillError('CONFIG_INVALID', `${agent} is not installed: no program ${binary} on PATH`, {
    hint: `${skippedNote(binary, variables)}Install it: ${installCommand}`,
  });
}

function whyUnusable(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 'is not there';
  return found.isDirectory() ? 'is a folder' : 'may not be executed';
}

/** The variables that a CLI would see if the caller started it by hand. */
export function callerVariables({ inherited = process.env, env }: Pick<Whereabouts, 'inherited' | 'env'>): Environment {
  return { ...inherited, ...env };
}

export const homeIn = (env: Environment) => env.HOME ?? env.USERPROFILE ?? homedir();

/**
 * Where `binary` is on the search path. Places that somebody else may have written to do not count: relative entries, a
 * `node_modules/.bin`, and everything in one of `projects`, also behind a link. The program would run with a person's sign-in.
 */
export function findBinary(binary: string, env: Environment, projects: readonly string[] = []): string | undefined {
  const folders = searchPath(env).filter((folder) => isAbsolute(folder) && !isForeign(folder, projects));
  return candidates(folders, binary, env).find((path) => isExecutable(path) && !isForeign(path, projects));
}

/** Why a program of that name on the search path was not used. Empty when there is none. */
function skippedNote(binary: string, env: Environment): string {
  const folder = searchPath(env).find((one) => candidates([one], binary, env).some(isExecutable));
  if (folder === undefined) return '';
  return isAbsolute(folder)
    ? `It is in ${folder}, but programs that a project brings along are never used. `
    : `It is in ${folder}, but entries of PATH that are not absolute are never used. `;
}

const searchPath = (env: Environment) => (env.PATH ?? env.Path ?? '').split(delimiter).filter(Boolean);

function candidates(folders: readonly string[], binary: string, env: Environment): readonly string[] {
  const endings = process.platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD').split(';') : [''];
  return folders.flatMap((folder) => endings.map((ending) => join(folder, binary + ending)));
}

/** Whether a project brings this program or folder of programs along, by its own path or its real one. */
export const isForeign = (path: string, projects: readonly string[]): boolean =>
  [resolve(path), realPath(path)].some(
    (one) => /[\\/]node_modules[\\/]\.bin(?:[\\/]|$)/.test(one) || projects.some((project) => isInside(one, project)),
  );

/**
 * The folders that belong to the project around `folder`: the folder itself and its checkout, by all their paths. A home is
 * no project, although some people keep their settings in a repository there.
 */
export function projectFolders(folder: string, home: string): readonly string[] {
  const names = [resolve(folder), realPath(folder)];
  const roots = new Set(names.flatMap((name) => [name, checkoutOf(name) ?? name]));
  return [...roots].filter((root) => ![home, realPath(home)].some((one) => isInside(one, root)));
}

function checkoutOf(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  return dirname(folder) === folder ? undefined : checkoutOf(dirname(folder));
}

/** The real path, or the path itself where there is nothing. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

export function isInside(path: string, folder: string): boolean {
  const below = relative(resolve(folder), resolve(path));
  return below === '' || (!below.startsWith(`..${sep}`) && below !== '..' && !isAbsolute(below));
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export type InstalledAgent = {
  readonly cli: AgentCliName;
  /** Absolute and without links. */
  readonly path: string;
  /** Where it was found on `PATH`. */
  readonly foundAt: string;
  /** Undefined when the program does not say. */
  readonly version: string | undefined;
};

/** The agent CLIs on `PATH`, but not in `project`, with their versions, in the order of the table. Asks no model. */
export async function detectAgents(
  env: Environment = process.env,
  project = process.cwd(),
): Promise<readonly InstalledAgent[]> {
  const found = findAgents(env, project);
  return Promise.all(found.map(async (agent) => ({ ...agent, version: await versionOf(agent, env) })));
}

/** The same, without running anything. */
export function findAgents(env: Environment, project: string): readonly Omit<InstalledAgent, 'version'>[] {
  const projects = projectFolders(project, homeIn(env));
  return Object.values(agentClis).flatMap(({ cli, binary }) => {
    const foundAt = findBinary(binary, env, projects);
    return foundAt === undefined ? [] : [{ cli, path: realPath(foundAt), foundAt }];
  });
}

type CliAt = Located & { readonly cli: AgentCliName };

/** The version that a CLI prints. */
export const versionOf = async (program: CliAt, inherited: Environment): Promise<string | undefined> =>
  versionIn((await printedVersion(program, inherited)) ?? '');

const versionIn = (printed: string): string | undefined => /\d{1,9}\.\d{1,9}\.\d{1,9}(?:[\w.-]*\w)?/.exec(printed)?.[0];

/** Undefined when the CLI cannot be run. It is run like any call: in an empty folder, with the variables that it needs. */
function printedVersion({ cli, path, foundAt }: CliAt, inherited: Environment): Promise<string | undefined> {
  const program = { path, foundAt };
  const env = { ...childEnvironment({ cli: agentClis[cli], program, inherited }), NO_COLOR: '1', CI: '1' };
  const { mtimeMs, size } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return askVersion(JSON.stringify({ ...program, env, mtimeMs, size }));
}

/** Each program once: it may take a second, and `doctor` lists all before it looks at one. */
const askVersion = memoize(async (key: string): Promise<string | undefined> => {
  await using folder = await openCallFolder();
  const { path: file, foundAt: name, env } = JSON.parse(key) as Located & { readonly env: Record<string, string> };
  const started = { file, name, args: ['--version'], input: '', cwd: folder.work, env };
  const printed = await runProcess({ ...started, signal: AbortSignal.timeout(20_000) }).catch(() => undefined);
  return printed && `${printed.stdout}\n${printed.stderr}`;
});

/**
 * The version of an agent's program; `unknown` where it cannot be run. Throws for a program that is not the agent's: it would
 * be started with the arguments of another agent and misunderstand them.
 */
export async function requireProgram(program: CliAt, env: Environment): Promise<string> {
  const printed = await printedVersion(program, env);
  const other = otherAgent(program, printed ?? '');
  if (other !== undefined) throw otherProgram(program, `it is the program of ${agentClis[other].name}`);
  if (printed === undefined) return 'unknown';
  const version = looksOwn(printed, program.cli) ? versionIn(printed) : undefined;
  if (version === undefined) throw otherProgram(program, `asked for its version, it printed ${firstLine(printed)}`);
  return version;
}

const names = (text: string, cli: AgentCliName) => new RegExp(`\\b${agentClis[cli].name}\\b`, 'i').test(text);

/** Another agent that prints its name beside its version, or whose file or package it is: some print only a number. */
function otherAgent({ path, foundAt, cli: own }: CliAt, printed: string): AgentCliName | undefined {
  const others = Object.values(agentClis).flatMap(({ cli }) => (cli === own ? [] : [cli]));
  const isNamed = (cli: AgentCliName) => names(printed, cli);
  const isAt = (cli: AgentCliName) => {
    const { binary, installCommand } = agentClis[cli];
    const inPackage = path.replaceAll('\\', '/').includes(`/node_modules/${installCommand.split(' ').at(-1)}/`);
    return inPackage || [path, foundAt].some((file) => basename(file) === binary);
  };
  const named = isNamed(own) ? undefined : others.find(isNamed);
  return named ?? (isAt(own) ? undefined : others.find(isAt));
}

/** A version alone, or after the agent's own name. `Python 3.12.1` is none. */
const looksOwn = (printed: string, cli: AgentCliName) =>
  printed.split('\n').some((line) => {
    const version = versionIn(line);
    if (version === undefined) return false;
    const before = line.slice(0, line.indexOf(version)).trim();
    return before === '' || before === 'v' || names(before, cli);
  });

function firstLine(printed: string): string {
  const line = printed.trim().split('\n')[0]!;
  return line === '' ? 'nothing' : JSON.stringify(line.slice(0, 80));
}

function otherProgram({ cli, foundAt }: CliAt, came: string): SkillError {
  const { name, binary, installCommand } = agentClis[cli];
  return new SkillError('CONFIG_INVALID', `expected the program of ${name} at ${foundAt}, but ${came}`, {
    hint: `Name the path of ${binary}, or none: it is then looked for on PATH. To install it: ${installCommand}`,
  });
}
