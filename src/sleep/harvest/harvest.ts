import { SkillError } from '../../core/contracts/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import type { Cursors } from '../state/sleep-state.ts';
import { chooseSessions, lookbackFloor, type Placed, placedHeads, type SessionCounts } from './choose-sessions.ts';
import { advanceCursors } from './cursor.ts';
import type { Ignored } from './ignore.ts';
import { type Scope, scopeTest } from './scope.ts';
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
