import type { Sandbox, SandboxRequest } from '../../core/contracts/index.ts';
import type { WorkFolder } from '../folders/work-folder.ts';
import { MARKER } from '../processes/owner.ts';
import { markedTree } from '../run/process-tree.ts';
import { launched } from './launcher.ts';
import { runLimited } from './limited-run.ts';

const SEPARATOR = process.platform === 'win32' ? ';' : ':';

/**
 * None: commands run with the rights and the network of who started us, though still in a folder of their own, without our
 * environment, to their time and their limits. Mounts and the workspace are where they lie. A process that clears its
 * environment and leaves its parent between two looks is not found again.
 */
export function noSandbox({ root }: { readonly root?: string | undefined } = {}): Sandbox {
  return {
    id: 'none',
    hasOwnNames: false,
    takesOverlays: async () => false,
    ready: async () => {},
    run: (request) =>
      runLimited(request, {
        root,
        prepare: (folder, launch) => ({
          command: launched(request.command, launch),
          env: settingsOf(request, folder),
          treeOf: ({ pid }) => markedTree(folder.id, pid),
        }),
      }),
  };
}

function settingsOf({ env = {} }: SandboxRequest, { id, home, shims }: WorkFolder): Record<string, string> {
  const path = [shims.folder, env.PATH, process.env.PATH].filter(Boolean).join(SEPARATOR);
  return { HOME: home, TMPDIR: home, LANG: 'C.UTF-8', ...env, PATH: path, [MARKER]: id };
}
