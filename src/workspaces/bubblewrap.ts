import { execa } from 'execa';
import { SkillError } from '../core/errors.ts';
import type { Sandbox, SandboxRequest, SandboxResult } from '../core/sandbox.ts';
import { runCommand } from './run-command.ts';
import { readToolCalls, writeToolShims } from './tool-shims.ts';
import { openWorkFolder, type WorkFolder } from './work-folder.ts';

/** Where programs and their libraries lie. No home, no configuration, nothing of a project. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt', '/nix/store'];
const SYSTEM_SETTINGS = ['/etc/alternatives', '/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d'];
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Names that things have inside. */
const INSIDE = { work: '/work', tools: '/skillopt/tools', log: '/skillopt/log' };

/** All namespaces are new, network and processes among them; it sees the system's programs and may write into nothing of them. */
function isolation(hasProc: boolean): string[] {
  const system = [...SYSTEM, ...SYSTEM_SETTINGS].flatMap((path) => ['--ro-bind-try', path, path]);
  const proc = hasProc ? ['--proc', '/proc'] : [];
  const apart = ['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'];
  return [...apart, '--clearenv', ...system, ...proc, '--dev', '/dev', '--tmpfs', '/tmp'];
}

/** What became of trying to run something in bubblewrap. */
export type BubblewrapProbe =
  | { readonly isAvailable: true; readonly hasProc: boolean }
  | { readonly isAvailable: false; readonly reason: string };

/** By really running it: that it is installed does not say that the kernel, or a container, lets it work. */
export async function probeBubblewrap(path: string | undefined = process.env.PATH): Promise<BubblewrapProbe> {
  if (process.platform !== 'linux')
    return { isAvailable: false, reason: `there is no bubblewrap on ${process.platform}` };
  const tried: string[] = [];
  for (const hasProc of [true, false]) {
    const { failed, code, stderr, shortMessage } = await tryTrue(hasProc, path);
    if (!failed) return { isAvailable: true, hasProc };
    if (code === 'ENOENT') return { isAvailable: false, reason: 'bubblewrap (bwrap) is not installed' };
    tried.push(stderr.trim().slice(0, 300) || (shortMessage ?? ''));
  }
  return { isAvailable: false, reason: `bubblewrap is installed, but the system refuses it: ${tried[0]}` };
}

const tryTrue = (hasProc: boolean, path: string | undefined) =>
  execa('bwrap', [...isolation(hasProc), '--', 'true'], {
    extendEnv: false,
    env: path === undefined ? {} : { PATH: path },
    reject: false,
    timeout: 10_000,
    encoding: 'utf8',
  });

/** A sandbox of namespaces. The first use finds out whether it works here. */
export function bubblewrap({ path = process.env.PATH }: { readonly path?: string | undefined } = {}): Sandbox {
  let probed: Promise<BubblewrapProbe> | undefined;
  const requireProbe = async () => {
    probed ??= probeBubblewrap(path);
    const probe = await probed;
    if (!probe.isAvailable) throw unavailable(probe.reason);
    return probe;
  };
  return {
    id: 'bubblewrap',
    hasOwnNames: true,
    takesOverlays: async () => false,
    ready: async () => void (await requireProbe()),
    async run(request) {
      const { hasProc } = await requireProbe();
      return runInside(request, hasProc, path);
    },
  };
}

async function runInside(request: SandboxRequest, hasProc: boolean, path: string | undefined): Promise<SandboxResult> {
  const { tools = [], stdin, timeoutMs, signal } = request;
  await using folder = await openWorkFolder(request);
  if (tools.length > 0) await writeToolShims(tools, folder.shims, `${INSIDE.log}/called`);
  const command = [
    'bwrap',
    ...isolation(hasProc),
    ...placesOf(folder),
    ...settingsOf(request),
    '--',
    ...request.command,
  ];
  const env = path === undefined ? {} : { PATH: path }; // to find bwrap; it clears it
  const ended = await runCommand({ command, cwd: folder.work, env, stdin, timeoutMs, signal });
  return { ...ended, toolsCalled: await readToolCalls(tools, folder.shims) };
}

function placesOf({ work, shims }: WorkFolder): string[] {
  const log = shims.log.slice(0, shims.log.lastIndexOf('/'));
  const writable = ['--bind', work, INSIDE.work, '--bind', log, INSIDE.log];
  return [...writable, '--ro-bind', shims.folder, INSIDE.tools, '--chdir', INSIDE.work];
}

function settingsOf({ env = {} }: SandboxRequest): string[] {
  const all = { HOME: '/tmp', LANG: 'C.UTF-8', TMPDIR: '/tmp', ...env, PATH: `${INSIDE.tools}:${PATH}` };
  return Object.entries(all).flatMap(([name, value]) => ['--setenv', name, value]);
}

/** What to say to someone who has tasks that need a sandbox, and none. */
function unavailable(reason: string): SkillError {
  const hint = [
    'Install it (apt-get install bubblewrap, dnf install bubblewrap) and allow unprivileged user namespaces;',
    'or run in a container or virtual machine that allows them;',
    'or, on a machine that may be lost, write `sandbox: none`: commands then run with your rights and your network.',
  ].join(' ');
  return new SkillError('SANDBOX_UNAVAILABLE', `A sandbox is needed to run commands, and there is none: ${reason}`, {
    hint,
  });
}
