import type { Sandbox, SandboxRequest, SandboxResult } from '../../core/contracts/index.ts';
import { memoize } from '../../core/text/index.ts';
import { MARKER } from '../processes/owner.ts';
import { namespaceTree } from '../run/process-tree.ts';
import { INSIDE, isolation, placesOf, settingsOf } from './isolation.ts';
import { isRoot, type Launch, launched, NOT_STARTED } from './launcher.ts';
import { type Place, runLimited } from './limited-run.ts';
import { type BubblewrapProbe, probeBubblewrap, probeOverlay, unavailable } from './probe-bubblewrap.ts';

export type BubblewrapOptions = {
  /** Where bubblewrap is looked for. */
  readonly path?: string | undefined;
  /** Where rollouts have their folders; otherwise below the system's folder for temporary files. */
  readonly root?: string | undefined;
};

/** A sandbox of namespaces. The first use finds out whether it works here. */
export function bubblewrap({ path = process.env.PATH, root }: BubblewrapOptions = {}): Sandbox {
  let probed: Promise<BubblewrapProbe> | undefined;
  const probe = () => {
    probed ??= probeBubblewrap(path);
    return probed;
  };
  const requireProbe = async () => {
    const found = await probe();
    if (!found.isAvailable) throw unavailable(found.reason);
    return found;
  };
  const probeAt = memoize(async (where: string | undefined) => (await probeOverlay(where, path)).isAvailable);
  return {
    id: 'bubblewrap',
    hasOwnNames: true,
    takesOverlays: async (where = root) => (await probe()).isAvailable && probeAt(where),
    ready: async () => void (await requireProbe()),
    async run(request) {
      const { hasProc, endsWithUs } = await requireProbe();
      return runInside(request, { hasProc, endsWithUs, path, root });
    },
  };
}

type Found = BubblewrapOptions & { readonly hasProc: boolean; readonly endsWithUs: boolean };

async function runInside(request: SandboxRequest, found: Found): Promise<SandboxResult> {
  const { hasProc, endsWithUs, path, root } = found;
  const prepare: Place['prepare'] = (folder, launch) => ({
    command: launched(
      [
        ...['bwrap', '--info-fd', '3', ...isolation({ hasProc, network: request.network })],
        ...[...whoAmI(launch), ...placesOf(folder, request), ...settingsOf(request), '--', ...request.command],
      ],
      { ...launch, endsWithUs },
    ),
    env: { [MARKER]: folder.id, ...(path === undefined ? {} : { PATH: path }) }, // to find bwrap, which clears it
    hasFourthStream: true,
    treeOf: ({ pid, told }) => namespaceTree(pid, told.then(readFirst)),
  });
  const result = await runLimited(request, { root, logInside: `${INSIDE.log}/called`, prepare });
  if (request.workspace?.overlay && result.exitCode === NOT_STARTED && /^mount: /m.test(result.stderr)) {
    throw new Error(`the workspace could not be mounted: ${result.stderr}`);
  }
  return result;
}

/** Who mounts a workspace without being root is root in a namespace of users, and would stay so inside. */
function whoAmI({ workspace }: Launch): string[] {
  if (workspace?.overlay === undefined || isRoot()) return [];
  return ['--uid', String(process.getuid?.()), '--gid', String(process.getgid?.())];
}

/** The first process inside, as bubblewrap says. */
function readFirst(told: string): number | undefined {
  const [, pid] = /"child-pid":\s*(\d+)/.exec(told) ?? [];
  return pid === undefined ? undefined : Number(pid);
}
