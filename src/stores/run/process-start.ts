import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The start of a process that runs but does not show when it began. */
export const UNKNOWN_START = 'unknown';

/**
 * When a process began, as a word to compare: pids are used again, a pid with its start is not.
 * Undefined when no such process runs. A dead one that nobody has waited for does not run.
 */
export async function processStart(pid: number, platform = process.platform): Promise<string | undefined> {
  if (!isPidInUse(pid)) return undefined;
  const read = platform === 'linux' ? readProc : readPs;
  const found = await read(pid).catch(() => ({ state: '', start: UNKNOWN_START }));
  return /^[ZX]/.test(found.state) ? undefined : found.start;
}

function isPidInUse(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // It runs, as somebody else.
  }
}

/** Fields 3 and 22 of `/proc/PID/stat`. Field 2 is the program's name and may hold spaces and parentheses. */
async function readProc(pid: number) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', start: fields[19] ?? UNKNOWN_START };
}

/** In one language and time zone, whatever those of the caller: two processes compare what they read. */
async function readPs(pid: number) {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const { stdout } = await run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { env });
  const [state = '', ...start] = stdout.trim().split(/\s+/);
  return { state, start: start.join(' ') || UNKNOWN_START };
}
