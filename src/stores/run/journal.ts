import { hash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, open, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import {
  type JournalLines,
  journalLines,
  type LinesBefore,
  NewerJournal,
  type OpenRunStore,
  type RunEvent,
  type RunState,
  STATE_FORMAT,
  type Views,
} from '../../core/run/index.ts';
import { plural } from '../../core/text/index.ts';
import {
  fileReason,
  isFileError,
  isMissing,
  NO_FOLLOW,
  orIfMissing,
  shownPath,
  syncFolder,
  unwritable,
} from '../own-files.ts';

/** The end of a whole line, and all that reading on from there needs. */
export type JournalPlace = LinesBefore & {
  /** Bytes and lines up to there. */
  readonly size: number;
  readonly count: number;
};

type Journal = {
  /** Resolves once the event would survive a crash of the machine. After one failure nothing more is written. */
  append(event: RunEvent): Promise<void>;
  /** Throws `RUN_UNWRITABLE` when the file is no longer what was written: deleted, moved, or changed by another. */
  requireInPlace(): Promise<void>;
  /** Where it ends once everything is written. */
  end(): JournalPlace;
  /** Waits for what is being written. A journal that is still empty is removed: it says no more than none. */
  close(): Promise<void>;
};

const NEWLINE = 0x0a;
const CHUNK_BYTES = 2 ** 20;

const digest = (before: string, text: string) => hash('sha256', before + text).slice(0, 16);

/** The events of a journal, in order; none when there is no file. Changes nothing. */
export async function readJournal(path: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  await foldJournal(path, (event) => void events.push(event));
  return events;
}

/**
 * Hands over the events of a journal, in order, and keeps none: a long one does not fit into memory. Changes nothing.
 * A last line without its newline is left out: a crash tore it, or it is being written right now.
 * With `from`, only the lines after that place are read. Returns the place up to which it was read.
 */
export async function foldJournal(
  path: string,
  take: (event: RunEvent) => void,
  from?: JournalPlace,
): Promise<JournalPlace> {
  if (from === undefined) await requireNotEmptied(path);
  const { lines, size, count } = await scan(path, take, from);
  return { size, count, ...lines.soFar() };
}

/** Written after the first event and not before it: beside one of them a journal without a line has lost what it said. */
export const LATER_FILES = ['summary.json', 'history.json', 'runtime_state.json'];

/** A run that was killed before its first event leaves an empty journal too, and begins. */
export async function requireNotEmptied(path: string): Promise<void> {
  const journal = await stat(path).catch(() => undefined); // reading it says what is wrong
  if (!journal?.isFile() || journal.size > 0) return;
  const later = LATER_FILES.find((name) => existsSync(join(dirname(path), name)));
  if (later === undefined) return;
  const message = `${shownPath(path)} must have the events of this run, which has a ${later}, but it is empty`;
  throw new SkillError('JOURNAL_CORRUPT', message, { hint: UNCHANGED });
}

const UNCHANGED = 'Nothing was changed. Restore the file, or move this run away.';

/** Answers with a reader that is ready for the line after the last, the bytes of whole lines, and how many these are. */
async function scan(path: string, take: (event: RunEvent) => void, from?: JournalPlace) {
  const lines = journalLines(digest, from);
  const shown = shownPath(path);
  let { count, size } = from ?? { count: 0, size: 0 };
  const torn: Buffer[] = [];
  for await (const chunk of chunksOf(path, size)) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const rest = chunk.subarray(start, end);
      const line = torn.length > 0 ? Buffer.concat([...torn.splice(0), rest]) : rest;
      count += 1;
      take(readLine(lines, line.toString('utf8'), `${shown}:${count}`));
      size += line.length + 1;
      start = end + 1;
    }
    if (start < chunk.length) torn.push(chunk.subarray(start));
  }
  return { lines, size, count };
}
type Scanned = Awaited<ReturnType<typeof scan>>;

/** Follows no link: the author of a run that came from elsewhere would choose which file is read here, and shown. */
async function* chunksOf(path: string, start: number): AsyncGenerator<Buffer> {
  try {
    await using file = await open(path, constants.O_RDONLY | NO_FOLLOW);
    yield* file.createReadStream({ start, highWaterMark: CHUNK_BYTES, autoClose: false });
  } catch (cause) {
    if (isMissing(cause)) return;
    if (await isLink(path)) throw linkedJournal(path);
    const hint = 'Check that it is a file and that you may read it.';
    throw new SkillError('JOURNAL_CORRUPT', `${shownPath(path)} cannot be read: ${fileReason(cause)}`, { cause, hint });
  }
}

/** A folder above it that is a link to itself fails in the same way. */
const isLink = (path: string) =>
  lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );

const linkedJournal = (path: string) =>
  new SkillError('JOURNAL_CORRUPT', `${shownPath(path)} is a link, and the journal of a run must be a file`, {
    hint: 'Put a copy of the file in its place, if you know where it leads.',
  });

