import { type Similar, SimilarityIndex, STOP_WORDS, splitWords, type Words } from '../../core/text/index.ts';
import type { TaskRecord } from '../task-record.ts';

/** Intents that share half of their telling words are one habit. Looser than a near-duplicate: this is for people to read. */
const SAME_INTENT = 0.5;

/** What a person asks for again and again. */
export type IntentGroup = {
  /** In the words of the first task. */
  readonly intent: string;
  readonly taskIds: readonly string[];
  readonly sessionIds: readonly string[];
  /** The days on which it was asked, such as `2026-01-31`, earliest first. */
  readonly dates: readonly string[];
};

/** Most sessions first. `dayOf`: when a session was; empty when that is not known. */
export function groupIntents(tasks: readonly TaskRecord[], dayOf: (sessionId: string) => string): IntentGroup[] {
  const groups = clusters(tasks).map((members): IntentGroup => {
    const sessionIds = [...new Set(members.flatMap(({ sourceSessions }) => sourceSessions))];
    const dates = new Set(sessionIds.map(dayOf).filter((day) => day !== ''));
    const taskIds = [...new Set(members.map(({ id }) => id))];
    return { intent: members[0]!.intent, taskIds, sessionIds, dates: [...dates].sort() };
  });
  return groups.sort((a, b) => b.sessionIds.length - a.sessionIds.length);
}

/** Each task joins the group whose first member is most like it, so that no chain of small steps joins what differs. */
function clusters(tasks: readonly TaskRecord[]): TaskRecord[][] {
  const index = new SimilarityIndex(SAME_INTENT);
  const groups: TaskRecord[][] = [];
  for (const task of tasks) {
    const words = tellingWords(task.intent);
    const nearest = nearestOf(index.similarTo(words));
    if (nearest !== undefined) groups[nearest.number]!.push(task);
    else {
      groups.push([task]);
      index.add(words);
    }
  }
  return groups;
}

function nearestOf(similar: readonly Similar[]): Similar | undefined {
  return [...similar].sort((a, b) => b.similarity - a.similarity || a.number - b.number)[0];
}

/** Without what stands in any sentence; numbers are all alike, since the habit is the same for issue 7 and issue 8. */
function tellingWords(text: string): Words {
  const words = splitWords(text.replace(/\p{N}+/gu, '0'));
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return new Set(telling.length > 0 ? telling : words);
}
