import { closeSync, constants, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { SkillError } from '../../core/contracts/index.ts';
import {
  AMOUNTS,
  type Amounts,
  addEntry,
  createLedger,
  type Ledger,
  type LedgerEntry,
  LIMIT_NAMES,
  nothingSpent,
  type Spent,
} from '../../core/run/index.ts';
import { parseJson } from '../../core/text/index.ts';
import { asUnwritable, NO_FOLLOW, orIfMissing, shownPath } from '../own-files.ts';

export const LEDGER_FILE = 'spent.json';

/**
 * The ledger of a run, in a file of its own: unlike the cache it must not be lost, and a reply that cannot be kept was
 * paid for all the same. Lines are only added, each in one small write, which a kill does not divide: a call before it is
 * sent, and again when it is answered. A line with sums stands for all lines before it. Nothing waits for the disk, so a
 * crash of the machine may cost the last lines: then the journal knows more, and the larger amounts count.
 */
export async function openLedger(
  path: string,
  onWarning: (message: string) => void = () => undefined,
): Promise<Ledger & { close(): void }> {
  const { spent: before, isTorn } = readLines(path, await orIfMissing(readFile(path, 'utf8'), ''));
  if (isTorn) onWarning(`the end of ${shownPath(path)} is damaged; the limits count what stands before it`);
  let file: number | undefined;
  let isOpen = true;
  const write = (line: object) => {
    if (!isOpen) throw new Error('the ledger of this run is closed');
    file ??= begin(path, before);
    addLine(path, file, line);
  };
  const { atEnd, ...ledger } = createLedger(before, write);
  return {
    ...ledger,
    stop(limit, advised) {
      file ??= begin(path, before);
      ledger.stop(limit, advised);
    },
    /** Leaves one line, if anything was written. Afterwards nothing can be. */
    close() {
      isOpen = false;
      if (file === undefined) return;
      closeSync(file);
      file = undefined;
      reported(path, () => replace(path, `${JSON.stringify(toLine(atEnd()))}\n`));
    },
  };
}

/** Opens the file, and closes what a killed process has left open: the numbers of calls begin again. */
function begin(path: string, before: Spent): number {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | NO_FOLLOW;
  const file = reported(path, () => openSync(path, flags, 0o666));
  writeSync(file, '\n'); // nothing is glued to a torn line
  addLine(path, file, toLine(before));
  return file;
}

const addLine = (path: string, file: number, line: object) =>
  reported(path, () => writeSync(file, `${JSON.stringify(line)}\n`));

function replace(path: string, text: string): void {
  const draft = `${path}.tmp`;
  rmSync(draft, { force: true }); // left by a kill, or planted
  writeFileSync(draft, text, { flag: 'wx' });
  renameSync(draft, path);
}

/**
 * What was spent; nothing where there is no ledger. Calls that a killed process had in flight are spent. `aliveSince` says since
 * when a process works on the run, if one does: what that has in flight is not spent yet, and `inFlight` counts it.
 */
export async function readLedger(path: string, aliveSince?: number): Promise<Spent & { readonly inFlight: number }> {
  const writtenAt = await orIfMissing(
    stat(path).then(({ mtimeMs }) => mtimeMs),
    0,
  );
  const isAlive = aliveSince !== undefined && writtenAt >= aliveSince;
  const { spent, inFlight } = readLines(path, await orIfMissing(readFile(path, 'utf8'), ''), isAlive);
  return { ...spent, inFlight };
}

type Sums = Amounts & Partial<Spent>;

const toLine = ({ counted, usage, kills, limit, advised }: Spent): Sums => ({
  ...counted,
  usage,
  ...(kills === 0 ? {} : { kills }),
  ...(limit === undefined ? {} : { limit }),
  ...(advised === undefined ? {} : { advised }),
});

/** Folds the lines. Only the last of them can be torn: all others were followed by one. */
function readLines(path: string, text: string, isAlive = false) {
  let before = nothingSpent;
  const entries = new Map<number, LedgerEntry>();
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  let torn: string | undefined;
  for (const line of lines) {
    const sums = readSums(line);
    const entry = sums ? undefined : readEntry(line);
    if (torn !== undefined && !sums) throw damaged(path, torn); // sums are written after a torn line
    torn = sums || entry ? undefined : line;
    if (sums) entries.clear();
    if (sums) before = sums;
    if (entry) entries.set(entry.id, entry);
  }
  if (torn !== undefined && lines.length === 1) throw damaged(path, torn);
  const last = [...entries.values()];
  const inFlight = isAlive ? last.reduce((sum, entry) => sum + (entry.inFlight?.calls ?? 0), 0) : 0;
  const over = isAlive ? last.map(({ inFlight: _, ...entry }) => entry) : last;
  const spent = over.reduce<Spent>(addEntry, before);
  const isKilled = !isAlive && last.some((entry) => entry.inFlight !== undefined);
  return { spent: { ...spent, kills: spent.kills + Number(isKilled) }, inFlight, isTorn: torn !== undefined };
}

/** As it stands in files of earlier versions too, which have no usage by stage. */
function readSums(line: string): Spent | undefined {
  const { usage = {}, kills = 0, limit, advised, ...counted } = (parseJson(line) ?? {}) as Sums;
  if (!isAmounts(counted) || typeof usage !== 'object' || !Number.isInteger(kills)) return undefined;
  const { calls, totalTokens, costUsd } = counted;
  const stopped = LIMIT_NAMES.includes(limit!) ? { limit, ...(Number.isFinite(advised) ? { advised } : {}) } : {};
  return { counted: { calls, totalTokens, costUsd }, usage, kills, ...stopped } as Spent;
}

function readEntry(line: string): (LedgerEntry & { readonly id: number }) | undefined {
  const entry = parseJson(line) as (LedgerEntry & { readonly id: number }) | null | undefined;
  const { id, stage, failed, inFlight } = entry ?? {};
  const isWhole = Number.isInteger(id) && typeof stage === 'string' && [failed, inFlight].every(isAmountsIfAny);
  return isWhole ? entry! : undefined;
}

const isAmountsIfAny = (amounts: Amounts | undefined) => amounts === undefined || isAmounts(amounts);
const isAmounts = (amounts: Amounts) => AMOUNTS.every((name) => Number.isFinite(amounts[name]) && amounts[name] >= 0);

function damaged(path: string, line: string): SkillError {
  const message = `${shownPath(path)} should have calls, totalTokens and costUsd as numbers, but a line begins with ${JSON.stringify(line.slice(0, 40))}`;
  const hint = 'Put it right, or delete it: then limits count what the journal knows.';
  return new SkillError('JOURNAL_CORRUPT', message, { hint });
}

function reported<Answer>(path: string, work: () => Answer): Answer {
  try {
    return work();
  } catch (error) {
    throw asUnwritable(path, error);
  }
}
