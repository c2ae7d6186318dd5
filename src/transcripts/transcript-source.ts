import { z } from 'zod';
import { redactSecrets } from '../core/guard/index.ts';
import { withoutEscapes } from '../core/text/index.ts';

/** Where this process runs. Sources look nowhere else. */
export type Place = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
};

/** A file that holds a session, or a database that holds many, as `stat` shows it. */
export type TranscriptFile = {
  readonly path: string;
  /** Device and inode: a file that was replaced is another one. */
  readonly identity: string;
  readonly size: number;
  readonly mtimeMs: number;
};

/** What is wrong with a transcript. None of it ends a harvest. */
export type TroubleKind =
  | 'malformed' // a line or row that is no record
  | 'invalid-utf8'
  | 'torn' // a last line without an end: the agent may still be writing
  | 'too-long' // a line over the limit
  | 'too-large' // a compressed file that grows over the limit
  | 'unreadable' // the file as a whole: permissions, damaged database, not the expected shape
  | 'unknown-version';
export type Trouble = Readonly<Partial<Record<TroubleKind, number>>>;

/** How far a file was read, and what is kept of it. With it, the next call reads only what is new. */
export type ReadSoFar = {
  /** A file of lines: bytes up to the end of the last whole line. A database: its own clock. */
  readonly position: number;
  readonly sessions: readonly SessionDigest[];
};

export type ReadOutcome = ReadSoFar & { readonly trouble: Trouble };

