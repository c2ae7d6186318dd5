import type { LeftOut } from '../../transcripts/index.ts';

/** Why a session or a task is not in the list, in words for people. */
const REASONS = {
  'no-prompt': 'nobody asked for anything',
  'own-call': 'it was a call of our own',
  'sub-agent': 'a sub-agent talked, not a person',
  headless: 'a program talked, not a person',
  'asked-not-to': 'the person said that nothing shall be learned from it',
  'prompt-too-short': 'the first request is too short',
  'nothing-to-learn': 'the miner found nothing that will be wanted again',
  uncheckable: 'nothing could measure an answer',
  'unreadable-reply': "the miner's reply could not be read, twice",
  'call-failed': 'the miner gave no answer',
  'over-budget': 'the part of the limits that is for finding tasks was used up; another night reads it',
  unwanted: 'it is named in a .skilloptignore',
  duplicate: 'it was asked in several sessions and is one task',
  'other-skill': 'it is not what the target skill is about',
  'over-limit': 'there are enough tasks for a night',
  'between-splits': 'it is nearly the same as a task that was learned from and as one that was held out',
} as const satisfies Record<LeftOut, string> & Record<string, string>;

export type DropReason = keyof typeof REASONS;

export type Dropped = {
  readonly reason: DropReason;
  /** A `reply` is one for which the first request of its session stands in. */
  readonly what: 'session' | 'task' | 'reply';
  readonly count: number;
  /** In words for people. */
  readonly why: string;
  /** Where it is known from which. */
  readonly sessionIds: readonly string[];
};

/** Counts what does not become a task, so that nothing gets lost unseen. */
export function dropCounter() {
  const counted = new Map<string, Dropped>();
  const count = (what: Dropped['what'], reason: DropReason, more: number, sessionIds: readonly string[]) => {
    if (more === 0) return;
    const before = counted.get(`${what} ${reason}`);
    const sessions = [...(before?.sessionIds ?? []), ...sessionIds];
    const sum = (before?.count ?? 0) + more;
    counted.set(`${what} ${reason}`, { reason, what, count: sum, why: REASONS[reason], sessionIds: sessions });
  };
  return {
    session: (reason: DropReason, sessionId: string) => count('session', reason, 1, [sessionId]),
    reply: (reason: DropReason, sessionId: string) => count('reply', reason, 1, [sessionId]),
    tasks: (reason: DropReason, more: number, sessionIds: readonly string[] = []) =>
      count('task', reason, more, sessionIds),
    list: () => [...counted.values()],
    notes: () => [...counted.values()].map(toNote),
  };
}

function toNote({ count, what, why }: Dropped): string {
  const [one, many] = what === 'reply' ? ['reply', 'replies'] : [what, `${what}s`];
  const fate = what === 'reply' ? 'replaced by the first request' : 'left out';
  return `${count} ${count === 1 ? one : many} ${fate}: ${why}`;
}
