import { z } from 'zod';
import { EditOp } from '../../core/document/index.ts';
import { readRules } from '../world/read-rules.ts';

/** One thing to do to a skill. */
export const Change = z.object({ op: EditOp, target: z.string().catch(''), content: z.string().catch('') });
export type Change = z.infer<typeof Change>;

export const append = (sentence: string): Change => ({ op: 'append', target: '', content: `- ${sentence}` });

/** What a change says, whatever place it says it in; what it takes away when it says nothing. */
export function sayingOf({ op, target, content }: Change): string {
  const bare = (text: string) => text.replace(/^\s*-\s+/, '').trim();
  return op === 'delete' ? `without: ${bare(target)}` : bare(content);
}

/** The topic that a change states a rule on; `undefined` for a remark. */
export function topicOf({ op, target, content }: Change): string | undefined {
  return [...readRules(op === 'delete' ? target : content).keys()][0];
}