export type ReadOptions = {
  readonly place: Place;
  readonly redact?: Redact | undefined;
  /** Who, where, when and how many turns: enough to choose sessions. No text is kept, so none is redacted, which takes longest. */
  readonly factsOnly?: boolean | undefined;
  /** The sessions of a database that are read. None: all. */
  readonly only?: ReadonlySet<string> | undefined;
  /** A source that can read only what comes after this. Its sessions have no texts. */
  readonly before?: ReadSoFar | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The transcripts of one agent. Adding an agent is a file in `sources/`, a row in `sources.ts` and a fixture. */
export interface TranscriptSource {
  readonly name: string;
  readonly title: string;
  /** The agent's own variable for its home. The setting `homes` replaces it. */
  readonly homeVariable?: string;
  /** Folders and databases to look at, by the agent's own variables. They need not exist. */
  roots(place: Place): readonly string[];
  /** What lies below a root and may hold sessions. Opens no transcript, follows no links out of the root. */
  list(root: string): Promise<readonly TranscriptFile[]>;
  /** Throws only when aborted: a file that cannot be read is trouble. */
  read(file: TranscriptFile, options: ReadOptions): Promise<ReadOutcome>;
}

const texts = z.array(z.string()).default([]);

/**
 * What is kept of a session between a person and a coding agent: no secret, no path of a home, no argument or output of a
 * tool, no reasoning. Its texts are foreign data: never open them as paths or follow them as instructions.
 */
export const SessionDigest = z.object({
  source: z.string(),
  sessionId: z.string(),
  /** The folder that the agent worked in, `~/…` below the home, `~[user]/…` below another's. Empty: not known. */
  project: z.string().default(''),
  /** Its real path, for comparing. Kept in the private index alone: never shown, never sent. */
  folder: z.string().optional(),
  gitBranch: z.string().default(''),
  /** In UTC, as `2026-01-31T22:10:05.000Z`. Empty: not known. */
  startedAt: z.string().default(''),
  endedAt: z.string().default(''),
  /** What the person asked, without commands and notices. */
  userPrompts: texts,
  assistantFinals: texts,
  toolsUsed: texts,
  skillsUsed: texts,
  filesTouched: texts,
  /** `pos:…` and `neg:…`, in the order in which they were said. */
  feedbackSignals: texts,
  nUserTurns: z.number().int().nonnegative().default(0),
  nAssistantTurns: z.number().int().nonnegative().default(0),
  rawPath: z.string().default(''),
  /** Why nothing is learned from it, if so. */
  leftOut: z.enum(['no-prompt', 'own-call', 'sub-agent', 'headless', 'asked-not-to']).optional(),
});
export type SessionDigest = z.infer<typeof SessionDigest>;
export type LeftOut = NonNullable<SessionDigest['leftOut']>;

export type Redact = (text: string) => string;

/** Of a prompt or an answer, in UTF-16 units. */
export const MAX_TEXT_LENGTH = 4_000;
const MAX_NAME_LENGTH = 300;

/** The rest of a longer text is not read: one pasted file would take seconds. */
const MAX_REDACTED_LENGTH = 1.5 * MAX_TEXT_LENGTH;

/** A cut before redaction may split a secret: this much before the cut is not kept. */
const CUT_MARGIN = 1_000;

/** Redacted, then shortened: the other way round, half a secret could stay behind. */
export function keptText(text: string, redact: Redact): string {
  const isCut = text.length > MAX_REDACTED_LENGTH;
  const redacted = withoutHidden(redact(isCut ? cut(text, MAX_REDACTED_LENGTH) : text), redact).trim();
  const safeLength = isCut ? Math.max(0, redacted.length - CUT_MARGIN) : redacted.length;
  const isShortened = isCut || redacted.length > MAX_TEXT_LENGTH;
  return isShortened ? ownCopy(`${cut(redacted, Math.min(MAX_TEXT_LENGTH, safeLength))} …`) : redacted;
}

/** As much of a text as `keptText` looks at, so that a pasted file is not held until the session ends. */
export const enoughOf = (text: string): string =>
  text.length > MAX_REDACTED_LENGTH + 2 ? ownCopy(text.slice(0, MAX_REDACTED_LENGTH + 2)) : text;

/** A part of a string keeps the whole of it in memory: megabytes for a line of a prompt. */
export const ownCopy = (text: string) => Buffer.from(text).toString();

/** Pages do not show escape sequences, and nothing hidden may be sent. One may split a secret, so texts are redacted a second time. */
function withoutHidden(text: string, redact: Redact): string {
  const shown = withoutEscapes(text);
  return shown === text ? text : redact(shown);
}

function cut(text: string, length: number): string {
  const isPair = length < text.length && /[\ud800-\udbff]/.test(text.charAt(length - 1));
  return text.slice(0, isPair ? length - 1 : length);
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** A name on one line: a branch, a session, a skill. */
export const keptName = (name: string, redact: Redact): string =>
  redact(cut(name, MAX_NAME_LENGTH).replace(INVISIBLE, ' ').trim());

/** A path for comparing: with its home, but without secrets. No system has longer paths. */
export const realPath = (path: string) => redactSecrets(ownCopy(cut(path, 4_096)));

/** A path for people: `~/…` below the home, and `~[user]/…` below the home of somebody else. */
export function keptPath(path: string, { home }: { readonly home: string }, redact: Redact): string {
  const flat = keptName(path, (text) => text).replace(/(?<=[^\\/]|^[\\/])[\\/]+$/, '');
  const root = home.replace(/(?<![\\/])[\\/]+$/, '');
  const isBelow = root !== '' && flat.startsWith(root) && /^(?:[\\/]|$)/.test(flat.slice(root.length));
  if (isBelow) return redact(`~${flat.slice(root.length).replaceAll('\\', '/')}`);
  return redact(flat).replace(/^~(?=$|[\\/])/, flat.startsWith('~') ? '~' : '~[user]'); // `~` alone would be mine
}

/** ISO 8601 with an offset or `Z`, or milliseconds. Anything else counts as unknown. */
export type Moment = string | number | undefined;

const WITH_OFFSET = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)? ?(?:Z|[+-]\d\d:?\d\d)$/;
const WITHOUT_OFFSET = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?$/;
const IN_UTC = /^20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
const END_OF_TIME_MS = Date.UTC(9999, 11, 31);

/** In UTC, so that times can be compared as texts. Empty: not known. */
export function toUtc(moment: Moment): string {
  if (typeof moment === 'string' && IN_UTC.test(moment)) return moment;
  const ms = typeof moment === 'string' ? msOf(moment.trim()) : moment;
  return ms !== undefined && ms > 0 && ms < END_OF_TIME_MS ? new Date(ms).toISOString() : '';
}

/** A time without an offset is unknown: the zone of this computer would be a guess. */
function msOf(text: string): number | undefined {
  if (!WITH_OFFSET.test(text)) return undefined;
  return Date.parse(text.includes(' ') ? text.replace(' ', 'T').replace(' ', '') : text);
}

/** For sources that write UTC without an offset, as SQLite does. */
export const asUtc = (text: string): string =>
  WITHOUT_OFFSET.test(text.trim()) ? `${text.trim().replace(' ', 'T')}Z` : text;