/** An error says how long a damaged line is and quotes nothing of it: the file may be another one, with secrets in it. */
function readLine(lines: JournalLines, line: string, where: string): RunEvent {
  try {
    return lines.read(line);
  } catch (cause) {
    if (cause instanceof NewerJournal)
      throw new SkillError('JOURNAL_CORRUPT', `${where} ${cause.message}`, {
        cause,
        hint: 'Update skillopt to read this run.',
      });
    const got = line === '' ? 'an empty line' : `a line of ${plural(line.length, 'character')}`;
    const isNoJson = cause instanceof SyntaxError; // whose message quotes the line
    const reason = isNoJson ? 'must be a JSON object with a "type" that this version knows' : message(cause);
    throw new SkillError('JOURNAL_CORRUPT', `${where} ${reason}, got ${got}`, {
      ...(isNoJson ? {} : { cause }),
      hint: UNCHANGED,
    });
  }
}

const message = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause));

/** Opens a journal for its one writer, who first reads it whole and cuts off a line that a crash tore. */
export async function openJournal(path: string): Promise<Journal> {
  const file = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NO_FOLLOW, 0o666);
  try {
    const scanned = await scan(path, () => undefined);
    await dropTornLine(file, scanned.size);
    if (scanned.size === 0) await syncDirectory(dirname(path));
    return journalWriter({ path, file, ...scanned });
  } catch (error) {
    await file.close();
    throw error;
  }
}

function journalWriter({ path, file, lines, ...before }: Scanned & { path: string; file: FileHandle }): Journal {
  let last = Promise.resolve();
  let { size, count } = before;
  const requireInPlace = () => requireSame(path, file, size);
  const appendLine = async (line: Buffer) => {
    await requireInPlace();
    size += line.length;
    count += 1;
    await file.appendFile(line);
    await file.datasync();
  };
  return {
    requireInPlace,
    end: () => ({ size, count, ...lines.soFar() }),
    append(event) {
      const line = Buffer.from(`${lines.write(event)}\n`);
      // Chained, so that a line is never glued to one that could not be written whole.
      last = last
        .then(() => appendLine(line))
        .catch((error) => {
          throw error instanceof SkillError ? error : unwritable(path, error);
        });
      return last;
    },
    async close() {
      await last.catch(() => undefined);
      await file.close();
      if (size === 0) await rm(path, { force: true });
    },
  };
}

/** What is appended to a file without a name is lost, and what follows the words of another cannot be read again. */
async function requireSame(path: string, file: FileHandle, size: number): Promise<void> {
  const [ours, there] = await Promise.all([file.stat(), orIfMissing(stat(path), undefined)]);
  const isSame = there !== undefined && there.ino === ours.ino && there.dev === ours.dev;
  if (isSame && ours.size === size) return;
  const what = isSame ? 'was changed by another program' : 'was deleted, moved or replaced';
  throw new SkillError('RUN_UNWRITABLE', `${shownPath(path)} ${what} while this run was writing it`, {
    hint: 'The run has stopped. Put the file back and start again, or delete what is left and start a new run.',
  });
}

async function dropTornLine(file: FileHandle, end: number): Promise<void> {
  if ((await file.stat()).size <= end) return;
  await file.truncate(end);
  await file.sync();
}

/** Makes the name of a new file as durable as its bytes. Where folders cannot be synced, the system does without. */
export const syncDirectory = (path: string) => syncFolder(path).catch(() => undefined);

const KEPT_FILE = 'state.json';

/** What a journal must have grown by: less is folded in no time, and a state of many megabytes is not written at each step. */
const LEAST_BYTES = 4 * 2 ** 20;
const LEAST_SHARE = 0.1;

/** The state at a place of a journal. */
export type KeptState = { readonly place: JournalPlace; readonly state: RunState };

/** Keeps a state as a view when the journal has grown by much since the last one, and at the end of a run. */
export function stateKeeper(
  journal: Pick<Journal, 'end'>,
  write: (views: Views) => Promise<void>,
): NonNullable<OpenRunStore['keepState']> {
  let keptSize = 0;
  return async (state, { isLast = false } = {}) => {
    const place = journal.end();
    const isLong = place.size >= LEAST_BYTES;
    const growth = place.size - keptSize;
    const isDue = isLast ? growth > 0 : growth >= Math.max(LEAST_BYTES, LEAST_SHARE * keptSize);
    if (!isLong || !isDue) return;
    await write({ [KEPT_FILE]: keptText({ place, state }) });
    keptSize = place.size;
  };
}

function keptText(kept: KeptState): string {
  const text = JSON.stringify(kept);
  return `${headOf(text)}\n${text}\n`;
}

const headOf = (text: string) => JSON.stringify({ format: STATE_FORMAT, sum: hash('sha256', text) });

/** The state that was kept of the journal of a run, if the journal still has the line that it was kept after. */
export async function readKeptState(directory: string, journal: string): Promise<KeptState | undefined> {
  const [head, text = ''] = (await readFile(join(directory, KEPT_FILE), 'utf8').catch(() => '')).split('\n');
  if (head !== headOf(text)) return undefined;
  const kept: KeptState = JSON.parse(text);
  return (await hasPlace(join(directory, journal), kept.place)) ? kept : undefined;
}

/** By the check of the last line before it, which covers all lines before it. */
async function hasPlace(path: string, { size, check }: JournalPlace): Promise<boolean> {
  const end = `,"check":"${check}"}\n`;
  try {
    await using file = await open(path, constants.O_RDONLY | NO_FOLLOW);
    const { buffer } = await file.read(Buffer.alloc(end.length), 0, end.length, size - end.length);
    return buffer.toString('latin1') === end;
  } catch (error) {
    if (isFileError(error)) return false; // folding it says what is wrong
    throw error;
  }
}
