import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What some tests need of the machine, and how it is had. */
const REMEDIES = {
  bubblewrap: 'install bubblewrap, and let users make namespaces',
  bash: 'install bash',
  zsh: 'install zsh',
  fish: 'install fish',
  crontab: 'install cron',
  'systemd-analyze': 'install systemd',
  script: 'install bsdutils (util-linux)',
  setpriv: 'install util-linux, and run the tests as root',
  python3: 'install python3',
  openpyxl: 'install python3-openpyxl',
  rg: 'install ripgrep',
  curl: 'install curl',
  chromium: 'install chromium',
  'a file system of its own (unshare, mount)': 'install util-linux, and let users make namespaces',
  '/dev/full': 'run the tests on Linux',
  'redis-server': 'install redis-server',
  docker: 'install docker, start it, and load the image busybox',
} as const;

type Need = keyof typeof REMEDIES;

const said = new Set<string>();

/**
 * Whether a test must be skipped for want of something. It is said once what is missing and what to do. Where nothing may be
 * missing, as in CI, it throws instead: with `REQUIRE_SANDBOX` for bubblewrap, with `REQUIRE_PROGRAMS` for all else.
 */
export function isMissing(need: Need, isThere = isOnPath(need)): boolean {
  if (isThere) return false;
  const words = `${need} is missing: ${REMEDIES[need]}`;
  if (process.env[need === 'bubblewrap' ? 'REQUIRE_SANDBOX' : 'REQUIRE_PROGRAMS']) throw new Error(words);
  if (!said.has(need)) process.stderr.write(`some tests are skipped: ${words}\n`);
  said.add(need);
  return true;
}

function isOnPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const NOBODY = 65_534;

/** Does something as a user without rights, where the tests run as root, who may do everything. */
export async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return await work();
  process.setegid!(NOBODY);
  process.seteuid!(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
    process.setegid!(0);
  }
}
