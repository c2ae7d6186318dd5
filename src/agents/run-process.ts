import { copyFileSync, lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { copyFile, lstat, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { ModelCallError, OWN_CALL_FOLDER } from '../core/contracts/index.ts';
import { knowKey, maskKeysIn } from '../core/guard/index.ts';
import type { AgentCli, AgentOutput, Environment, Invocation, Located } from './agent-cli.ts';

/** What any program needs: its user and home, language, the way to the network, and keyrings that hold sign-ins. */
const COMMON = [
  ...['HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'COLORTERM', 'TZ', 'LANG', 'LANGUAGE', 'LC_*', 'TMPDIR', 'XDG_*'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['DBUS_SESSION_BUS_ADDRESS', '__CF_USER_TEXT_ENCODING'], // keyrings
];

const WINDOWS = [
  ...['SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'PATHEXT', 'TEMP', 'TMP', 'OS', 'PROCESSOR_ARCHITECTURE'],
  ...['USERPROFILE', 'USERNAME', 'USERDOMAIN', 'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA'],
  ...['PROGRAMFILES', 'PROGRAMFILES(X86)', 'NUMBER_OF_PROCESSORS'],
];

const isWindows = process.platform === 'win32';

type ChildProgram = {
  readonly cli: AgentCli;
  readonly model?: string | undefined;
  readonly program: Located;
  readonly inherited: Environment;
  /** Names of further variables to inherit. */
  readonly passEnv?: readonly string[] | undefined;
};

/**
 * The variables that a CLI inherits: what every program needs, and its own settings and keys. It gets nothing else of its
 * caller, such as keys of a database or of another service. The search path has the folders of the program and of the system.
 * Its keys are known from then on, and masked in what it prints.
 */
export function childEnvironment({ cli, model, program, inherited, passEnv = [] }: ChildProgram): Environment {
  const allowed = [...COMMON, ...(isWindows ? WINDOWS : []), ...cli.variables({ env: inherited, model }), ...passEnv];
  const kept = Object.entries(inherited).filter(([name]) => allowed.some((pattern) => matches(name, pattern)));
  for (const [name, value] of kept) if (/KEY|TOKEN|SECRET|PASSWORD/i.test(name)) knowKey(value);
  return { PATH: searchPathOf(program, inherited), ...Object.fromEntries(kept) };
}

/** A pattern is a name, or the beginning of one with a star after it. Windows has one name for `Path` and `PATH`. */
function matches(name: string, pattern: string): boolean {
  const same = (text: string) => (isWindows ? text.toUpperCase() : text);
  return pattern.endsWith('*') ? same(name).startsWith(same(pattern.slice(0, -1))) : same(name) === same(pattern);
}

/** Many CLIs are scripts for Node. Theirs lies beside the link to them; otherwise ours is used. */
function searchPathOf({ path, foundAt }: Located, env: Environment): string {
  const own = [foundAt, path, process.execPath].map((file) => dirname(file));
  const system = isWindows
    ? ['System32', 'System32\\WindowsPowerShell\\v1.0'].map((name) => `${env.SystemRoot ?? 'C:\\Windows'}\\${name}`)
    : ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'];
  return [...new Set([...own, ...system])].join(delimiter);
}

/** A private folder for one call, with an empty `work` in it. Disposing removes it. */
export async function openCallFolder() {
  const path = await mkdtemp(join(await realpath(tmpdir()), OWN_CALL_FOLDER));
  const links: (readonly [link: string, target: string])[] = [];
  const cleanup = atProcessEnd(() => {
    for (const [link, target] of links) if (lstatSync(link).isFile()) copyFileSync(link, target);
    rmSync(path, REMOVAL);
  });
  await mkdir(join(path, 'work'));
  return {
    path,
    work: join(path, 'work'),
    async furnish(invocation: Invocation) {
      for (const [name, text] of Object.entries(invocation.files ?? {})) {
        await mkdir(dirname(join(path, name)), { recursive: true });
        await writeFile(join(path, name), text);
      }
      for (const [name, target] of Object.entries(invocation.links ?? {}))
        if (await linkTo(join(path, name), target)) links.push([join(path, name), target]);
    },
    async [Symbol.asyncDispose]() {
      for (const [link, target] of links) await returnRenewed(link, target);
      await rm(path, REMOVAL);
      cleanup[Symbol.dispose]();
    },
  };
}

/** A program that was just ended may still be writing. */
const REMOVAL = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const;

/** Returns whether there is something to link to. */
async function linkTo(link: string, target: string): Promise<boolean> {
  const source = await realpath(target).catch(() => undefined);
  if (source === undefined) return false;
  await mkdir(dirname(link), { recursive: true });
  await symlink(source, link).catch(() => copyFile(source, link)); // Windows may forbid links
  return true;
}

/** A CLI that renews a sign-in may replace the link by a file. The old sign-in is then invalid, so the new one replaces it. */
async function returnRenewed(link: string, target: string): Promise<void> {
  const state = await lstat(link).catch(() => undefined);
  if (state?.isFile()) await copyFile(link, target).catch(() => undefined);
}

type ProcessOptions = {
  readonly file: string;
  /** The name that the program sees as its own; some are several programs in one. */
  readonly name?: string | undefined;
  readonly args: readonly string[];
  readonly input: string;
  readonly cwd: string;
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Called with each line when it is printed. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** A folder of logs, whose lines `onLine` gets too. */
  readonly logs?: string | undefined;
};

/** More than any reply. A CLI that prints without end is stopped here. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;

const hasGroups = process.platform !== 'win32';

const fixedOptions = {
  extendEnv: false,
  detached: hasGroups, // a group of its own, so that its children can be ended with it
  reject: false,
  maxBuffer: MAX_OUTPUT_BYTES,
  encoding: 'utf8',
  windowsHide: true,
} as const;

/**
 * Runs a program to its end. An abort, and the end of this process, end it with all that it started. Throws the system's
 * error when it could not be started.
 */
export async function runProcess(options: ProcessOptions): Promise<AgentOutput> {
  const { file, name = file, args, signal, onLine, logs, ...rest } = options;
  const { execa } = await import('execa');
  signal.throwIfAborted();
  const pipe = onLine === undefined ? 'pipe' : tap(onLine);
  const subprocess = execa(file, args, { ...rest, ...fixedOptions, argv0: name, stdout: pipe, stderr: pipe });
  const end = () => (hasGroups ? killGroup(subprocess.pid) : subprocess.kill('SIGKILL'));
  signal.addEventListener('abort', end, { once: true });
  using _ending = atProcessEnd(end);
  using _logs = logs === undefined || onLine === undefined ? undefined : followLogs(logs, onLine);
  try {
    const { stdout, stderr, failed, isMaxBuffer, shortMessage = '', cause } = await subprocess;
    signal.throwIfAborted();
    if (subprocess.pid === undefined) throw cause;
    if (isMaxBuffer) {
      const message = `${file} printed more than ${MAX_OUTPUT_BYTES / 1024 / 1024} MB`;
      throw new ModelCallError(message, { isRetryable: false, hint: 'Run it by hand to see what it prints.' });
    }
    return maskKeysIn({ stdout, stderr: failed && stderr.trim() === '' ? shortMessage : stderr });
  } finally {
    signal.removeEventListener('abort', end);
    killGroup(subprocess.pid); // what the program left behind
  }
}

function tap(onLine: (line: string) => void) {
  return function* (line: unknown) {
    onLine(String(line));
    yield line;
  };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined || !hasGroups) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // nobody is left
  }
}

const LOGS_EVERY_MS = 250;

/** Hands over the lines that a program appends to the files in `folder`, until disposed. */
function followLogs(folder: string, onLine: (line: string) => void): Disposable {
  const linesRead = new Map<string, number>();
  const timer = setInterval(() => {
    for (const path of filesIn(folder)) {
      const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1); // the last one may be incomplete
      const fresh = lines.slice(linesRead.get(path) ?? 0);
      linesRead.set(path, lines.length);
      fresh.forEach(onLine);
    }
  }, LOGS_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Links are left out: one CLI keeps a link to its newest log beside it. */
function filesIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name));
  } catch {
    return []; // not made yet
  }
}

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

const pending = new Set<() => void>();

/**
 * Calls `cleanup` when this process ends before it is disposed: by an exit, or by a signal with no other listener. The last
 * one added is called first. Only `kill -9` leaves things behind.
 */
function atProcessEnd(cleanup: () => void): Disposable {
  if (pending.size === 0) listen('on');
  pending.add(cleanup);
  return {
    [Symbol.dispose]() {
      pending.delete(cleanup);
      if (pending.size === 0) listen('off');
    },
  };
}

function listen(how: 'on' | 'off'): void {
  process[how]('exit', cleanUp);
  for (const signal of SIGNALS) process[how](signal, endBy);
}

/** Other listeners decide what a signal means. Without any, this process ends by the signal. */
function endBy(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  cleanUp();
  listen('off');
  process.kill(process.pid, signal);
}

function cleanUp(): void {
  for (const cleanup of [...pending].reverse()) {
    try {
      cleanup();
    } catch {
      // the others are still called
    }
  }
}
