import { z } from 'zod';
import { extractAnswer } from '../../envs/index.ts';

const Line = z.coerce.number().int().min(1).max(1e9);

/** What a model can ask for. Other keys are ignored. */
const ToolCall = z.discriminatedUnion('name', [
  z.object({ name: z.literal('glob'), pattern: z.string().default('*') }),
  z.object({ name: z.literal('read'), path: z.string(), start: Line.default(1), limit: Line.optional() }),
  z.object({ name: z.literal('grep'), pattern: z.string(), path: z.string().optional() }),
]);
export type ToolCall = z.output<typeof ToolCall>;

/** A call, or what is wrong with it. */
export type ReadCall = { readonly call: ToolCall } | { readonly problem: string };

/** More calls in one reply are not run: a model that writes thousands has lost its way. */
export const MOST_CALLS = 4;

const OPEN = '<tool>';
const CLOSE = '</tool>';

/** The first calls in a reply, and whether more follow. */
export function readCalls(reply: string): { readonly calls: readonly ReadCall[]; readonly hasMore: boolean } {
  const calls: ReadCall[] = [];
  let from = 0;
  for (;;) {
    const start = reply.indexOf(OPEN, from);
    const end = start < 0 ? -1 : reply.indexOf(CLOSE, start);
    if (end < 0) return { calls, hasMore: false };
    if (calls.length === MOST_CALLS) return { calls, hasMore: true };
    calls.push(readCall(reply.slice(start + OPEN.length, end)));
    from = end + CLOSE.length;
  }
}

function readCall(text: string): ReadCall {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: 'what stands between the tags is not JSON' };
  }
  const { success, data, error } = ToolCall.safeParse(value);
  if (success) return { call: data };
  const [issue] = error.issues;
  return { problem: `${issue!.path.join('.') || 'the call'}: ${issue!.message}` };
}

/** What stands in the last answer tags, if there are any. */
export function taggedAnswer(reply: string): string | undefined {
  const text = reply.toLowerCase();
  const start = text.indexOf('<answer>');
  return start >= 0 && text.lastIndexOf('</answer>') > start ? extractAnswer(reply) : undefined;
}
