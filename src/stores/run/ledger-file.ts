import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { SkillError } from '../../core/contracts/index.ts';
import { type Amounts, type Ledger, LIMIT_NAMES, noAmounts, type Spent } from '../../core/run/index.ts';
import { parseJson } from '../../core/text/index.ts';
import { asUnwritable, NO_FOLLOW, orIfMissing, shownPath } from '../own-files.ts';

export const LEDGER_FILE = 'spent.json';

/** Every text is as long, so that a shorter one leaves nothing of a longer one behind. */
const LENGTH = 192;

/**
 * The ledger of a run, in a file of its own: unlike the cache it must not be lost, and a reply that cannot be kept was
 * paid for all the same. Written by runs that have a limit, and by others when they are left before their end. Survives
 * the process; a crash of the machine may cost the last of it.
 */
export async function openLedger(path: string): Promise<Ledger & { close(): void }> {
  const before = await readLedger(path);
  let file: number | undefined;
  let exactly: () => Amounts = () => before;
  let reached: Pick<Spent, 'limit' | 'advised'> = {};
  let isOpen = true;
  return {
    before,
    claim(most, exact) {
      if (!isOpen) throw new Error('the ledger of this run is closed');
      file ??= openFile(path);
      writeLedger(path, file, { ...most, isMost: true });
      exactly = exact;
      reached = {};
    },
    stop(limit, advised) {
      file ??= openFile(path);
      reached = { limit, ...(advised === undefined ? {} : { advised }) };
    },
    /** Writes what was spent in truth, if anything was claimed, and the limit that was reached, if one was. Afterwards nothing can be. */
    close() {
      isOpen = false;
      if (file === undefined) return;
      writeLedger(path, file, { ...exactly(), ...reached });
      closeSync(file);
      file = undefined;
    },
  };
}

/** Never cut short: a process that is killed right then has written nothing yet. */
const openFile = (path: string): number =>
  reported(path, () => openSync(path, constants.O_RDWR | constants.O_CREAT | NO_FOLLOW, 0o666));

/** What is written there; nothing where there is no ledger. */
export async function readLedger(path: string): Promise<Spent> {
  const text = await orIfMissing(readFile(path, 'utf8'), '');
  return text === '' ? noAmounts : parseLedger(path, text); // killed before its first claim was written
}

function parseLedger(path: string, text: string): Spent {
  const { calls, totalTokens, costUsd, limit, advised, isMost } = (parseJson(text) ?? {}) as Spent;
  if ([calls, totalTokens, costUsd].every((amount) => Number.isFinite(amount) && amount >= 0)) {
    const more = Number.isFinite(advised) ? { advised } : {};
    const ahead = isMost === true ? { isMost } : {};
    return {
      calls,
      totalTokens,
      costUsd,
      ...ahead,
      ...(LIMIT_NAMES.includes(limit!) ? { limit, ...more } : {}),
    } as Spent;
  }
  const message = `${shownPath(path)} should hold calls, totalTokens and costUsd as numbers, but begins with ${JSON.stringify(text.slice(0, 40))}`;
  const hint = 'Put it right, or delete it: then limits count what the journal knows.';
  throw new SkillError('JOURNAL_CORRUPT', message, { hint });
}

/**
 * Over the old text, in one small write, which a kill does not divide. To replace the file would take milliseconds where
 * the file system then waits for the disk. At once, and not in the background: the call it is for is sent right after.
 */
function writeLedger(path: string, file: number, spent: Spent): void {
  const { calls, totalTokens, costUsd, isMost, limit, advised } = spent;
  const text = JSON.stringify({ calls, totalTokens, costUsd, isMost, limit, advised }).padEnd(LENGTH - 1);
  reported(path, () => writeSync(file, `${text}\n`, 0));
}

function reported<Answer>(path: string, work: () => Answer): Answer {
  try {
    return work();
  } catch (error) {
    throw asUnwritable(path, error);
  }
}
