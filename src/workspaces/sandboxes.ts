import { type Sandbox, SkillError } from '../core/contracts/index.ts';
import { memoize, suggestion } from '../core/text/index.ts';
import { removeStale } from './folders/remove-stale.ts';
import { groupPlaces } from './limits/open-groups.ts';
import { bubblewrap } from './sandbox/bubblewrap.ts';
import { type ContainerOptions, container } from './sandbox/container.ts';
import { noSandbox } from './sandbox/none.ts';
import { type BubblewrapProbe, type OverlayProbe, probeBubblewrap, probeOverlay } from './sandbox/probe-bubblewrap.ts';

/** Every sandbox by name. `none` is none, and is used only where somebody wrote its name. */
export const sandboxes = { bubblewrap, container, none: noSandbox } as const;

const NAMED = { bubblewrap, none: noSandbox } as const;
const SANDBOX_NAMES = ['auto', ...Object.keys(NAMED)] as readonly ('auto' | keyof typeof NAMED)[];

/** A name, or the image of a container. */
export type SandboxChoice = string | ContainerOptions;

/** Where rollouts have their folders; otherwise below the system's folder for temporary files. */
type Rooted = { readonly root?: string | undefined };

/**
 * `auto` is the best that there is for this platform, and never `none`. Before its first use in a process, what killed ones left
 * behind is removed.
 */
export function openSandbox(choice: SandboxChoice = 'auto', { root }: Rooted = {}): Sandbox {
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
  /** Who sees to limits of processes and memory: the kernel, or we by looking from time to time. */
  readonly limiter: 'cgroup v2' | 'cgroup v1' | 'watcher';
};

/** Which sandboxes work here, and why others do not. Tried, not guessed. */
export async function probeSandbox({
  path = process.env.PATH,
  root,
}: Rooted & { readonly path?: string | undefined } = {}): Promise<SandboxProbe> {
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
  const { version, folders } = groupPlaces() ?? {};
  const isWhole = folders?.processes !== undefined && folders.memoryMb !== undefined;
  return isWhole ? `cgroup v${version ?? 1}` : 'watcher';
}
