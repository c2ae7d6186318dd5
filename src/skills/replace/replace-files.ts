import { unlinkSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileReason } from '../../stores/index.ts';
import { begin, commit, readBackup, withJournal } from './journal.ts';
import {
  digestOrNull,
  ifThere,
  LINGER_MS,
  makeFolder,
  moved,
  type OpenFolder,
  openFolder,
  type Receipt,
  type Replacement,
  type ReplaceOptions,
  refused,
  type Step,
} from './locate.ts';
import { type Held, recoverLocked, takeBack } from './take-back.ts';
import {
  asRefusal,
  changed,
  openTarget,
  readLive,
  readWhole,
  removeFolders,
  requireUntouched,
  swapIn,
  type Target,
  writeDraft,
} from './target.ts';

/**
 * Replaces, creates or removes files: all of them or none, even if the process or the machine crashes. Writes nothing outside
 * the roots, and nothing over unexpected bytes. An interrupted transaction is taken back first.
 *
 * Two system calls lie between the last check of a file and its replacement. An edit in the old file is noticed even then,
 * since that file is still open. A new file in its place is noticed up to that check.
 */
export function replaceFiles(replacements: readonly Replacement[], options: ReplaceOptions): Promise<Receipt> {
  return withJournal(options.journalFolder, async () => {
    await recoverLocked(options.journalFolder);
    const targets: Target[] = [];
    try {
      for (const replacement of replacements) targets.push(await openTarget(replacement, options.roots));
      const names = targets.map(({ realPath }) => realPath.normalize('NFC').toLowerCase());
      const twice = targets.find((_, index) => names.indexOf(names[index]!) !== index);
      if (twice) throw refused(`${twice.realPath} is to be written twice`, 'Name one change for each file.');
      return await transact(targets, options);
    } finally {
      for (const target of targets) await target[Symbol.asyncDispose]();
    }
  });
}

/** A target, its step in the journal, and its folder, which is open from the draft on. */
type Work = { readonly target: Target; readonly step: Step; folder?: OpenFolder };

async function transact(targets: readonly Target[], options: ReplaceOptions): Promise<Receipt> {
  const { journalFolder, id, onMoment } = options;
  const steps = targets.map((target, index) => stepFor(target, index, id));
  const transaction: Receipt = { version: 1, id, at: new Date().toISOString(), steps };
  const works = targets.map((target, index): Work => ({ target, step: steps[index]! }));
  const backups = works.flatMap(({ target, step }) =>
    target.before === null ? [] : [{ name: step.backup!, bytes: target.before }],
  );
  await onMoment?.('checked');
  await begin(journalFolder, transaction, backups).catch((error) => {
    throw asRefusal(error, namesOf(works));
  });
  try {
    await perform(works, options);
    await commit(journalFolder, id);
  } catch (error) {
    throw await giveUp(error, journalFolder, transaction, works);
  } finally {
    for (const { folder } of works) await folder?.[Symbol.asyncDispose]();
  }
  await onMoment?.('committed');
  return transaction;
}

async function perform(works: readonly Work[], { onMoment }: ReplaceOptions): Promise<void> {
  await onMoment?.('journaled');
  const made = new Set<string>();
  for (const work of works) work.folder = await draftOne(work, made);
  await onMoment?.('drafted');
  for (const work of works) await swapOne(work, work.folder!);
  await onMoment?.('replaced');
  await delay(LINGER_MS);
  for (const work of works) await verifyOne(work, work.folder!);
}

const namesOf = (works: readonly Work[]) => works.map(({ target }) => target.path).join(', ');

const stepFor = (target: Target, index: number, id: string): Step => ({
  path: target.path,
  realPath: target.realPath,
  folderId: target.folderId,
  newFolders: [...target.newFolders],
  before: digestOrNull(target.before),
  after: digestOrNull(target.bytes),
  mode: target.info ? target.info.mode & 0o7777 : null,
  backup: target.before === null ? null : `${index + 1}.before`,
  draft: `.${basename(target.realPath)}.${basename(id)}.tmp`,
});

/** Several files may share a new folder. */
async function draftOne({ target, step }: Work, made: Set<string>): Promise<OpenFolder> {
  for (const path of target.newFolders.filter((one) => !made.has(one))) {
    await makeFolder(path);
    made.add(path);
  }
  const folder = await openFolder(dirname(target.realPath));
  try {
    await requireSame(folder, step.folderId);
    const { bytes, info } = target;
    const isProgram = bytes?.subarray(0, 2).toString() === '#!'; // it names its interpreter
    if (bytes !== null)
      await writeDraft(folder.at(step.draft), bytes, info ?? (isProgram ? { mode: 0o755 } : undefined));
    return folder;
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

async function requireSame(folder: OpenFolder, folderId: string): Promise<void> {
  if ((folderId !== '' && folder.id !== folderId) || !(await folder.isInPlace())) throw moved(folder.path);
}

async function swapOne({ target, step }: Work, folder: OpenFolder): Promise<void> {
  await requireSame(folder, step.folderId);
  const live = folder.at(basename(target.realPath));
  requireUntouched(target, live); // from here to the swap nothing may wait
  if (target.bytes === null) unlinkSync(live);
  else swapIn({ draft: folder.at(step.draft), live, isNew: target.before === null });
  await folder.sync();
}

async function verifyOne({ target, step }: Work, folder: OpenFolder): Promise<void> {
  await requireSame(folder, step.folderId);
  if (target.bytes !== null && (await ifThere(realpath(target.path))) !== target.realPath) throw moved(target.path);
  const now = await readLive(folder, basename(target.realPath));
  if (now === undefined || digestOrNull(now) !== step.after) throw changed(target.path, now ?? null);
  if (displacedBy(target)) throw changed(target.path, target.before);
}

/** The bytes that somebody wrote into the old file after it was checked. */
function displacedBy({ handle, before }: Target): Buffer | undefined {
  const bytes = handle && readWhole(handle.fd);
  return bytes && before && !bytes.equals(before) ? bytes : undefined;
}

/** Takes everything back, and returns the error to throw. */
async function giveUp(error: unknown, journalFolder: string, transaction: Receipt, works: readonly Work[]) {
  const held = works.flatMap(({ target, folder }): [string, Held][] =>
    folder ? [[target.path, { folder, displaced: displacedBy(target) }]] : [],
  );
  for (const { target } of works) await target[Symbol.asyncDispose](); // on a full disk this frees the old file
  try {
    await takeBack(journalFolder, transaction, new Map(held));
    return asRefusal(error, namesOf(works));
  } catch (cause) {
    const what = `${namesOf(works)} could not be taken back: ${fileReason(cause)}`;
    return refused(what, `Start again, and it is tried again. The old bytes are in ${journalFolder}.`, cause);
  }
}

type UndoOptions = Pick<ReplaceOptions, 'journalFolder' | 'id' | 'onMoment'>;

/** Takes back a transaction whose files have not changed since. Removes folders that it made, if they are empty. */
export async function undo(receipt: Receipt, options: UndoOptions): Promise<Receipt> {
  const replacements = await Promise.all(
    receipt.steps.map(async (step): Promise<Replacement> => {
      const bytes = await readBackup(options.journalFolder, receipt.id, step);
      return { path: step.path, realPath: step.realPath, expected: step.after, bytes, isAnyFile: true };
    }),
  );
  const roots = receipt.steps.map(({ realPath }) => dirname(realPath));
  const undone = await replaceFiles(replacements, { ...options, roots });
  for (const { before, newFolders } of receipt.steps) if (before === null) await removeFolders(newFolders);
  return undone;
}
