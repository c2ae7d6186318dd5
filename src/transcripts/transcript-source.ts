import type { Redact } from './kept-text.ts';
import type { SessionDigest } from './session-digest.ts';

/** Where this process runs. Sources look nowhere else, so that a test is a folder. */
export type Place = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
};

/** A file that holds a session, or a database that holds many. What is here comes from `stat`, without opening it. */
export type TranscriptFile = {
  readonly path: string;
  /** Device and inode: a file that was replaced is another one. */
  readonly identity: string;
  readonly size: number;
  readonly mtimeMs: number;
};

/** What was wrong with a transcript, by kind. None of it ends a harvest. */
export type TroubleKind =
  | 'malformed' // a line or row that is no record
  | 'invalid-utf8'
  | 'torn' // a last line without an end: the agent may still be writing
  | 'too-long' // a line over the limit
  | 'too-large' // a compressed file that grows over the limit
  | 'unreadable' // the file as a whole: permissions, damaged database, not the expected shape
  | 'unknown-version';
export type Trouble = Readonly<Partial<Record<TroubleKind, number>>>;

/** How far a file was read, and what of it is kept. Given back, only what is new is read. */
export type ReadSoFar = {
  /** A file of lines: bytes up to the end of the last whole line. A database: its own clock. */
  readonly position: number;
  readonly sessions: readonly SessionDigest[];
};

export type ReadOutcome = ReadSoFar & { readonly trouble: Trouble };

export type ReadOptions = {
  readonly place: Place;
  /** Applied to every text before it is kept. */
  readonly redact?: Redact | undefined;
  /** Only what comes after this is read, where the source can. */
  readonly before?: ReadSoFar | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The transcripts of one agent. Adding an agent is a file in `sources/`, a row in `sources.ts` and a fixture. */
export interface TranscriptSource {
  /** As in the setting `source`. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** The agent's own variable for its home. The setting `homes` stands in for it. */
  readonly homeVariable?: string;
  /** Folders and databases to look at, by the agent's own variables. They need not exist. */
  roots(place: Place): readonly string[];
  /** What lies below a root and may hold sessions. Opens no transcript, follows no links out of the root. */
  list(root: string): Promise<readonly TranscriptFile[]>;
  /** Throws only when aborted: a file that cannot be read is trouble. */
  read(file: TranscriptFile, options: ReadOptions): Promise<ReadOutcome>;
}
