import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { SkillError } from '../../core/contracts/index.ts';
import { parseJson } from '../../core/text/index.ts';
import { isTaken, orIfMissing, shownPath } from '../own-files.ts';

type FileLock = {
  /** Gives the place free, if it is still ours. Never throws. */
  release(): Promise<void>;
};

export const LOCK_FILE = 'run.lock';

/** More looks than any crowd of takers needs; only a lock that is there and cannot be read uses them up. */
const MAX_LOOKS = 1000;

const RUN_WORDS: LockWords = {
  whenOwn: 'Dispose of the open run first.',
  whenAlive: 'Wait until it ends or stop it, or choose another run directory (outRoot).',
};

/** Keeps every other writer out of the run in `directory`, or throws `RUN_LOCKED`. */
export const takeRunLock = (directory: string): Promise<FileLock> => takeLock(join(directory, LOCK_FILE), RUN_WORDS);

/**
 * Keeps every other process out of the folder of `path`, or throws `RUN_LOCKED`. The lock of a dead process is taken over.
 *
 * A lock file appears whole or not at all, as a link to a draft. A dead one is never moved or removed by a process that finds
 * it dead, since by then another may stand in its place. Instead all that want it compete for one name made from its text,
 * `….after-…`: the first to link it that still finds the dead lock in place is the owner, and puts its own lock there.
 */
export async function takeLock(path: string, words: LockWords): Promise<FileLock> {
  const draft = `${path}.${randomUUID()}`;
  const text = await describeOwner();
  try {
    await writeFile(draft, text, { flag: 'wx', mode: words.mode });
    await takeByLink({ path, draft, text, words });
  } finally {
    await rm(draft, { force: true });
  }
  return { release: () => release(path, text) };
}

type Candidate = { readonly path: string; readonly draft: string; readonly text: string; readonly words: LockWords };

async function takeByLink(candidate: Candidate): Promise<void> {
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    if (await linkWhole(candidate, candidate.path)) return;
    const succession = await readSuccession(candidate.path);
    const last = succession.at(-1);
    if (last === undefined) continue; // Released since we tried.
    await refuseIfAlive(candidate.path, last, candidate.words);
    if (await takeOver(candidate, succession)) return;
  }
  throw locked(candidate.path, 'another process', `If there is none, delete ${shownPath(candidate.path)}*.`);
}

/** The texts of the lock, of the claim on it, of the claim on that one … More than one only during a takeover, or after one cut off. */
async function readSuccession(path: string): Promise<string[]> {
  const texts = new Set<string>();
  let text = await readText(path);
  while (text !== undefined && !texts.has(text)) {
    texts.add(text);
    text = await readText(claimPath(path, text));
  }
  return [...texts];
}

const claimPath = (path: string, text: string): string =>
  `${path}.after-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;

/** False when another process was faster, and it is worth another look. */
async function takeOver(candidate: Candidate, succession: readonly string[]): Promise<boolean> {
  const claims = succession.map((text) => claimPath(candidate.path, text));
  const claim = claims.at(-1)!;
  if (!(await linkWhole(candidate, claim))) return false;
  const isOwner = (await readSuccession(candidate.path)).at(-1) === candidate.text;
  if (isOwner) await rename(candidate.draft, candidate.path);
  await Promise.all((isOwner ? claims : [claim]).map((path) => rm(path, { force: true })));
  return isOwner;
}

/** False when something stands at `target`. */
async function linkWhole({ draft, text, words }: Candidate, target: string): Promise<boolean> {
  try {
    await link(draft, target);
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
  }
  try {
    // For file systems without links. Between creation and content, others may see it as torn.
    await writeFile(target, text, { flag: 'wx', mode: words.mode });
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

async function release(path: string, text: string): Promise<void> {
  try {
    if ((await readText(path)) === text) await rm(path);
  } catch {
    // What is left is the lock of a process that will be dead, which the next one takes over.
  }
}

const readText = (path: string) => orIfMissing(readFile(path, 'utf8'), undefined);

/** Whether a process writes to the run now. Only looks: taking the lock to find out would be in the way of others. */
export async function isRunLocked(directory: string): Promise<boolean> {
  const path = join(directory, LOCK_FILE);
  try {
    await refuseIfAlive(path, await readFile(path, 'utf8'), RUN_WORDS);
    return false;
  } catch (error) {
    return error instanceof SkillError;
  }
}

/** The process of this machine that writes to the run, with its start: a pid alone may belong to another by now. */
export async function runOwner(directory: string): Promise<{ pid: number; startedAt: string } | undefined> {
  const owner = parseOwner((await readText(join(directory, LOCK_FILE))) ?? '');
  if (owner === undefined || owner.host !== hostname() || owner.startedAt === UNKNOWN_START) return undefined;
  return (await processStart(owner.pid)) === owner.startedAt ? owner : undefined;
}

/** Since when a process writes to the run, in milliseconds; undefined where none does, or does not say. */
export async function lockedSince(directory: string): Promise<number | undefined> {
  const owner = parseOwner((await readText(join(directory, LOCK_FILE))) ?? '');
  return owner?.at === undefined ? undefined : Date.parse(owner.at);
}

const Owner = z.object({
  pid: z.int().positive(),
  startedAt: z.string(),
  host: z.string(),
  /** When the lock was taken, UTC; older locks do not say. */
  at: z.iso.datetime().optional().catch(undefined),
});
type Owner = z.infer<typeof Owner>;

/** What to do about a lock, by who holds it; and how private its file is. */
type LockWords = { readonly whenOwn: string; readonly whenAlive: string; readonly mode?: number };

/** What a lock says about this process. No two are equal, so that a process recognises its own. */
export async function describeOwner(): Promise<string> {
  const startedAt = (await processStart(process.pid)) ?? UNKNOWN_START;
  const owner: Owner = { pid: process.pid, startedAt, host: hostname(), at: new Date().toISOString() };
  return `${JSON.stringify({ ...owner, id: randomUUID() })}\n`;
}

/** Throws `RUN_LOCKED` unless the owner of a lock is dead. A text that cannot be read was torn by the crash that killed it. */
async function refuseIfAlive(path: string, text: string, words: LockWords): Promise<void> {
  const owner = parseOwner(text);
  if (owner === undefined) return;
  if (owner.host !== hostname()) {
    const hint = `If that machine is gone, delete ${shownPath(path)} and start again.`;
    throw locked(path, `process ${owner.pid} on ${owner.host}${since(owner)}`, hint);
  }
  const start = await processStart(owner.pid);
  if (start !== owner.startedAt && start !== UNKNOWN_START) return;
  if (owner.pid === process.pid) throw locked(path, `this process, ${owner.pid}`, words.whenOwn);
  throw locked(path, `process ${owner.pid}${since(owner)}`, words.whenAlive);
}

const since = ({ at }: Owner) => (at === undefined ? '' : ` since ${at.slice(0, 19).replace('T', ' ')} UTC`);

const locked = (path: string, owner: string, hint: string): SkillError =>
  new SkillError('RUN_LOCKED', `${shownPath(dirname(path))} is being written by ${owner}`, { hint });

const parseOwner = (text: string): Owner | undefined => Owner.safeParse(parseJson(text)).data;

const run = promisify(execFile);

/** The start of a process that runs but does not show when it began. */
const UNKNOWN_START = 'unknown';

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
