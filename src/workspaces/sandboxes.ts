import { type Sandbox, type SandboxRequest, SkillError } from '../core/contracts/index.ts';
import { memoize, suggestion } from '../core/text/index.ts';
import { removeStale } from './folders/remove-stale.ts';
import { groupPlaces } from './limits/groups.ts';
import { MARKER, markedTree } from './processes/process-tree.ts';
import {
  type BubblewrapProbe,
  bubblewrap,
  type OverlayProbe,
  probeBubblewrap,
  probeOverlay,
} from './sandbox/bubblewrap.ts';
import { type ContainerOptions, container } from './sandbox/container.ts';
import { launched, NOT_STARTED, notStarted } from './sandbox/launcher.ts';
import { runLimited, type WorkFolder } from './sandbox/limited-run.ts';

/** Every sandbox by name. `none` isolates nothing, and is used only where somebody wrote its name. */
export const sandboxes = { bubblewrap, container, none: noSandbox } as const;

const NAMED = { bubblewrap, none: noSandbox } as const;
const SANDBOX_NAMES = ['auto', ...Object.keys(NAMED)] as readonly ('auto' | keyof typeof NAMED)[];

/** A name, or the image of a container. */
export type SandboxChoice = string | ContainerOptions;

/** Where rollouts have their folders; otherwise below the system's folder for temporary files. */
type RolloutRoot = { readonly root?: string | undefined };

/**
 * `auto` is the best sandbox for this platform, and never `none`. Before its first use in a process, it removes what killed
 * processes left behind.
 */
export function openSandbox(choice: SandboxChoice = 'auto', { root }: RolloutRoot = {}): Sandbox {
  const sandbox = sandboxNamed(choice, root);
  const where = typeof choice === 'object' ? (choice.root ?? root) : root;
  return {
    ...sandbox,
    async ready() {
      await sandbox.ready();
      await cleanUp(where);
    },
    async run(request) {
      await cleanUp(where);
      return sandbox.run(request);
    },
  };
}

const cleanUp = memoize((root: string | undefined) => removeStale(root));

function sandboxNamed(choice: SandboxChoice, root: string | undefined): Sandbox {
  if (typeof choice === 'object') return container({ root, ...choice });
  if (choice === 'auto') return bubblewrap({ root });
  if (Object.hasOwn(NAMED, choice)) return NAMED[choice as keyof typeof NAMED]({ root });
  throw new SkillError('CONFIG_INVALID', `unknown sandbox "${choice}"${suggestion(choice, SANDBOX_NAMES)}`, {
    hint: `There is ${SANDBOX_NAMES.join(', ')}, and an image: { container: IMAGE }.`,
  });
}

export type SandboxProbe = {
  /** What `auto` would use here; `undefined` when commands would be refused. */
  readonly auto: 'bubblewrap' | undefined;
  readonly bubblewrap: BubblewrapProbe;
  /** How each rollout gets a workspace of its own: a view of the template, or a copy where no view can be mounted. */
  readonly workspaces: 'overlay' | 'copy';
  readonly overlay: OverlayProbe;
  /** Who keeps limits of processes and memory: the kernel, or we by checking from time to time. */
  readonly limiter: 'cgroup v2' | 'cgroup v1' | 'watcher';
};

/** Which sandboxes work here, and why others do not. Tried, not guessed. */
export async function probeSandbox({
  path = process.env.PATH,
  root,
}: RolloutRoot & { readonly path?: string | undefined } = {}): Promise<SandboxProbe> {
  const found = await probeBubblewrap(path);
  const overlay = found.isAvailable
    ? await probeOverlay(root, path)
    : ({ isAvailable: false, reason: 'only bubblewrap shows views' } as const);
  return {
    auto: found.isAvailable ? 'bubblewrap' : undefined,
    bubblewrap: found,
    workspaces: overlay.isAvailable ? 'overlay' : 'copy',
    overlay,
    limiter: limiterName(),
  };
}

function limiterName(): SandboxProbe['limiter'] {
  const places = groupPlaces();
  const isWhole = places?.folders.processes !== undefined && places.folders.memoryMb !== undefined;
  return isWhole ? `cgroup v${places.version}` : 'watcher';
}

const SEPARATOR = process.platform === 'win32' ? ';' : ':';

/**
 * No isolation: commands run with the user's rights and network, though still in a folder of their own, without our
 * environment, with their time-out and limits. Mounts and the workspace are where they lie. A process that clears its
 * environment and leaves its parent between two checks is not found again.
 */
function noSandbox({ root }: RolloutRoot = {}): Sandbox {
  return {
    id: 'none',
    hasOwnNames: false,
    takesOverlays: async () => false,
    ready: async () => {},
    run: (request) =>
      runLimited(request, {
        root,
        prepare(folder, launch) {
          const command = launched(request.command, { ...launch, tellsStart: true });
          const hasSteps = command !== request.command;
          return {
            command,
            env: settingsOf(request, folder),
            hasFourthStream: hasSteps,
            treeOf: ({ pid }) => markedTree(folder.id, pid),
            exitCodeOf(ended) {
              if (hasSteps && ended.exitCode === NOT_STARTED && ended.told === '') throw notStarted(ended);
              return ended.exitCode;
            },
          };
        },
      }),
  };
}

function settingsOf({ env = {} }: SandboxRequest, { id, home, shims }: WorkFolder): Record<string, string> {
  const path = [shims.folder, env.PATH, process.env.PATH].filter(Boolean).join(SEPARATOR);
  return { HOME: home, TMPDIR: home, LANG: 'C.UTF-8', ...env, PATH: path, [MARKER]: id };
}
