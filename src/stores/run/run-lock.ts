import { createHash, randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isFileError, isMissing } from '../file-error.ts';
import { shownPath } from '../shown-path.ts';
import { describeOwner, locked, refuseIfAlive } from './lock-owner.ts';

type RunLock = {
  /** Gives the run free, if it is still ours. Never throws. */
  release(): Promise<void>;
};

export const LOCK_FILE = 'run.lock';

/** More looks than any crowd of takers needs; only a lock that is there and cannot be read uses them up. */
const MAX_LOOKS = 1000;

/**
 * Keeps every other writer out of `directory`, or throws `RUN_LOCKED`. The lock of a dead process is taken over.
 *
 * A lock file appears whole or not at all, as a link to a draft. A dead one is never moved or removed by those who judge it,
 * since by then another may stand in its place. Instead its heirs compete for one name made from its text, `run.lock.after-…`:
 * who links it first, and still finds the dead lock at its place, is the owner and puts its own lock there.
 */
export async function takeRunLock(directory: string): Promise<RunLock> {
  const path = join(directory, LOCK_FILE);
  const draft = `${path}.${randomUUID()}`;
  const text = await describeOwner();
  try {
    await writeFile(draft, text, { flag: 'wx' });
    await takeByLink({ path, draft, text });
  } finally {
    await rm(draft, { force: true });
  }
  return { release: () => release(path, text) };
}

type Candidate = { readonly path: string; readonly draft: string; readonly text: string };

async function takeByLink(candidate: Candidate): Promise<void> {
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    if (await linkWhole(candidate, candidate.path)) return;
    const line = await lineOfHeirs(candidate.path);
    const last = line.at(-1);
    if (last === undefined) continue; // Released since we tried.
    await refuseIfAlive(candidate.path, last);
    if (await inherit(candidate, line)) return;
  }
  throw locked(candidate.path, 'another process', `If there is none, delete ${shownPath(candidate.path)}*.`);
}

/** The lock, its heir, the heir's heir …, as texts. More than one only while a takeover is under way or was cut off. */
async function lineOfHeirs(path: string): Promise<string[]> {
  const line = new Set<string>();
  let text = await readText(path);
  while (text !== undefined && !line.has(text)) {
    line.add(text);
    text = await readText(heirPath(path, text));
  }
  return [...line];
}

function heirPath(path: string, text: string): string {
  return `${path}.after-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
}

/** False when somebody else was faster, and it is worth another look. */
async function inherit(candidate: Candidate, line: readonly string[]): Promise<boolean> {
  const claims = line.map((text) => heirPath(candidate.path, text));
  const claim = claims.at(-1)!;
  if (!(await linkWhole(candidate, claim))) return false;
  const isHeir = (await lineOfHeirs(candidate.path)).at(-1) === candidate.text;
  if (isHeir) await rename(candidate.draft, candidate.path);
  await Promise.all((isHeir ? claims : [claim]).map((path) => rm(path, { force: true })));
  return isHeir;
}

/** False when something stands at `target`. */
async function linkWhole({ draft, text }: Candidate, target: string): Promise<boolean> {
  try {
    await link(draft, target);
    return true;
  } catch (error) {
    if (isFileError(error) && error.code === 'EEXIST') return false;
    return writeWhole(text, target);
  }
}

/** For file systems without links. Between creation and content, others may see it as torn. */
async function writeWhole(text: string, target: string): Promise<boolean> {
  try {
    await writeFile(target, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (isFileError(error) && error.code === 'EEXIST') return false;
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

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
