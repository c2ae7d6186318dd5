import { z } from 'zod';
import { redactSecrets } from '../core/guard/index.ts';
import { withoutEscapes } from '../core/text/index.ts';

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

const texts = z.array(z.string()).default([]);

/**
 * What is kept of a session between a person and a coding agent. Redacted: no secret, no path of a home, no argument and no
 * output of a tool, no reasoning. Every text in it is data of somebody else, never a path to open or an instruction.
 */
export const SessionDigest = z.object({
  /** Which agent: the name of a source. */
  source: z.string(),
  sessionId: z.string(),
  /** The folder that the agent worked in, `~/…` below the home, `~[user]/…` below another's. Empty: not known. */
  project: z.string().default(''),
  /** The real path of it, by which a session is found and left out. Kept in the private index alone: never shown, never sent. */
  folder: z.string().optional(),
  gitBranch: z.string().default(''),
  /** In UTC, as `2026-01-31T22:10:05.000Z`. Empty: not known. */
  startedAt: z.string().default(''),
  endedAt: z.string().default(''),
  /** What the person asked, without commands and notices. */
  userPrompts: texts,
  /** The agent's last texts, at most five. */
  assistantFinals: texts,
  toolsUsed: texts,
  skillsUsed: texts,
  filesTouched: texts,
  /** `pos:…` and `neg:…`, in the order in which they were said. */
  feedbackSignals: texts,
  nUserTurns: z.number().int().nonnegative().default(0),
  nAssistantTurns: z.number().int().nonnegative().default(0),
  /** Where it was read, for people. */
  rawPath: z.string().default(''),
  /** Why nothing is learned from it, if so. */
  leftOut: z.enum(['no-prompt', 'own-call', 'sub-agent', 'headless', 'asked-not-to']).optional(),
});
export type SessionDigest = z.infer<typeof SessionDigest>;
export type LeftOut = NonNullable<SessionDigest['leftOut']>;

/** Takes out what must not be kept. */
export type Redact = (text: string) => string;

/** Of a prompt or an answer, in UTF-16 units. */
export const MAX_TEXT_LENGTH = 4_000;
const MAX_NAME_LENGTH = 300;

/** More than this is not even looked at, so that one pasted file cannot cost seconds. */
const MAX_REDACTED_LENGTH = 1.5 * MAX_TEXT_LENGTH;

/** Where a text was cut before redaction, a secret may have been cut in two: this much of its end is not kept. */
const CUT_MARGIN = 1_000;

/** Redacted, then shortened: the other way round, half a secret could stay behind. */
export function keptText(text: string, redact: Redact): string {
  const isCut = text.length > MAX_REDACTED_LENGTH;
  const redacted = withoutHidden(redact(isCut ? cut(text, MAX_REDACTED_LENGTH) : text), redact).trim();
  const safeLength = isCut ? Math.max(0, redacted.length - CUT_MARGIN) : redacted.length;
  const isShortened = isCut || redacted.length > MAX_TEXT_LENGTH;
  return isShortened ? ownCopy(`${cut(redacted, Math.min(MAX_TEXT_LENGTH, safeLength))} …`) : redacted;
}

/** A part of a string keeps the whole of it in memory: megabytes for a line of a prompt. */
export const ownCopy = (text: string) => Buffer.from(text).toString();

/**
 * Without escape sequences, since no page would show them, and nothing may be sent that was not shown. They may have told
 * that something is a secret, and may have cut one in two: so a text that had some is redacted before and after.
 */
function withoutHidden(text: string, redact: Redact): string {
  const shown = withoutEscapes(text);
  return shown === text ? text : redact(shown);
}

/** Never through the middle of a character. */
function cut(text: string, length: number): string {
  const isPair = length < text.length && /[\ud800-\udbff]/.test(text.charAt(length - 1));
  return text.slice(0, isPair ? length - 1 : length);
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** A name on one line: a branch, a session, a skill. */
export function keptName(name: string, redact: Redact): string {
  const line = cut(name, MAX_NAME_LENGTH).replace(INVISIBLE, ' ').trim();
  return redact(line);
}

/** A path with its home, for comparing, and without secrets all the same. Longer ones no system has. */
export const realPath = (path: string) => redactSecrets(ownCopy(cut(path, 4_096)));

/** A path, `~/…` below the home and `~[user]/…` below that of somebody else. For people; never to be opened. */
export function keptPath(path: string, { home }: { readonly home: string }, redact: Redact): string {
  const flat = keptName(path, (text) => text).replace(/(?<=[^\\/]|^[\\/])[\\/]+$/, '');
  const root = home.replace(/(?<![\\/])[\\/]+$/, '');
  const isBelow = root !== '' && flat.startsWith(root) && /^(?:[\\/]|$)/.test(flat.slice(root.length));
  if (isBelow) return redact(`~${flat.slice(root.length).replaceAll('\\', '/')}`);
  return redact(flat).replace(/^~(?=$|[\\/])/, flat.startsWith('~') ? '~' : '~[user]'); // `~` alone would be mine
}

/** When something was said: ISO 8601 with an offset or `Z`, or milliseconds. What cannot be read is not known. */
export type Moment = string | number | undefined;

const WITH_OFFSET = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)? ?(?:Z|[+-]\d\d:?\d\d)$/;
const WITHOUT_OFFSET = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?$/;

/** As agents write it. */
const IN_UTC = /^20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

const END_OF_TIME_MS = Date.UTC(9999, 11, 31);

/** In UTC, so that times can be compared as texts. Empty: not known. */
export function toUtc(moment: Moment): string {
  if (typeof moment === 'string' && IN_UTC.test(moment)) return moment;
  const ms = typeof moment === 'string' ? msOf(moment.trim()) : moment;
  return ms !== undefined && ms > 0 && ms < END_OF_TIME_MS ? new Date(ms).toISOString() : '';
}

/** A time without an offset says nothing about where it was; what a computer's own zone makes of it would be a guess. */
function msOf(text: string): number | undefined {
  if (!WITH_OFFSET.test(text)) return undefined;
  return Date.parse(text.includes(' ') ? text.replace(' ', 'T').replace(' ', '') : text);
}

/** For a source whose times have no offset and are in UTC, such as those of SQLite. */
export function asUtc(text: string): string {
  return WITHOUT_OFFSET.test(text.trim()) ? `${text.trim().replace(' ', 'T')}Z` : text;
}
