import type { Cursor, Cursors } from '../state/sleep-state.ts';
import type { SessionHead } from './session-index.ts';

/** How long considered sessions are remembered one by one. Older ones are done with as a whole. */
const REMEMBERED_MS = 30 * 86_400_000;

/** Whether a session was considered as it is now. One that has grown since was not. */
export function seenTest(cursors: Cursors): (head: SessionHead) => boolean {
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
export function advanceCursors({ cursors, floor, sources, considered, waiting, now }: Advance): Cursors {
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

/** In milliseconds, whatever the zone it was written in; `NaN` when not known. */
export const timeOf = ({ endedAt, startedAt = '' }: { readonly endedAt: string; readonly startedAt?: string }) =>
  Date.parse(endedAt || startedAt);

const instant = (ms: number) => new Date(Math.max(0, ms)).toISOString();
