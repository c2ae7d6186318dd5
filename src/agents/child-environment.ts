import { delimiter, dirname } from 'node:path';
import type { AgentCli, Environment, Located } from './agent-cli.ts';

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
 */
export function childEnvironment({ cli, model, program, inherited, passEnv = [] }: ChildProgram): Environment {
  const allowed = [...COMMON, ...(isWindows ? WINDOWS : []), ...cli.variables({ env: inherited, model }), ...passEnv];
  const kept = Object.entries(inherited).filter(([name]) => allowed.some((pattern) => matches(name, pattern)));
  return { PATH: searchPathOf(program, inherited), ...Object.fromEntries(kept) };
}

/** A pattern is a name, or its beginning with a star behind it. Windows has one name for `Path` and `PATH`. */
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
