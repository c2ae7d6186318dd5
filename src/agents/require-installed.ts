import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import type { Environment, Located } from './agent-cli.ts';
import { type AgentCliName, agentClis } from './agent-clis.ts';
import { findBinary, isExecutable, projectFolders, realPath, skippedNote } from './find-binary.ts';

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
