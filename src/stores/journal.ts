import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SkillError } from '../core/errors.ts';
import type { RunEvent } from '../core/event.ts';
import { STAGES } from '../core/step-action.ts';
import { fileReason, isMissing, unwritable } from './file-error.ts';
import { shownPath } from './shown-path.ts';

type Journal = {
  /** Resolves once the event would survive a crash of the machine. After one failure nothing more is written. */
  append(event: RunEvent): Promise<void>;
  /** Waits for what is being written. A journal that is still empty is removed: it says no more than none. */
  close(): Promise<void>;
};

const NEWLINE = 0x0a;
const CHUNK_BYTES = 64 * 1024;

const KNOWN_TYPES: Readonly<Record<RunEvent['type'], true>> = {
  'run-start': true,
  'baseline-end': true,
  'step-start': true,
  'stage-end': true,
  'lr-decision': true,
  'salvage-end': true,
  'removal-end': true,
  'search-end': true,
  'step-end': true,
  'slow-update-end': true,
  'meta-skill-end': true,
  'epoch-end': true,
  'finalists-end': true,
  'prune-end': true,
  'final-selection-end': true,
  'final-measurement-end': true,
  'test-look': true,
  'test-end': true,
  'run-end': true,
};

/**
 * The events of a journal, in order; none when there is no file. Changes nothing.
 * A last line without its newline is left out: a crash tore it, or it is being written right now.
 */
export async function readJournal(path: string): Promise<RunEvent[]> {
  const bytes = await readBytes(path);
  const shown = shownPath(path);
  const events: RunEvent[] = [];
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    events.push(parseLine(bytes.toString('utf8', start, end), `${shown}:${events.length + 1}`));
    start = end + 1;
  }
  return events;
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    if (isMissing(cause)) return Buffer.alloc(0);
    const hint = 'Check that it is a file and that you may read it.';
    throw new SkillError('JOURNAL_CORRUPT', `${shownPath(path)} cannot be read: ${fileReason(cause)}`, { cause, hint });
  }
}

function parseLine(line: string, where: string): RunEvent {
  try {
    const value: unknown = JSON.parse(line);
    if (isRunEvent(value)) return value;
  } catch (cause) {
    throw corrupt(where, line, cause);
  }
  throw corrupt(where, line);
}

function corrupt(where: string, line: string, cause?: unknown): SkillError {
  const preview = line.length > 60 ? `${line.slice(0, 60)}…` : line;
  const message = `${where} must be a JSON object with a "type" that this version knows, got ${preview || 'an empty line'}`;
  const hint = 'Nothing was changed. Restore the file, or move this run away.';
  return new SkillError('JOURNAL_CORRUPT', message, { cause, hint });
}

/** Looks at the names only: whoever wrote a whole line wrote what belongs to its type. */
function isRunEvent(value: unknown): value is RunEvent {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  if (typeof value.type !== 'string' || !Object.hasOwn(KNOWN_TYPES, value.type)) return false;
  return value.type !== 'stage-end' || ('stage' in value && STAGES.some((stage) => stage === value.stage));
}

/** Opens a journal for its one writer, who first cuts off a line that a crash tore. */
export async function openJournal(path: string): Promise<Journal> {
  const file = await open(path, 'a+');
  try {
    const isEmpty = (await dropTornLine(file)) === 0;
    if (isEmpty) await syncDirectory(dirname(path));
    return journalWriter({ path, file, isEmpty });
  } catch (error) {
    await file.close();
    throw error;
  }
}

function journalWriter({ path, file, isEmpty }: { path: string; file: FileHandle; isEmpty: boolean }): Journal {
  let last = Promise.resolve();
  let isUntouched = isEmpty;
  return {
    append(event) {
      isUntouched = false;
      // Chained, so that a line is never glued to one that could not be written whole.
      last = last
        .then(() => appendLine(file, `${JSON.stringify(event)}\n`))
        .catch((error) => {
          throw error instanceof SkillError ? error : unwritable(path, error);
        });
      return last;
    },
    async close() {
      await last.catch(() => undefined);
      await file.close();
      if (isUntouched) await rm(path, { force: true });
    },
  };
}

async function appendLine(file: FileHandle, line: string): Promise<void> {
  await file.appendFile(line);
  await file.datasync();
}

/** Answers with the size that is left. */
async function dropTornLine(file: FileHandle): Promise<number> {
  const { size } = await file.stat();
  const end = await endOfLastLine(file, size);
  if (end < size) {
    await file.truncate(end);
    await file.sync();
  }
  return end;
}

async function endOfLastLine(file: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.alloc(Math.min(size, CHUNK_BYTES));
  for (let end = size; end > 0; end -= chunk.length) {
    const start = Math.max(0, end - chunk.length);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const newline = chunk.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (newline !== -1) return start + newline + 1;
  }
  return 0;
}

/** Makes the name of a new file as durable as its bytes. Where folders cannot be synced, the system does without. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r').catch(() => undefined);
  await directory?.sync().catch(() => undefined);
  await directory?.close();
}
