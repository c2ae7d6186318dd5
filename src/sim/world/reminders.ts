import { readBlock } from '../../core/document/index.ts';

const REMINDER = /^- Before you answer on (.+), go back to the rule on it\.$/gm;

/** A note for the appendix. It states no rule; it makes the reader look at the one that is there. */
export function reminderOf(topics: readonly string[]): string {
  return `Before you answer on ${topics.join(' or ')}, go back to the rule on it.`;
}

/** The topics that the appendix of a skill reminds of. */
export function remindedTopics(skill: string): ReadonlySet<string> {
  return new Set(readReminders(readBlock(skill, 'appendix')).flat());
}

/** The reply to a call for fewer notes: all reminders become one, others stay but for the last when none was one. */
export function shortenReminders({ notes }: { readonly notes: string }): { notes: string[] } {
  const lines = notes.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []));
  const topics = [...new Set(readReminders(notes).flat())];
  const others = lines.filter((line) => readReminders(`- ${line}`).length === 0);
  if (topics.length === 0) return { notes: others.slice(0, -1) };
  return { notes: [reminderOf(topics), ...others] };
}

const readReminders = (text: string) => [...text.matchAll(REMINDER)].map(([, topics = '']) => topics.split(' or '));
