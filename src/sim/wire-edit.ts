import { z } from 'zod';
import { EditOp, SourceType } from '../core/edit.ts';

/** An edit as prompts and replies spell it. */
export const WireEdit = z.object({
  op: EditOp,
  target: z.string().catch(''),
  content: z.string().catch(''),
  support_count: z.number().int().positive().catch(1),
  source_type: SourceType.catch('failure'),
});
export type WireEdit = z.infer<typeof WireEdit>;

/** The well-formed edits of a patch; anything else is no edit. */
export function readEdits(patch: unknown): WireEdit[] {
  const edits = z.object({ edits: z.array(z.unknown()) }).safeParse(patch);
  return edits.success ? edits.data.edits.flatMap(readEdit) : [];
}

export function readEdit(value: unknown): WireEdit[] {
  const edit = WireEdit.safeParse(value);
  return edit.success ? [edit.data] : [];
}

/** `undefined` for a text that is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Edits with equal keys do the same. */
export function editKey({ op, target, content }: Pick<WireEdit, 'op' | 'target' | 'content'>): string {
  return JSON.stringify([op, target, content.trim()]);
}
