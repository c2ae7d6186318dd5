import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openRolloutFolder } from '../../workspaces/index.ts';

/** What one run of an agent has on disk besides its workspace. Gone, soon after, when it is disposed. */
export type AgentFolder = AsyncDisposable & {
  readonly home: string;
  /** Not above the home: some refuse to work with a home among temporary files. */
  readonly tmp: string;
  readonly sockets: string;
  /** For skills that are shown in the workspace. */
  readonly skills: string;
  /** For what is kept from the agent. */
  readonly aside: string;
};

export async function openAgentFolder(): Promise<AgentFolder> {
  const folder = await openRolloutFolder();
  const below = (name: string) => join(folder.path, name);
  await Promise.all(['home', 'tmp', 's', 'skills', 'aside'].map((name) => mkdir(below(name), { mode: 0o700 })));
  return {
    home: below('home'),
    tmp: below('tmp'),
    sockets: below('s'), // short: a path to a socket has at most a hundred characters
    skills: below('skills'),
    aside: below('aside'),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
