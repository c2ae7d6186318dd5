import { chmod, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { syncFolder, takeLock, writeSynced } from '../../stores/index.ts';
import { JOURNAL } from './cut-off.ts';
import { digestOf, ifThere, Receipt, refused, type Step } from './locate.ts';

const RECEIPT = 'receipt.json';
/** A transaction that could not be fully taken back. Its old bytes are kept. */
const LEFT = 'left.json';

const LOCK_WORDS = {
  whenOwn: 'Wait for the other change of this process.',
  whenAlive: 'Wait until it ends, and start again.',
  mode: 0o600,
};

/** Runs `work` while no other process changes anything through this journal. */
export async function withJournal<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const lock = await takeLock(join(folder, 'replace.lock'), LOCK_WORDS);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

type Backup = { readonly name: string; readonly bytes: Buffer };

/** Writes the old bytes first, so that a transaction in the journal can always be taken back. */
export async function begin(folder: string, transaction: Receipt, backups: readonly Backup[]): Promise<void> {
  const own = transactionFolder(folder, transaction.id);
  await mkdir(own, { mode: 0o700 });
  try {
    for (const { name, bytes } of backups) await writeSynced(join(own, name), bytes, 0o600);
    await syncFolder(own);
    const draft = join(folder, `${JOURNAL}.tmp`);
    await rm(draft, { force: true });
    await writeSynced(draft, `${JSON.stringify(transaction, null, 1)}\n`, 0o600);
    await rename(draft, join(folder, JOURNAL));
    await syncFolder(folder);
  } catch (error) {
    await rm(own, { recursive: true, force: true });
    throw error;
  }
}

/** A crash before this rename takes the transaction back. A crash after it does not. */
export const commit = (folder: string, id: string) => endJournal(folder, id, RECEIPT);

/** Ends a transaction that was taken back. `isWhole` is false if somebody else changed a file. */
export async function end(folder: string, id: string, { isWhole }: { isWhole: boolean }): Promise<void> {
  if (!isWhole) return endJournal(folder, id, LEFT);
  await rm(join(folder, JOURNAL), { force: true });
  await rm(transactionFolder(folder, id), { recursive: true, force: true });
}

async function endJournal(folder: string, id: string, name: string): Promise<void> {
  await rename(join(folder, JOURNAL), join(transactionFolder(folder, id), name));
  await syncFolder(transactionFolder(folder, id));
  await syncFolder(folder);
}

/** The transaction that a crash interrupted, if any. */
export const readJournal = (folder: string) => readTransaction(join(folder, JOURNAL));

/** Undefined for a transaction that was not committed. */
export const readReceipt = (folder: string, id: string): Promise<Receipt | undefined> =>
  readTransaction(join(transactionFolder(folder, id), RECEIPT));

async function readTransaction(path: string): Promise<Receipt | undefined> {
  const text = await ifThere(readFile(path, 'utf8'));
  if (text === undefined) return undefined;
  try {
    return Receipt.parse(JSON.parse(text));
  } catch (cause) {
    const hint = `The old bytes are in the folders beside it. Look whether your files are right, and delete ${path}.`;
    throw new SkillError('STATE_UNUSABLE', `${path} is damaged: it does not describe a change`, { cause, hint });
  }
}

/** Folders of transactions that never began. */
export async function removeUnbegun(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const names = await readdir(join(folder, entry.name));
    if (names.includes(RECEIPT) || names.includes(LEFT)) continue;
    await rm(join(folder, entry.name), { recursive: true, force: true });
  }
}

const transactionFolder = (folder: string, id: string): string => join(folder, basename(id));

/** The path of the old bytes. Null if there was no file. */
export const backupPath = (folder: string, id: string, { backup }: Step): string | null =>
  backup === null ? null : join(transactionFolder(folder, id), basename(backup));

export async function readBackup(folder: string, id: string, step: Step): Promise<Buffer | null> {
  const path = backupPath(folder, id, step);
  if (path === null) return null;
  const bytes = await readFile(path);
  if (digestOf(bytes) === step.before) return bytes;
  const hint = `Look at ${step.path}: it is left as it is.`;
  throw refused(`${path} does not hold the old bytes of ${step.path} any more`, hint);
}
