import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Mount, ResourceLimits, Sandbox, SandboxRequest } from '../../core/contracts/index.ts';
import { fileBlocks } from '../limits/watch-limits.ts';
import { MARKER, type ProcessTree, sendSignal } from '../processes/process-tree.ts';
import { INSIDE, NOT_STARTED, notStarted, quoted, unavailable } from './launcher.ts';
import { runLimited, type WorkFolder } from './limited-run.ts';

export type ContainerOptions = {
  /** An image that has what commands need, and a `/bin/sh`. */
  readonly container: string;
  readonly engine?: 'docker' | 'podman' | undefined;
  /** Where rollouts have their folders; otherwise below the system's folder for temporary files. */
  readonly root?: string | undefined;
};

/**
 * A container for each command. Its engine keeps the limits of processes and memory, but does not report that one was reached.
 * Tested against a stand-in for `docker` that records its arguments and runs the command: no real engine has run this.
 */
export function container({ container: image, engine = 'docker', root }: ContainerOptions): Sandbox {
  let probed: Promise<EngineProblem | undefined> | undefined;
  const requireEngine = async () => {
    probed ??= whyNot(engine);
    const refusal = await probed;
    if (refusal !== undefined) throw unavailable(refusal.reason, [`${refusal.remedy};`]);
  };
  return {
    id: `container ${image}`,
    hasOwnNames: true,
    takesOverlays: async () => false,
    ready: requireEngine,
    async run(request) {
      await requireEngine();
      return runLimited(request, {
        root,
        logInside: `${INSIDE.log}/called`,
        keepsLimits: true,
        prepare(folder) {
          const name = `skillopt-${folder.id}`;
          folder.note({ container: name, engine });
          return {
            command: [engine, ...callOf(request, { name, image, folder })],
            env: { ...(process.env as Record<string, string>), ...settingsOf(request), [MARKER]: folder.id },
            treeOf: ({ pid }) => containerTree(engine, name, pid),
            exitCodeOf(ended) {
              if (ended.exitCode === NOT_STARTED && !existsSync(join(logOf(folder), STARTED_FILE)))
                throw notStarted(ended);
              return ended.exitCode;
            },
          };
        },
      });
    },
  };
}

type ContainerCall = { readonly name: string; readonly image: string; readonly folder: WorkFolder };

/** Without the values of variables: other users can read the arguments of programs. */
function callOf(request: SandboxRequest, { name, image, folder }: ContainerCall): string[] {
  const user = process.getuid && process.getgid ? ['--user', `${process.getuid()}:${process.getgid()}`] : [];
  const place = request.workspace ? INSIDE.workspace : INSIDE.work;
  return [
    ...['run', '--rm', '--init', '--interactive', '--name', name, '--workdir', place, ...user],
    ...['--network', request.network === 'open' ? 'bridge' : 'none'],
    ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', ...limitsOf(request.limits ?? {})],
    ...mountsOf(request, folder, place).flatMap((mount) => ['--mount', mountOf(mount)]),
    ...Object.keys(settingsOf(request)).flatMap((variable) => ['--env', variable]),
    ...['--entrypoint', '/bin/sh', image, '-c', withPath(request), 'sh', ...request.command],
  ];
}

const limitsOf = ({ processes, memoryMb, diskMb }: ResourceLimits): string[] => [
  ...(processes === undefined ? [] : ['--pids-limit', String(processes)]),
  ...(memoryMb === undefined ? [] : ['--memory', `${memoryMb}m`, '--memory-swap', `${memoryMb}m`]),
  ...(diskMb === undefined ? [] : ['--ulimit', `fsize=${fileBlocks(diskMb) * 512}`]),
];

function mountsOf(request: SandboxRequest, folder: WorkFolder, place: string): Mount[] {
  const { work, temporary, shims } = folder;
  const { mounts = [], workspace } = request;
  return [
    { from: temporary, to: '/tmp', isWritable: true },
    { from: work, to: place, isWritable: true },
    ...(workspace?.alsoAt === undefined ? [] : [{ from: work, to: workspace.alsoAt, isWritable: true }]),
    { from: logOf(folder), to: INSIDE.log, isWritable: true },
    { from: shims.folder, to: INSIDE.tools },
    ...mounts,
  ];
}

/** Comma-separated values: one with a comma in it is in quotes. */
function mountOf({ from, to, isWritable }: Mount): string {
  const fields = ['type=bind', `source=${from}`, `target=${to}`, ...(isWritable ? [] : ['readonly'])];
  return fields.map((field) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
}

const settingsOf = ({ env = {} }: SandboxRequest): Record<string, string> => {
  const { PATH: _, ...others } = env;
  return { HOME: '/tmp', TMPDIR: '/tmp', LANG: 'C.UTF-8', ...others };
};

/** Engines end with the same code when they start nothing, and when the command does: the shell inside leaves a file first. */
const STARTED_FILE = 'started';
const logOf = ({ shims }: WorkFolder) => dirname(shims.log);

/** The image knows where its programs are. */
const withPath = ({ env = {} }: SandboxRequest) =>
  `(: > ${INSIDE.log}/${STARTED_FILE}) 2>/dev/null; PATH=${quoted([INSIDE.tools, ...(env.PATH ? [env.PATH] : [])].join(':'))}:$PATH; export PATH; exec "$@"`;

/** Ending the client does not end the container. */
function containerTree(engine: string, name: string, client: number): ProcessTree {
  const tell = (...args: string[]) =>
    spawn(engine, args, { detached: true, stdio: 'ignore' })
      .on('error', () => {})
      .unref();
  return {
    ask: () => tell('stop', '--time', '2', name),
    kill() {
      sendSignal(-client, 'SIGKILL');
      tell('rm', '--force', name);
    },
    async gone() {
      const { execa } = await import('execa');
      await execa(engine, ['rm', '--force', name], { reject: false, stdio: 'ignore' });
    },
    members: () => [],
  };
}

type EngineProblem = { readonly reason: string; readonly remedy: string };

const STARTED = {
  docker: 'Start it (sudo systemctl start docker, or open Docker Desktop), and be in the group docker',
  podman: 'Start it (podman machine start, where it needs a machine)',
};

async function whyNot(engine: 'docker' | 'podman'): Promise<EngineProblem | undefined> {
  const { execa } = await import('execa');
  const { failed, code, stderr, shortMessage } = await execa(engine, ['version'], { reject: false, timeout: 10_000 });
  if (!failed) return undefined;
  const other = engine === 'docker' ? 'podman' : 'docker';
  if (code === 'ENOENT')
    return { reason: `${engine} is not installed`, remedy: `Install ${engine}, or say that it is engine: ${other}` };
  const reason = `${engine} is installed and does not answer: ${stderr.trim() || shortMessage}`;
  return { reason, remedy: `${STARTED[engine]}: \`${engine} version\` must succeed` };
}
