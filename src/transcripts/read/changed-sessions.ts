import type { SessionDigest } from '../session-digest.ts';
import type { ReadOptions, ReadSoFar, TranscriptFile, TroubleKind } from '../transcript-source.ts';
import { DamagedRows } from './foreign-rows.ts';

type SessionRow = { readonly id: string | undefined; readonly updatedMs: number | undefined };
type Reading<Row> = {
  readonly file: TranscriptFile;
  readonly options: ReadOptions;
  readonly count: (kind: TroubleKind) => void;
  readonly read: (row: Row) => SessionDigest | undefined;
};

/**
 * The sessions of a database, of which only those are read that its own clock says have changed. One that is gone from
 * the database is gone from what is kept. One that is damaged keeps what was read before, and the clock stays behind it.
 */
export function changedSessions<Row extends SessionRow>(rows: readonly Row[], reading: Reading<Row>): ReadSoFar {
  const { file, options, count, read } = reading;
  const known = new Map(options.before?.sessions.map((session) => [session.sessionId, session]));
  const since = options.before?.position ?? 0;
  const sessions: SessionDigest[] = [];
  let [position, damagedMs] = [0, Number.POSITIVE_INFINITY];
  for (const row of rows) {
    options.signal?.throwIfAborted();
    const before = known.get(row.id ?? '');
    const updatedMs = clockOf(row, file);
    const isSame = before !== undefined && updatedMs > 0 && updatedMs < since;
    const session = isSame ? before : tried(() => read(row));
    if (session === 'damaged') count('unreadable');
    if (session === 'damaged') damagedMs = Math.min(damagedMs, updatedMs);
    position = Math.max(position, updatedMs);
    const kept = session === 'damaged' ? before : session;
    if (kept !== undefined) sessions.push(kept);
  }
  return { position: Math.max(0, Math.min(position, damagedMs - 1)), sessions };
}

function tried<Value>(read: () => Value): Value | 'damaged' {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamagedRows) return 'damaged';
    throw error;
  }
}

const DAY_MS = 86_400_000;

/** A time after the file was last written is a fault, and would hide everything that comes later. */
function clockOf({ updatedMs = 0 }: SessionRow, { mtimeMs }: TranscriptFile): number {
  return updatedMs > 0 && updatedMs < mtimeMs + DAY_MS ? updatedMs : 0;
}
