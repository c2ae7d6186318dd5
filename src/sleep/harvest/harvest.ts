import { SkillError } from '../../core/contracts/index.ts';
import { groupBy } from '../../core/text/index.ts';
import { type LeftOut, SessionDigest } from '../../transcripts/index.ts';
import type { Cursor, Cursors } from '../state/sleep-state.ts';
import { type Ignored, type Scope, scopeTest } from './scope.ts';
import { folderOf, type IndexedFile, type SessionHead, timeOf } from './session-index.ts';
import { type FileTrouble, type UpdateOptions, updateIndex } from './update-index.ts';

export type HarvestOptions = UpdateOptions & {
  readonly scope: Scope;
  /** Where earlier nights got to. None: every session counts. */
  readonly cursors?: Cursors | undefined;
  /** Only sessions that ended at this moment or later: a date, or text that names its zone. */
  readonly since?: Date | string | undefined;
  /** How far back to look in a source without a cursor; 0 is all of it. */
  readonly lookbackHours?: number | undefined;
  /** Maximum number of sessions, the newest. The others wait for another night. */
  readonly limit?: number | undefined;
  readonly isIgnored?: Ignored | undefined;
};

/** How many sessions there are, and why the others were not chosen. Each is counted once. */
export type HarvestCounts = Readonly<
  Record<'files' | 'filesRead' | 'sessions' | 'otherProjects' | 'tooOld' | 'ignored' | 'seen' | 'overLimit', number>
> & { readonly leftOut: Readonly<Partial<Record<LeftOut, number>>> };

export type Harvest = {
  /** Newest first. */
  readonly sessions: readonly SessionDigest[];
  readonly considered: HarvestCounts;
  readonly trouble: readonly FileTrouble[];
  /** To be kept once these sessions were really considered. */
  readonly newCursor: Cursors;
};

/** The sessions of a scope that were not considered yet, from all sources. Unchanged files are not opened. */
export async function harvest(options: HarvestOptions): Promise<Harvest> {
  const since = readInstant(options.since);
  const inScope = await scopeTest(options.scope, options.place);
  const { files, read, trouble } = await updateIndex(options);
  const names = options.sources.map(({ name }) => name);
  const found = placedHeads(options.index.files().filter(({ source }) => names.includes(source)));
  const { chosen, waiting, counts } = chooseSessions(found, { ...options, inScope, since });
  const { sessions, unread } = await readTexts(chosen, options);
  const done = { chosen: chosen.filter((one) => !unread.includes(one)), waiting: [...waiting, ...unread] };
  return {
    sessions,
    considered: { files, filesRead: read, ...counts },
    trouble: [
      ...trouble,
      ...unread.map(({ file: { source, path } }) => ({ source, path, trouble: { unreadable: 1 } })),
    ],
    newCursor: advanceCursors(options, names, done),
  };
}

/** Throws for a time without its zone, and for a day that does not exist. */
export function readInstant(since: Date | string | undefined): number | undefined {
  if (since === undefined) return undefined;
  const isText = typeof since === 'string';
  const hasZone = !isText || /^\d{4}-\d{2}-\d{2}$|(Z|[+-]\d{2}:?\d{2})$/i.test(since);
  const ms = hasZone && !(isText && isNoDay(since)) ? new Date(since).getTime() : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new SkillError('USAGE', `since must be a moment that there is, with its zone, got ${JSON.stringify(since)}`, {
    hint: 'Such as 2026-01-31 (in UTC), 2026-01-31T22:10:00Z or 2026-01-31T22:10:00+08:00.',
  });
}

/** Such as February 30th, which `Date` takes for a day of March. */
function isNoDay(since: string): boolean {
  const day = /^\d{4}-\d{2}-\d{2}/.exec(since)?.[0];
  const date = new Date(`${day}T00:00:00Z`);
  return day !== undefined && (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== day);
}

/** In the given order, without the real folder, which stays in the index. Unread: those that are gone since they were found. */
async function readTexts(chosen: readonly PlacedHead[], { sources, place, redact, signal }: HarvestOptions) {
  const digests = new Map<PlacedHead, SessionDigest>();
  for (const inFile of groupBy(chosen, ({ file }) => file)) {
    const { file } = inFile[0]!;
    const only = new Set(inFile.map(({ head }) => head.sessionId));
    const source = sources.find(({ name }) => name === file.source)!;
    const { sessions } = await source.read(file, { place, redact, signal, only });
    for (const placed of inFile) {
      const digest = sessions.find(({ sessionId }) => sessionId === placed.head.sessionId);
      if (digest !== undefined) digests.set(placed, digest);
    }
  }
  const found = chosen.flatMap((placed) => digests.get(placed) ?? []);
  return {
    sessions: found.map(({ folder: _folder, ...digest }) => digest),
    unread: chosen.filter((placed) => !digests.has(placed)),
  };
}

type PlacedHead = { readonly head: SessionHead; readonly file: IndexedFile };

/** A session may lie in two files, as when it was archived: the fuller one counts, and a kept one before one left out. */
function placedHeads(files: readonly IndexedFile[]): PlacedHead[] {
  const found = new Map<string, PlacedHead>();
  for (const placed of files.flatMap((file) => file.heads.map((head) => ({ head, file })))) {
    const key = JSON.stringify([placed.head.source, placed.head.sessionId]);
    const other = found.get(key);
    if (other === undefined || fullness(placed) > fullness(other)) found.set(key, placed);
  }
  return [...found.values()].sort(newestFirst);
}

const fullness = ({ head }: PlacedHead) => turnsOf(head) + (head.leftOut === undefined ? 1e9 : 0);

const turnsOf = ({ nUserTurns, nAssistantTurns }: SessionHead) => nUserTurns + nAssistantTurns;

/** Sessions without a time come last; ties go by name, so that two machines agree. */
function newestFirst({ head: a }: PlacedHead, { head: b }: PlacedHead): number {
  const nameOf = ({ source, sessionId }: SessionHead) => `${source} ${sessionId}`;
  return (timeOf(b) || 0) - (timeOf(a) || 0) || (nameOf(a) < nameOf(b) ? -1 : 1);
}

type SessionChoice = Pick<HarvestOptions, 'cursors' | 'lookbackHours' | 'limit' | 'isIgnored' | 'now'> & {
  readonly inScope: (project: string) => boolean;
  readonly since?: number | undefined;
};

/** The sessions to consider now, those that the limit left over, and why the others do not count. */
function chooseSessions(found: readonly PlacedHead[], choice: SessionChoice) {
  const isSeen = seenTest(choice.cursors ?? {});
  const reasons = found.map(({ head }) => whyNot(head, choice, isSeen));
  const usable = found.filter((_, index) => reasons[index] === undefined);
  const limit = choice.limit ?? usable.length;
  const count = (reason: Reason) => reasons.filter((one) => one === reason).length;
  const leftOut = Object.fromEntries(LEFT_OUT.map((why) => [why, count(why)]).filter(([, times]) => times !== 0));
  return {
    chosen: usable.slice(0, limit),
    waiting: usable.slice(limit),
    counts: {
      sessions: found.length,
      otherProjects: count('other-project'),
      tooOld: count('too-old'),
      ignored: count('ignored'),
      leftOut,
      seen: count('seen'),
      overLimit: Math.max(0, usable.length - limit),
    },
  };
}

type Reason = 'other-project' | 'too-old' | 'ignored' | 'seen' | LeftOut;

const LEFT_OUT = SessionDigest.shape.leftOut.unwrap().options;

function whyNot(head: SessionHead, choice: SessionChoice, isSeen: (head: SessionHead) => boolean): Reason | undefined {
  const from = choice.cursors?.[head.source]?.from;
  const floor = choice.since ?? (from === undefined ? lookbackFloor(choice) : Date.parse(from));
  if (!choice.inScope(folderOf(head))) return 'other-project';
  if (timeOf(head) < floor) return 'too-old'; // never true for a session without a time
  if (choice.isIgnored?.(head)) return 'ignored';
  if (head.leftOut !== undefined) return head.leftOut;
  if (head.nUserTurns === 0) return 'no-prompt';
  return isSeen(head) ? 'seen' : undefined;
}

/** Where a source without a cursor begins. */
export const lookbackFloor = ({ lookbackHours = 0, now }: Pick<SessionChoice, 'lookbackHours' | 'now'>): number =>
  lookbackHours > 0 ? now - lookbackHours * 3_600_000 : 0;

function seenTest(cursors: Cursors): (head: SessionHead) => boolean {
  const markOf = (source: string, { sessionId, endedAt, turns }: Considered) =>
    `${source}\n${endedAt}\n${turns}\n${sessionId}`;
  const marks = new Set(
    Object.entries(cursors).flatMap(([source, { considered }]) => considered.map((one) => markOf(source, one))),
  );
  return (head) => marks.has(markOf(head.source, consideredOf(head)));
}

type Considered = Cursor['considered'][number];

const consideredOf = (head: SessionHead): Considered => ({
  sessionId: head.sessionId,
  endedAt: head.endedAt,
  turns: turnsOf(head),
});

/** How long considered sessions are remembered one by one. Older ones are done with as a whole. */
const REMEMBERED_MS = 30 * 86_400_000;

type Choice = { readonly chosen: readonly PlacedHead[]; readonly waiting: readonly PlacedHead[] };

/** The cursors after a harvest: past the sessions that were considered, and past no other. */
function advanceCursors(options: HarvestOptions, sources: readonly string[], { chosen, waiting }: Choice): Cursors {
  const { cursors = {}, now } = options;
  const of = (placed: readonly PlacedHead[], name: string) =>
    placed.map(({ head }) => head).filter(({ source }) => source === name);
  const next = sources.map((name) => {
    const cursor = cursors[name] ?? { from: instant(lookbackFloor(options)), considered: [] };
    return [name, advance(cursor, of(chosen, name), of(waiting, name), now)] as const;
  });
  return { ...cursors, ...Object.fromEntries(next) };
}

function advance(cursor: Cursor, considered: readonly SessionHead[], waiting: readonly SessionHead[], now: number) {
  const again = new Set(considered.map(({ sessionId }) => sessionId));
  const all = [...cursor.considered.filter(({ sessionId }) => !again.has(sessionId)), ...considered.map(consideredOf)];
  const horizon = Math.min(now - REMEMBERED_MS, ...waiting.map(timeOf).filter(Number.isFinite));
  const from = Math.max(Date.parse(cursor.from) || 0, horizon);
  return { from: instant(from), considered: all.filter((one) => !(timeOf(one) < from)) };
}

const instant = (ms: number) => new Date(Math.max(0, ms)).toISOString();
