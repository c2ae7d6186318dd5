import type { SandboxRequest, SandboxResult } from '../../core/contracts/index.ts';
import { openWorkFolder, type WorkFolder } from '../folders/work-folder.ts';
import { diskMbOf } from '../limits/disk-use.ts';
import { openGroups } from '../limits/open-groups.ts';
import { mostThreads } from '../limits/user-threads.ts';
import { watchLimits } from '../limits/watch-limits.ts';
import { type CommandOptions, runCommand } from '../run/run-command.ts';
import type { Launch } from './launcher.ts';
import { readToolCalls, writeToolShims } from './tool-shims.ts';

type Prepared = Pick<CommandOptions, 'command' | 'env' | 'treeOf' | 'hasFourthStream'>;

export type Place = {
  readonly root?: string | undefined;
  /** Where the tools' log lies for the command. */
  readonly logInside?: string;
  /** Whether it sees to limits of processes and memory by itself. */
  readonly keepsLimits?: boolean;
  /** Turns a request into the program that is really started. */
  readonly prepare: (folder: WorkFolder, launch: Launch) => Prepared;
};

/** What every sandbox does around a command: its folder, its tools, its limits, and an end of all of that. */
export async function runLimited(request: SandboxRequest, place: Place): Promise<SandboxResult> {
  const { tools = [], workspace } = request;
  const limits = place.keepsLimits ? { diskMb: request.limits?.diskMb } : (request.limits ?? {});
  await using folder = await openWorkFolder(request, place.root);
  if (tools.length > 0) await writeToolShims(tools, folder.shims, place.logInside);
  const writable = writableOf(request, folder);
  const groups = openGroups(limits, folder.id, (paths) => {
    for (const group of paths) folder.note({ group });
  });
  try {
    const diskMbBefore = limits.diskMb === undefined ? 0 : await diskMbOf(writable);
    const watched = { limits, groups, writable, diskMbBefore };
    const userThreads = groups.kept.includes('processes') ? undefined : mostThreads(limits);
    const launch = { groups: groups.folders, diskMb: limits.diskMb, userThreads, workspace };
    const ended = await runCommand({
      ...request,
      ...place.prepare(folder, launch),
      cwd: workspace?.overlay ? folder.path : folder.work,
      ...(Object.values(limits).every((limit) => limit === undefined)
        ? {}
        : { watch: (tree, exceeded) => watchLimits(watched, tree, exceeded) }),
    });
    return { ...ended, toolsCalled: await readToolCalls(tools, folder.shims) };
  } finally {
    await groups.remove();
  }
}

function writableOf(
  { workspace, mounts = [] }: SandboxRequest,
  { work, home, temporary, memory }: WorkFolder,
): string[] {
  const shared = mounts.filter(({ isWritable }) => isWritable).map(({ from }) => from);
  return [workspace?.overlay?.upper ?? work, home, temporary, memory, ...shared];
}
