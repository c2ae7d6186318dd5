import { resolve } from 'node:path';
import { ModelCallError } from '../core/errors.ts';
import type { AgentCliName, Environment } from './agent-cli.ts';
import { agentClis } from './agent-clis.ts';
import { findBinary, findSkipped, isExecutable } from './find-binary.ts';

export type Whereabouts = {
  readonly cli: AgentCliName;
  /** The CLI's program, when it is not to be searched on `PATH`. */
  readonly path?: string | undefined;
  /** Added to the variables of this process. */
  readonly env?: Environment | undefined;
};

/** Where the CLI's program is, absolute, or an error with the command that installs it. Nothing is run. */
export function requireInstalled({ cli, path, env }: Whereabouts): string {
  const { binary, installCommand } = agentClis[cli];
  const variables = { ...process.env, ...env };
  const found = path === undefined ? findBinary(binary, variables) : isExecutable(path) && resolve(path);
  if (found) return found;
  const where = path === undefined ? `no program ${binary} on PATH` : `no program at ${path}`;
  const hint =
    path === undefined
      ? `${skippedNote(findSkipped(binary, variables))}Install it: ${installCommand}`
      : `Correct the path, or install it: ${installCommand}`;
  throw new ModelCallError(`${cli} is not installed: ${where}`, { isRetryable: false, isFatal: true, hint });
}

const skippedNote = (folder: string | undefined) =>
  folder === undefined ? '' : `It is in ${folder}, but entries of PATH that are not absolute are never used. `;
