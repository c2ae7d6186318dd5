import type { SandboxRequest } from '../../core/contracts/index.ts';
import type { WorkFolder } from '../folders/work-folder.ts';

/** Where programs and their libraries lie. No home, no configuration, nothing of a project. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt', '/nix/store'];
const SYSTEM_SETTINGS = [
  ...['/etc/alternatives', '/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d'],
  ...['/etc/passwd', '/etc/group', '/etc/localtime', '/etc/ssl', '/etc/ca-certificates', '/etc/pki'],
];

/** How names of machines are found. */
const NETWORK_SETTINGS = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/ca-certificates.conf'];
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Names that things have inside. */
export const INSIDE = { work: '/work', workspace: '/workspace', tools: '/skillopt/tools', log: '/skillopt/log' };

type Isolation = { readonly hasProc: boolean; readonly network?: SandboxRequest['network'] };

/** All namespaces are new, network and processes among them; it sees the system's programs and may write into nothing of them. */
export function isolation({ hasProc, network = 'none' }: Isolation): string[] {
  const settings = network === 'open' ? [...SYSTEM_SETTINGS, ...NETWORK_SETTINGS] : SYSTEM_SETTINGS;
  const system = [...SYSTEM, ...settings].flatMap((path) => ['--ro-bind-try', path, path]);
  // Root inside is root outside, without its rights; settings of the kernel ask for no more than that.
  const proc = hasProc ? ['--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys'] : [];
  const apart = ['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'];
  return [...apart, ...(network === 'open' ? ['--share-net'] : []), '--clearenv', ...system, ...proc, '--dev', '/dev'];
}

/** What it may write lies on disk, where it is counted: what lies in memory is nobody's. */
export function placesOf(folder: WorkFolder, { workspace, mounts = [] }: SandboxRequest): string[] {
  const { work, shims, temporary, memory } = folder;
  const log = shims.log.slice(0, shims.log.lastIndexOf('/'));
  const place = workspace ? INSIDE.workspace : INSIDE.work;
  const also = workspace?.alsoAt === undefined ? [] : ['--bind', work, workspace.alsoAt];
  const ours = ['--bind', temporary, '/tmp', '--bind', memory, '/dev/shm', '--bind', work, place, ...also];
  const tools = ['--bind', log, INSIDE.log, '--ro-bind', shims.folder, INSIDE.tools];
  const theirs = mounts.flatMap(({ from, to, isWritable }) => [isWritable ? '--bind' : '--ro-bind', from, to]);
  return [...ours, ...tools, ...theirs, '--remount-ro', '/dev', '--remount-ro', '/', '--chdir', place];
}

export function settingsOf({ env = {} }: SandboxRequest): string[] {
  const path = [INSIDE.tools, ...(env.PATH ? [env.PATH] : []), PATH].join(':');
  const all = { HOME: '/tmp', LANG: 'C.UTF-8', TMPDIR: '/tmp', ...env, PATH: path };
  return Object.entries(all).flatMap(([name, value]) => ['--setenv', name, value]);
}
