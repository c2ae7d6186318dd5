import { collectSession, type SessionCollector } from '../session-collector.ts';
import type { ReadOptions, ReadOutcome, TranscriptFile } from '../transcript-source.ts';
import type { JsonObject } from './json.ts';
import { type LineFile, readRecords } from './lines.ts';

type SessionFile = {
  readonly source: string;
  readonly file: TranscriptFile;
  readonly options: ReadOptions;
  readonly wanted?: LineFile['wanted'];
  /**
   * Whether a record says all there is to know, so that a file that grew is read from where it ended. Not so where a later
   * record changes an earlier one: such a file is read again.
   */
  readonly canContinue: boolean;
};

/** A file of lines that holds one session. `take` puts each record into the session; `end` is called after the last one. */
export async function readSession(
  { source, file, options, wanted, canContinue }: SessionFile,
  take: (record: JsonObject, session: SessionCollector) => void,
  end: (session: SessionCollector) => void = () => {},
): Promise<ReadOutcome> {
  const { place, redact, signal } = options;
  const before = canContinue ? knownBeginning(file, options.before) : undefined;
  const session = collectSession({ source, rawPath: file.path, place, redact, before: before?.sessions[0] });
  const lines = { path: file.path, from: before?.position, wanted, signal };
  const { position, trouble } = await readRecords(lines, (record) => take(record, session));
  end(session);
  const digest = session.digest();
  // Where nothing was said yet, what is known of the session would be lost: the file is then read from its beginning again.
  return digest === undefined ? { position: 0, sessions: [], trouble } : { position, sessions: [digest], trouble };
}

/** A file that is shorter than before, or of which nothing is kept, is another one. */
function knownBeginning(file: TranscriptFile, before: ReadOptions['before']): ReadOptions['before'] {
  return before !== undefined && before.sessions.length === 1 && before.position <= file.size ? before : undefined;
}
