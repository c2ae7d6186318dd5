import { SkillError, type WorkspaceView } from '../../core/contracts/index.ts';
import { fileBlocks } from '../limits/watch-limits.ts';

/** Paths as a command sees them inside a sandbox that gives names. */
export const INSIDE = { work: '/work', workspace: '/workspace', tools: '/skillopt/tools', log: '/skillopt/log' };

export type Launch = {
  /** Groups to join before anything is started. */
  readonly groups?: readonly string[];
  readonly diskMb?: number | undefined;
  /** Maximum number of threads of this user, in all programs. */
  readonly userThreads?: number | undefined;
  /** Whether the kernel ends it when we are killed, from the start: bubblewrap asks for that only once it runs. */
  readonly endsWithUs?: boolean | undefined;
  /** Whether it reports in its fourth stream that all steps before the command have succeeded. */
  readonly tellsStart?: boolean;
  /** Mounted in a namespace of mounts that nobody else sees, and that ends with its last process. */
  readonly workspace?: WorkspaceView | undefined;
};

/** The exit code of our shell, and of engines of containers, when nothing was started. A command may end with it too. */
export const NOT_STARTED = 125;

/** The error for a sandbox that fails before the command begins: its exit code says nothing about the command. */
export const notStarted = ({ stderr, exitCode }: { readonly stderr: string; readonly exitCode: number }) =>
  new SkillError('ENV_FAILED', `the sandbox failed: ${stderr.trim().slice(-300) || `exit code ${exitCode}`}`);

/** The command after the steps that come before it, in one process: the process that is started becomes the command. */
export function launched(
  command: readonly string[],
  { groups = [], diskMb, userThreads, workspace, endsWithUs, tellsStart }: Launch,
): readonly string[] {
  const steps = [
    ...(endsWithUs ? [`[ "$PPID" = ${process.pid} ]`] : []), // we may have been killed before the kernel was asked
    ...groups.map((folder) => `echo $$ > ${quoted(`${folder}/cgroup.procs`)}`),
    ...(diskMb === undefined ? [] : [`ulimit -f ${fileBlocks(diskMb)}`]),
    ...(userThreads === undefined ? [] : [threadsStep(userThreads)]),
    ...(workspace?.overlay ? [mountStep(workspace.path, workspace.overlay)] : []),
  ];
  if (steps.length === 0) return command;
  const script = `${steps.map((step) => `${step} || exit ${NOT_STARTED}`).join('\n')}\n${tellsStart ? 'echo started >&3; exec 3>&-\n' : ''}exec "$@"`;
  const shell = ['/bin/sh', '-c', script, 'sh', ...command];
  const apart = workspace?.overlay ? ['unshare', ...(isRoot() ? ['-m'] : ['-Urm']), '--'] : [];
  return [...apart, ...(endsWithUs ? END_WITH_US : []), ...shell];
}

export const END_WITH_US = ['setpriv', '--pdeathsig', 'KILL', '--'];

export const isRoot = () => process.getuid?.() === 0;

/** Shells have different options for it. Where there is none, we still count. */
const threadsStep = (most: number) =>
  `{ (ulimit -u ${most}) 2>/dev/null && ulimit -u ${most} || { (ulimit -p ${most}) 2>/dev/null && ulimit -p ${most}; } || :; }`;

/** Renamed folders are copied, so that `upper` holds files, and no references to `lower`. */
function mountStep(path: string, { lower, upper, scratch }: NonNullable<WorkspaceView['overlay']>): string {
  const mode = isRoot() ? 'redirect_dir=off,metacopy=off,index=off' : 'userxattr';
  const options = `lowerdir=${lower},upperdir=${upper},workdir=${scratch},${mode}`;
  return `mount -t overlay skillopt -o ${quoted(options)} ${quoted(path)}`;
}

/** Whether `mount` reads it as one path, and not as several options. */
export const canMount = (path: string) => !/[,:"\\\s]/.test(path);

export const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The error for someone who needs a sandbox and has none. `first` is the shortest remedy, where there is one. */
export function unavailable(reason: string, first: readonly string[] = []): SkillError {
  const hint = [
    ...first,
    'Install bubblewrap (apt-get install bubblewrap, dnf install bubblewrap) and allow unprivileged user namespaces;',
    'or name a container image that has what is needed: `sandbox: { container: IMAGE }`;',
    'or, on a machine that may be lost, write `sandbox: none`: commands then run with your rights and your network.',
  ].join(' ');
  return new SkillError('SANDBOX_UNAVAILABLE', `A sandbox is needed to run commands, and there is none: ${reason}`, {
    hint,
  });
}
