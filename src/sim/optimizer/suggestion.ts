import { z } from 'zod';
import { type Change, topicOf } from './change.ts';

/** What a rewriter is asked for: one change in words. */
export type Suggestion = { readonly type: string; readonly title: string; readonly instruction: string };

export function toSuggestion(change: Change): Suggestion {
  const { op, target, content } = change;
  const title = topicOf(change) ?? 'advice';
  if (op === 'delete') return { type: 'remove', title, instruction: `Take out «${target}».` };
  if (op === 'replace') return { type: 'change', title, instruction: `Put «${content}» in the place of «${target}».` };
  return { type: 'add', title, instruction: `Add «${content}» at the end.` };
}

const Instruction = z.object({ instruction: z.string() });

/** The change that a suggestion asks for; `undefined` when it is in words that the simulated writer does not know. */
export function readSuggestion(value: unknown): Change | undefined {
  const { instruction = '' } = Instruction.safeParse(value).data ?? {};
  const added = instruction.match(/^Add «([^»]*)» at the end\.$/);
  if (added) return { op: 'append', target: '', content: added[1]! };
  const changed = instruction.match(/^Put «([^»]*)» in the place of «([^»]*)»\.$/);
  if (changed) return { op: 'replace', target: changed[2]!, content: changed[1]! };
  const removed = instruction.match(/^Take out «([^»]*)»\.$/);
  return removed ? { op: 'delete', target: removed[1]!, content: '' } : undefined;
}
