import {
  type Sandbox,
  type SandboxRequest,
  type SandboxResult,
  SkillError,
  type WorkspaceView,
} from '../../core/contracts/index.ts';
import type { Command } from '../../core/judge/index.ts';
import { namesInterpreter } from '../../workspaces/index.ts';

/** A workspace that nobody works in any more. Everything is read and run there by commands in the sandbox. */
export type Site = {
  readonly hasOwnNames: boolean;
  readonly signal: AbortSignal;
  run(request: Omit<SandboxRequest, 'workspace' | 'signal'>): Promise<SandboxResult>;
  /** The text of a file, '' for a folder, `undefined` where nothing is. */
  read(path: string): Promise<string | undefined>;
  /** Paths of the files that a pattern stands for. */
  find(glob: string): Promise<readonly string[]>;
  /** Lays files over what is there, links and folders included, after taking away what may not be there. */
  lay(files: Contents, without?: readonly string[]): Promise<void>;
};

/** Files by path. */
export type Contents = Readonly<Record<string, string | Uint8Array>>;

export const commandWords = (command: Command): readonly string[] =>
  typeof command === 'string' ? ['/bin/sh', '-c', command] : command;

const COMMAND_MS = 60_000;
const NOTHING_THERE = 3;

const READ = `test -e "$1" || exit ${NOTHING_THERE}; test -f "$1" || exit 0; head -c 1000000 -- "$1"`;

/** The shell in the sandbox reads: a link that the agent left behind leads nowhere that the agent could not go. */
export function openSite(sandbox: Sandbox, view: WorkspaceView, signal: AbortSignal): Site {
  const run: Site['run'] = (request) => sandbox.run({ ...request, workspace: view, signal });
  return {
    hasOwnNames: sandbox.hasOwnNames,
    signal,
    run,
    async read(path) {
      const { exitCode, stdout } = await run({ command: ['/bin/sh', '-c', READ, 'sh', path], timeoutMs: COMMAND_MS });
      return exitCode === NOTHING_THERE ? undefined : stdout;
    },
    async find(glob) {
      const { stdout } = await run({ command: ['find', '.', '-type', 'f', '-print0'], timeoutMs: COMMAND_MS });
      const paths = stdout.split('\0').map((path) => path.replace(/^\.\//, ''));
      return paths.filter((path) => isCovered(path, [glob])).sort();
    },
    async lay(files, without = []) {
      const stdin = scriptFor(files, without);
      if (stdin === '') return;
      const { exitCode, stderr } = await run({ command: ['/bin/sh', '-e'], stdin, timeoutMs: COMMAND_MS });
      if (exitCode === 0) return;
      const reason = stderr.trim().slice(-300);
      throw new SkillError('ENV_FAILED', `the tests could not be laid into the workspace: ${reason}`);
    },
  };
}

/** Base64, so that no byte of a file is read by the shell. A folder that is a link is taken away: it may lead out. */
function scriptFor(files: Contents, without: readonly string[]): string {
  const removals = without.map((path) => `rm -rf -- ${quoted(path)}`);
  const makeFolder = (name: string) => `[ -d ${name} ] && [ ! -L ${name} ] || { rm -rf -- ${name}; mkdir -- ${name}; }`;
  const writes = Object.entries(files).flatMap(([path, content]) => [
    ...foldersOf(path).map((folder) => makeFolder(quoted(folder))),
    `rm -rf -- ${quoted(path)}`,
    `base64 -d > ${quoted(path)} <<'END'\n${Buffer.from(content).toString('base64')}\nEND`,
    ...(namesInterpreter(content) ? [`chmod 755 -- ${quoted(path)}`] : []),
  ]);
  return [...removals, ...writes].map((line) => `${line}\n`).join('');
}

const quoted = (path: string) => `'./${path.replaceAll("'", `'\\''`)}'`;

/** `a/b/c.txt` lies in `a` and in `a/b`. */
function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

/** Whether one of the patterns stands for a path: `*` and `?` within a name, `**` for any number of folders. */
export const isCovered = (path: string, globs: readonly string[]): boolean =>
  globs.some((glob) => toPattern(glob).test(path));

function toPattern(glob: string): RegExp {
  const parts = glob.split(/(\*\*\/|\*\*|\*|\?)/);
  return new RegExp(`^${parts.map((part) => WILD[part] ?? part.replace(/[\\^$.|+()[\]{}]/g, '\\$&')).join('')}$`, 'u');
}

const WILD: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };
