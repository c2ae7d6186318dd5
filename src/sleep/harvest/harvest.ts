import { SkillError } from '../../core/contracts/index.ts';
import { type LeftOut, SessionDigest } from '../../transcripts/index.ts';
import type { Cursor, Cursors } from '../state/sleep-state.ts';
import type { Ignored } from './ignore.ts';
import { type Scope, scopeTest } from './scope.ts';
import { folderOf, type IndexedFile, type SessionHead, timeOf } from './session-index.ts';
import { type FileTrouble, type UpdateOptions, updateIndex } from './update-index.ts';

export type HarvestOptions = UpdateOptions & {
  readonly scope: Scope;
  /** Where earlier nights got to. None: every session counts. */
  readonly cursors?: Cursors | undefined;
  /** Only sessions that ended at this moment or later: a date, or text that names its zone. */
  readonly since?: Date | string | undefined;
  /** How far back a source is looked at that has no cursor; 0 is all of it. */
  readonly lookbackHours?: number | undefined;
  /** Most sessions, the newest. The others wait for another night. */
  readonly limit?: number | undefined;
  readonly isIgnored?: Ignored | undefined;
};

export type HarvestCounts = SessionCounts & { readonly files: number; readonly filesRead: number };

export type Harvest = {
  /** Newest first. */
  readonly sessions: readonly SessionDigest[];
  readonly considered: HarvestCounts;
  readonly trouble: readonly FileTrouble[];
  /** To be kept once these sessions were really considered. */
  readonly newCursor: Cursors;
};

/** The sessions of a scope that were not considered yet, from all sources. Files that have not changed are not opened. */
export async function harvest(options: HarvestOptions): Promise<Harvest> {
  const since = readInstant(options.since);
  const inScope = await scopeTest(options.scope, options.place);
  const { files, read, trouble } = await updateIndex(options);
  const names = new Set(options.sources.map(({ name }) => name));
  const found = placedHeads(options.index.files().filter(({ source }) => names.has(source)));
  const { chosen, waiting, counts } = chooseSessions(found, { ...options, inScope, since });
  const sessions = await digestsOf(chosen, options);
  const newCursor = advanceCursors({
    cursors: options.cursors ?? {},
    floor: lookbackFloor(options),
    sources: [...names],
    considered: chosen.map(({ head }) => head),
    waiting,
    now: options.now,
  });
  const considered = { files, filesRead: read, ...counts };
  return { sessions, considered, trouble, newCursor };
}

/** Instants are compared, never texts: a clock on the wall without its zone is no instant. */
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

/** In the order asked for, without what only the index may know. What it lost is read again. */
async function digestsOf(chosen: readonly Placed[], options: HarvestOptions): Promise<SessionDigest[]> {
  const files = [...new Set(chosen.map(({ file }) => file))];
  const digests = new Map(files.map((file) => [file, options.index.digests(file)]));
  const lost = files.filter((file) => digests.get(file) === undefined);
  if (lost.length > 0) {
    options.index.drop(lost);
    await updateIndex(options);
    for (const file of lost) digests.set(file, options.index.digests(file));
  }
  return chosen
    .flatMap(
      ({ head, file }) =>
        digests
          .get(file)
          ?.filter(({ sessionId }) => sessionId === head.sessionId)
          .slice(0, 1) ?? [],
    )
    .map(({ folder: _folder, ...digest }) => digest);
}

type Placed = { readonly head: SessionHead; readonly file: IndexedFile };

/** How many sessions there are, and why the others were not chosen. Each is counted once. */
type SessionCounts = {
  readonly sessions: number;
  readonly otherProjects: number;
  readonly tooOld: number;
  readonly ignored: number;
  readonly leftOut: Readonly<Partial<Record<LeftOut, number>>>;
  readonly seen: number;
  readonly overLimit: number;
};

/** A session may lie in two files, as when it was archived: the fuller one counts, and one that is kept before one left out. */
function placedHeads(files: readonly IndexedFile[]): Placed[] {
  const found = new Map<string, Placed>();
  for (const placed of files.flatMap((file) => file.heads.map((head) => ({ head, file })))) {
    const key = JSON.stringify([placed.head.source, placed.head.sessionId]);
    const other = found.get(key);
    if (other === undefined || fullness(placed) > fullness(other)) found.set(key, placed);
  }
  return [...found.values()].sort(newestFirst);
}

const fullness = ({ head }: Placed) => head.turns + (head.leftOut === undefined ? 1e9 : 0);

/** Those whose time is not known come last; ties by name, so that two machines agree. */
function newestFirst({ head: a }: Placed, { head: b }: Placed): number {
  const [timeA, timeB] = [timeOf(a) || 0, timeOf(b) || 0];
  return timeB - timeA || (nameOf(a) < nameOf(b) ? -1 : 1);
}

const nameOf = ({ source, sessionId }: SessionHead) => `${source} ${sessionId}`;

type Choice = {
  readonly inScope: (project: string) => boolean;
  readonly cursors?: Cursors | undefined;
  /** In milliseconds. */
  readonly since?: number | undefined;
  readonly lookbackHours?: number | undefined;
  readonly limit?: number | undefined;
  readonly isIgnored?: Ignored | undefined;
  readonly now: number;
};

type Chosen = {
  readonly chosen: readonly Placed[];
  /** What the limit left over. */
  readonly waiting: readonly SessionHead[];
  readonly counts: SessionCounts;
};

/** The sessions that are to be considered now, in the order given. */
function chooseSessions(found: readonly Placed[], choice: Choice): Chosen {
  const isSeen = seenTest(choice.cursors ?? {});
  const reasons = found.map(({ head }) => whyNot(head, choice, isSeen));
  const usable = found.filter((_, index) => reasons[index] === undefined);
  const limit = choice.limit ?? usable.length;
  const count = (reason: Reason) => reasons.filter((one) => one === reason).length;
  const leftOut = Object.fromEntries(
    LEFT_OUT.map((why) => [why, count(why)] as const).filter(([, times]) => times > 0),
  );
  return {
    chosen: usable.slice(0, limit),
    waiting: usable.slice(limit).map(({ head }) => head),
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

function whyNot(head: SessionHead, choice: Choice, isSeen: (head: SessionHead) => boolean): Reason | undefined {
  if (!choice.inScope(folderOf(head))) return 'other-project';
  if (timeOf(head) < floorOf(head, choice)) return 'too-old'; // A session without a time never is.
  if (choice.isIgnored?.(head)) return 'ignored';
  if (head.leftOut !== undefined) return head.leftOut;
  if (head.prompts === 0) return 'no-prompt';
  return isSeen(head) ? 'seen' : undefined;
}

function floorOf({ source }: SessionHead, { since, cursors = {}, ...choice }: Choice): number {
  if (since !== undefined) return since;
  const from = cursors[source]?.from;
  return from === undefined ? lookbackFloor(choice) : Date.parse(from);
}

/** Where a source begins that has no cursor. */
export const lookbackFloor = ({ lookbackHours = 0, now }: Pick<Choice, 'lookbackHours' | 'now'>): number =>
  lookbackHours > 0 ? now - lookbackHours * 3_600_000 : 0;

/** How long considered sessions are remembered one by one. Older ones are done with as a whole. */
const REMEMBERED_MS = 30 * 86_400_000;

/** Whether a session was considered as it is now. One that has grown since was not. */
function seenTest(cursors: Cursors): (head: SessionHead) => boolean {
  const marks = new Set(
    Object.entries(cursors).flatMap(([source, { considered }]) =>
      considered.map(({ sessionId, endedAt, turns }) => markOf({ source, sessionId, endedAt, turns })),
    ),
  );
  return (head) => marks.has(markOf(head));
}

type Marked = Pick<SessionHead, 'source' | 'sessionId' | 'endedAt' | 'turns'>;
const markOf = ({ source, sessionId, endedAt, turns }: Marked) => `${source}\n${endedAt}\n${turns}\n${sessionId}`;

type Advance = {
  readonly cursors: Cursors;
  /** Where a source begins that has no cursor yet: in milliseconds. */
  readonly floor: number;
  readonly sources: readonly string[];
  /** What was looked at this time. */
  readonly considered: readonly SessionHead[];
  /** What was not, and must not be lost. */
  readonly waiting: readonly SessionHead[];
  readonly now: number;
};

/** The cursors after a harvest: past the sessions that were considered, and past no other. */
function advanceCursors({ cursors, floor, sources, considered, waiting, now }: Advance): Cursors {
  const of = (heads: readonly SessionHead[], name: string) => heads.filter(({ source }) => source === name);
  const next = sources.map((name) => {
    const cursor = cursors[name] ?? { from: instant(floor), considered: [] };
    return [name, advance(cursor, of(considered, name), of(waiting, name), now)] as const;
  });
  return { ...cursors, ...Object.fromEntries(next) };
}

function advance(
  cursor: Cursor,
  considered: readonly SessionHead[],
  waiting: readonly SessionHead[],
  now: number,
): Cursor {
  const again = new Set(considered.map(({ sessionId }) => sessionId));
  const all = [
    ...cursor.considered.filter(({ sessionId }) => !again.has(sessionId)),
    ...considered.map(({ sessionId, endedAt, turns }) => ({ sessionId, endedAt, turns })),
  ];
  const horizon = Math.min(now - REMEMBERED_MS, ...waiting.map(timeOf).filter(Number.isFinite));
  const from = Math.max(Date.parse(cursor.from) || 0, horizon);
  return { from: instant(from), considered: all.filter((one) => !(timeOf(one) < from)) };
}

const instant = (ms: number) => new Date(Math.max(0, ms)).toISOString();
