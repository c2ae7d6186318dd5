import { lstatSync, renameSync, unlinkSync } from 'node:fs';
import { constants, open, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isFileError, NO_FOLLOW } from '../../stores/index.ts';
import { backupPath, end, readBackup, readJournal, removeUnbegun, withJournal } from './journal.ts';
import {
  digestOf,
  digestOrNull,
  idOf,
  ifThere,
  LINGER_MS,
  type OpenFolder,
  openFolder,
  type Receipt,
  type Step,
} from './locate.ts';
import { readLive, readWhole, removeDraft, removeFolders, swapIn, writeDraft } from './target.ts';

/** A file that somebody else changed. It was left as it is, and its old bytes are in the backup. */
type LeftFile = { readonly path: string; readonly why: string; readonly backup: string | null };
export type Recovered = { readonly restored: readonly string[]; readonly left: readonly LeftFile[] };

/** What the process that began still holds of a file. */
export type Held = {
  readonly folder: OpenFolder;
  /** Somebody wrote this into the old file during its replacement. It is restored instead of the backup. */
  readonly displaced: Buffer | undefined;
};

export async function recoverReplacements(journalFolder: string): Promise<Recovered> {
  if ((await ifThere(stat(journalFolder))) === undefined) return { restored: [], left: [] };
  return withJournal(journalFolder, () => recoverLocked(journalFolder));
}

export async function recoverLocked(journalFolder: string): Promise<Recovered> {
  const transaction = await readJournal(journalFolder);
  const recovered = transaction ? await takeBack(journalFolder, transaction) : { restored: [], left: [] };
  await removeUnbegun(journalFolder);
  return recovered;
}

/** If this throws, the journal stays, and the next call takes the rest back. */
export async function takeBack(
  journalFolder: string,
  transaction: Receipt,
  held: ReadonlyMap<string, Held> = new Map(),
): Promise<Recovered> {
  const restored: string[] = [];
  const left: LeftFile[] = [];
  for (const step of transaction.steps.toReversed()) {
    const own = held.get(step.path);
    const readOld = async () => own?.displaced ?? (await readBackup(journalFolder, transaction.id, step));
    const outcome = await takeBackStep(step, own, readOld);
    if (outcome === 'restored') restored.push(step.path);
    else if (outcome !== undefined)
      left.push({ path: step.path, why: outcome, backup: backupPath(journalFolder, transaction.id, step) });
  }
  for (const { newFolders } of transaction.steps) await removeFolders(newFolders);
  await end(journalFolder, transaction.id, { isWhole: left.length === 0 });
  return { restored, left };
}

/** `restored`, or why a file was left as it is. Undefined if it was not changed at all. */
async function takeBackStep(step: Step, held: Held | undefined, readOld: ReadOld): Promise<string | undefined> {
  if (held?.folder.isAnchored) return restore(held.folder, step, readOld);
  const folder = await reopen(step);
  if (folder === undefined) return step.folderId === '' ? undefined : 'its folder was moved or swapped';
  try {
    return await restore(folder, step, readOld);
  } finally {
    await folder[Symbol.asyncDispose]();
  }
}

type ReadOld = () => Promise<Buffer | null>;

async function reopen({ realPath, folderId }: Step): Promise<OpenFolder | undefined> {
  const folder = await openFolder(dirname(realPath)).catch(() => undefined);
  if (folder === undefined) return undefined;
  if ((await folder.isInPlace()) && (folderId === '' || folder.id === folderId)) return folder;
  await folder[Symbol.asyncDispose]();
  return undefined;
}

async function restore(folder: OpenFolder, step: Step, readOld: ReadOld) {
  const name = basename(step.realPath);
  await removeDraft(folder, step.draft);
  const now = await readLive(folder, name);
  if (now === undefined) return 'it is no regular file any more';
  const digest = digestOrNull(now);
  if (digest === step.before) return undefined;
  if (digest !== step.after) return CHANGED;
  const old = await readOld();
  return step.after === null ? putBackRemoved(folder, step, old!) : putBack(folder, step, old);
}

const CHANGED = 'somebody changed it meanwhile';

/** Replaces our bytes by the old ones. If somebody writes into our file at that moment, those bytes replace the old ones. */
async function putBack(folder: OpenFolder, step: Step, old: Buffer | null): Promise<string> {
  const [live, draft] = [folder.at(basename(step.realPath)), folder.at(step.draft)];
  const ours = await open(live, constants.O_RDONLY | NO_FOLLOW);
  try {
    const info = await ours.stat();
    if (old !== null) await writeDraft(draft, old, { mode: step.mode ?? 0o644, uid: info.uid, gid: info.gid });
    const now = digestOf(readWhole(ours.fd)) === step.after ? lstatSync(live, { throwIfNoEntry: false }) : undefined;
    if (now === undefined || idOf(now) !== idOf(info)) return CHANGED; // from here to the swap nothing may wait
    if (old === null) unlinkSync(live);
    else renameSync(draft, live);
    await folder.sync();
    await delay(LINGER_MS);
    const late = readWhole(ours.fd);
    if (digestOf(late) === step.after) return 'restored';
    const next = { ...step, after: digestOrNull(old) };
    return await (old === null ? putBackRemoved(folder, next, late) : putBack(folder, next, late));
  } finally {
    await ours.close();
    await removeDraft(folder, step.draft);
  }
}

async function putBackRemoved(folder: OpenFolder, step: Step, old: Buffer): Promise<string> {
  const draft = folder.at(step.draft);
  await writeDraft(draft, old, { mode: step.mode ?? 0o644 });
  try {
    swapIn({ draft, live: folder.at(basename(step.realPath)), isNew: true });
    await folder.sync();
    return 'restored';
  } catch (error) {
    if (isFileError(error) && error.code === 'EEXIST') return CHANGED;
    throw error;
  } finally {
    await removeDraft(folder, step.draft);
  }
}
