import { type LeftOut, SessionDigest } from '../../transcripts/index.ts';
import type { Cursors } from '../state/sleep-state.ts';
import { seenTest, timeOf } from './cursor.ts';
import type { Ignored } from './ignore.ts';
import { folderOf, type IndexedFile, type SessionHead } from './session-index.ts';

export type Placed = { readonly head: SessionHead; readonly file: IndexedFile };

/** How many sessions there are, and why the others were not chosen. Each is counted once. */
export type SessionCounts = {
  readonly sessions: number;
  readonly otherProjects: number;
  readonly tooOld: number;
  readonly ignored: number;
  readonly leftOut: Readonly<Partial<Record<LeftOut, number>>>;
  readonly seen: number;
  readonly overLimit: number;
};

/** A session may lie in two files, as when it was archived: the fuller one counts, and one that is kept before one left out. */
export function placedHeads(files: readonly IndexedFile[]): Placed[] {
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
export function chooseSessions(found: readonly Placed[], choice: Choice): Chosen {
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
