import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sandbox, SandboxRequest, SandboxResult } from '../../core/contracts/index.ts';
import { memoize } from '../../core/text/index.ts';
import { openRolloutFolder } from '../folders/rollout-folder.ts';
import { MARKER, namespaceTree } from '../processes/process-tree.ts';
import { canMount, END_WITH_US, INSIDE, isRoot, type Launch, launched, notStarted, unavailable } from './launcher.ts';
import { type OwnEnd, runLimited, type SandboxKind, type WorkFolder } from './limited-run.ts';

export type BubblewrapOptions = {
  /** The search path for bubblewrap. */
  readonly path?: string | undefined;
  /** Where rollouts have their folders; otherwise below the system's folder for temporary files. */
  readonly root?: string | undefined;
};

/** A sandbox of namespaces. The first use finds out whether it works here. */
export function bubblewrap({ path = process.env.PATH, root }: BubblewrapOptions = {}): Sandbox {
  const probe = memoize(probeBubblewrap);
  const requireProbe = async () => {
    const found = await probe(path);
    if (!found.isAvailable) throw unavailable(found.reason);
    return found;
  };
  const probeAt = memoize(async (where: string | undefined) => (await probeOverlay(where, path)).isAvailable);
  return {
    id: 'bubblewrap',
    hasOwnNames: true,
    takesOverlays: async (where = root) => (await probe(path)).isAvailable && probeAt(where),
    ready: async () => void (await requireProbe()),
    async run(request) {
      const { hasProc, endsWithUs } = await requireProbe();
      return runInside(request, { hasProc, endsWithUs, path, root });
    },
  };
}

type FoundBubblewrap = BubblewrapOptions & { readonly hasProc: boolean; readonly endsWithUs: boolean };

async function runInside(request: SandboxRequest, found: FoundBubblewrap): Promise<SandboxResult> {
  const { hasProc, endsWithUs, path, root } = found;
  const prepare: SandboxKind['prepare'] = (folder, launch) => ({
    command: launched(
      [
        ...['bwrap', '--json-status-fd', '3', ...isolationArgs({ hasProc, network: request.network })],
        ...[...userArgs(launch), ...mountArgs(folder, request), ...variableArgs(request), '--', ...request.command],
      ],
      { ...launch, endsWithUs },
    ),
    env: { [MARKER]: folder.id, ...(path === undefined ? {} : { PATH: path }) }, // to find bwrap, which clears it
    hasFourthStream: true,
    treeOf: ({ pid, told }) => namespaceTree(pid, told.then(readFirst)),
    exitCodeOf: readEnd,
  });
  return runLimited(request, { root, logInside: `${INSIDE.log}/called`, prepare });
}

/** bubblewrap reports the exit code of a command that it has started. Any other code is its own, or that of a program before the command. */
function readEnd(ended: OwnEnd): number {
  const { told, stderr, exitCode } = ended;
  if (told.includes('"exit-code"')) return exitCode;
  if (!/^bwrap: execvp /m.test(stderr)) throw notStarted(ended);
  return /: No such file or directory$/m.test(stderr) ? 127 : 126; // as shells have it
}

/** A user who mounts a workspace is root in a namespace of users, and would stay root inside. */
function userArgs({ workspace }: Launch): string[] {
  if (workspace?.overlay === undefined || isRoot()) return [];
  return ['--uid', String(process.getuid?.()), '--gid', String(process.getgid?.())];
}

/** The number of the first process inside, as bubblewrap reports it. */
function readFirst(told: string): number | undefined {
  const [, pid] = /"child-pid":\s*(\d+)/.exec(told) ?? [];
  return pid === undefined ? undefined : Number(pid);
}

/** Programs and their libraries. No home, no configuration, nothing of a project. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt', '/nix/store'];
const SYSTEM_SETTINGS = [
  ...['/etc/alternatives', '/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d'],
  ...['/etc/passwd', '/etc/group', '/etc/localtime'],
];

/** Of TLS what is public. Private keys of the machine lie beside it, and root could read them. */
const CERTIFICATES = [
  ...['certs', 'cert.pem', 'ca-bundle.pem', 'openssl.cnf'].map((name) => `/etc/ssl/${name}`),
  ...['tls/certs', 'tls/cert.pem', 'tls/openssl.cnf', 'ca-trust', 'java'].map((name) => `/etc/pki/${name}`),
  '/etc/ca-certificates',
];

/** For looking up names of machines. */
const NETWORK_SETTINGS = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/ca-certificates.conf'];
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

type Isolation = { readonly hasProc: boolean; readonly network?: SandboxRequest['network'] };

/** New namespaces for everything, also network and processes. The system's programs are there, read-only. */
function isolationArgs({ hasProc, network = 'none' }: Isolation): string[] {
  const settings = [...SYSTEM_SETTINGS, ...CERTIFICATES, ...(network === 'open' ? NETWORK_SETTINGS : [])];
  const system = [...SYSTEM, ...settings].flatMap((path) => ['--ro-bind-try', path, path]);
  // Root inside is root outside without its rights, and that is enough to change settings of the kernel.
  const proc = hasProc ? ['--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys'] : [];
  const apart = ['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'];
  return [...apart, ...(network === 'open' ? ['--share-net'] : []), '--clearenv', ...system, ...proc, '--dev', '/dev'];
}

