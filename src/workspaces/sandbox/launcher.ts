import type { WorkspaceView } from '../../core/contracts/index.ts';
import { fileBlocks } from '../limits/disk-use.ts';

export type Launch = {
  /** Groups to be in before anything is started. */
  readonly groups?: readonly string[];
  readonly diskMb?: number | undefined;
  /** Most threads of this user, of all programs. */
  readonly userThreads?: number | undefined;
  /** Whether the kernel shall end it when we are killed, from its beginning on: bubblewrap asks for that only when it has begun. */
  readonly endsWithUs?: boolean | undefined;
  /** Is mounted in a namespace of mounts that nobody else sees, and that goes away with its last process. */
  readonly workspace?: WorkspaceView | undefined;
};

/** What a shell of ours ends with when nothing was started. */
export const NOT_STARTED = 125;

/** The command behind what must be done before it, in one process: whoever is started is the one that was asked for. */
export function launched(
  command: readonly string[],
  { groups = [], diskMb, userThreads, workspace, endsWithUs }: Launch,
): readonly string[] {
  const steps = [
    ...(endsWithUs ? [`[ "$PPID" = ${process.pid} ]`] : []), // we may have been killed before that was asked for
    ...groups.map((folder) => `echo $$ > ${quoted(`${folder}/cgroup.procs`)}`),
    ...(diskMb === undefined ? [] : [`ulimit -f ${fileBlocks(diskMb)}`]),
    ...(userThreads === undefined ? [] : [threadsStep(userThreads)]),
    ...(workspace?.overlay ? [mountStep(workspace.path, workspace.overlay)] : []),
  ];
  if (steps.length === 0) return command;
  const script = `${steps.map((step) => `${step} || exit ${NOT_STARTED}`).join('\n')}\nexec "$@"`;
  const shell = ['/bin/sh', '-c', script, 'sh', ...command];
  const apart = workspace?.overlay ? ['unshare', ...(isRoot() ? ['-m'] : ['-Urm']), '--'] : [];
  return [...apart, ...(endsWithUs ? END_WITH_US : []), ...shell];
}

export const END_WITH_US = ['setpriv', '--pdeathsig', 'KILL', '--'];

export const isRoot = () => process.getuid?.() === 0;

/** Shells call it differently. Where it is not known, we still count. */
const threadsStep = (most: number) =>
  `{ (ulimit -u ${most}) 2>/dev/null && ulimit -u ${most} || { (ulimit -p ${most}) 2>/dev/null && ulimit -p ${most}; } || :; }`;

/** Renamed folders are copied, so that `upper` holds files and nothing that must be looked up elsewhere. */
function mountStep(path: string, { lower, upper, scratch }: NonNullable<WorkspaceView['overlay']>): string {
  const mode = isRoot() ? 'redirect_dir=off,metacopy=off,index=off' : 'userxattr';
  const options = `lowerdir=${lower},upperdir=${upper},workdir=${scratch},${mode}`;
  return `mount -t overlay skillopt -o ${quoted(options)} ${quoted(path)}`;
}

/** Whether `mount` reads it as one path and not as several options. */
export const canMount = (path: string) => !/[,:"\\\s]/.test(path);

export const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
