import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { syncFolder, takeLock, writeSynced } from '../../stores/index.ts';
import { digestOf, ifThere, Receipt, refused, type Step } from './locate.ts';

const JOURNAL = 'pending.json';
const RECEIPT = 'receipt.json';
/** Of a transaction that could not be taken back as a whole: its old bytes are kept. */
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

/** First the old bytes, then the journal that speaks of them: what is in the journal can be taken back. */
export async function begin(folder: string, transaction: Receipt, backups: readonly Backup[]): Promise<void> {
  const own = transactionFolder(folder, transaction.id);
  await mkdir(own, { mode: 0o700 });
  try {
    await writeAhead(folder, transaction, backups);
  } catch (error) {
    await rm(own, { recursive: true, force: true });
    throw error;
  }
}

async function writeAhead(folder: string, transaction: Receipt, backups: readonly Backup[]): Promise<void> {
  const own = transactionFolder(folder, transaction.id);
  for (const { name, bytes } of backups) await writeSynced(join(own, name), bytes, 0o600);
  await syncFolder(own);
  const draft = join(folder, `${JOURNAL}.tmp`);
  await rm(draft, { force: true });
  await writeSynced(draft, `${JSON.stringify(transaction, null, 1)}\n`, 0o600);
  await rename(draft, join(folder, JOURNAL));
  await syncFolder(folder);
}

/** One rename: before it the transaction is taken back after a crash, after it it stands. */
export const commit = (folder: string, id: string) => endJournal(folder, id, RECEIPT);

/** Everything is as before, except for what somebody else changed. */
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

/** The transaction that was cut off, if one was. */
export const readJournal = (folder: string) => readTransaction(join(folder, JOURNAL));

/** Whether the next change begins with taking one back. Only looks. */
export const isCutOff = (folder: string): boolean => existsSync(join(folder, JOURNAL));

/** What a transaction did; undefined for one that was not committed. */
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

/** An id is a name, whatever is in it. */
const transactionFolder = (folder: string, id: string): string => join(folder, basename(id));

/** Where the old bytes are; null where there was no file. */
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