/** All that it may write is on disk, where it is counted: nobody counts what is in memory. */
function mountArgs(folder: WorkFolder, { workspace, mounts = [] }: SandboxRequest): string[] {
  const { work, shims, temporary, memory } = folder;
  const log = shims.log.slice(0, shims.log.lastIndexOf('/'));
  const place = workspace ? INSIDE.workspace : INSIDE.work;
  const also = workspace?.alsoAt === undefined ? [] : ['--bind', work, workspace.alsoAt];
  const ours = ['--bind', temporary, '/tmp', '--bind', memory, '/dev/shm', '--bind', work, place, ...also];
  const tools = ['--bind', log, INSIDE.log, '--ro-bind', shims.folder, INSIDE.tools];
  const theirs = mounts.flatMap(({ from, to, isWritable }) => [isWritable ? '--bind' : '--ro-bind', from, to]);
  return [...ours, ...tools, ...theirs, '--remount-ro', '/dev', '--remount-ro', '/', '--chdir', place];
}

function variableArgs({ env = {} }: SandboxRequest): string[] {
  const path = [INSIDE.tools, ...(env.PATH ? [env.PATH] : []), PATH].join(':');
  const all = { HOME: '/tmp', LANG: 'C.UTF-8', TMPDIR: '/tmp', ...env, PATH: path };
  return Object.entries(all).flatMap(([name, value]) => ['--setenv', name, value]);
}

/** The result of running something in bubblewrap. */
export type BubblewrapProbe =
  | {
      readonly isAvailable: true;
      readonly hasProc: boolean;
      /** Whether the kernel can be asked to end a command with us before it has begun. */
      readonly endsWithUs: boolean;
    }
  | { readonly isAvailable: false; readonly reason: string };

/** Really runs it: it may be installed, and the kernel or a container may not let it work. */
export async function probeBubblewrap(path: string | undefined = process.env.PATH): Promise<BubblewrapProbe> {
  if (process.platform !== 'linux') return { isAvailable: false, reason: otherSystem() };
  const tried: string[] = [];
  for (const hasProc of [true, false]) {
    const { failed, code, stderr, shortMessage } = await tryOut([...bwrap(hasProc), '--', 'true'], path);
    if (!failed) return { isAvailable: true, hasProc, endsWithUs: await canEndWithUs(path) };
    if (code === 'ENOENT') return { isAvailable: false, reason: 'bubblewrap (bwrap) is not installed' };
    tried.push(stderr.trim().slice(0, 300) || (shortMessage ?? ''));
  }
  return { isAvailable: false, reason: `bubblewrap is installed, but the system refuses it: ${tried[0]}` };
}

const canEndWithUs = async (path: string | undefined) => !(await tryOut([...END_WITH_US, 'true'], path)).failed;

/** With every option of a run. What it reports is not read. */
const bwrap = (hasProc: boolean) => ['bwrap', '--json-status-fd', '1', ...isolationArgs({ hasProc })];

const otherSystem = () =>
  `there is no bubblewrap on ${process.platform}${process.platform === 'darwin' ? ', and seatbelt is not served yet' : ''}`;

async function tryOut([file = '', ...args]: readonly string[], path: string | undefined, cwd?: string) {
  const { execa } = await import('execa');
  const tried = await execa(file, args, {
    ...(cwd === undefined ? {} : { cwd }),
    extendEnv: false,
    env: path === undefined ? {} : { PATH: path },
    reject: false,
    timeout: 10_000,
    encoding: 'utf8',
  });
  return { ...tried, stderr: tried.stderr ?? '' }; // a program that could not be started has none
}

export type OverlayProbe = { readonly isAvailable: true } | { readonly isAvailable: false; readonly reason: string };

/** Whether a view of a folder below `root` can be mounted, changed, and its changes found on disk. */
export async function probeOverlay(root?: string, path = process.env.PATH): Promise<OverlayProbe> {
  await using folder = await openRolloutFolder(root);
  if (!canMount(folder.path)) return { isAvailable: false, reason: `${folder.path} has characters that mount reads` };
  const [lower, upper, scratch, view] = ['lower', 'upper', 'scratch', 'view'].map((name) => join(folder.path, name));
  await Promise.all([lower, upper, scratch, view].map((one) => mkdir(one!)));
  await writeFile(join(lower!, 'a'), 'a');
  const workspace = { path: view!, overlay: { lower: lower!, upper: upper!, scratch: scratch! } };
  const inside = ['--bind', view!, '/workspace', '--chdir', '/workspace', '--', 'sh', '-c', 'cat a > b && rm a'];
  const { stderr, shortMessage } = await tryOut(launched([...bwrap(false), ...inside], { workspace }), path);
  const changed = await readFile(join(upper!, 'b'), 'utf8').catch(() => undefined);
  if (changed === 'a') return { isAvailable: true };
  return { isAvailable: false, reason: stderr.trim().slice(0, 300) || (shortMessage ?? 'nothing was written') };
}
