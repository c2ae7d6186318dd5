import { z } from 'zod';
import { SourceType } from '../../core/document/index.ts';
import { Change } from './change.ts';
import { readSuggestion } from './suggestion.ts';

/** An edit as prompts and replies spell it. */
export const WireEdit = Change.extend({
  support_count: z.number().int().positive().catch(1),
  source_type: SourceType.catch('failure'),
});
export type WireEdit = z.infer<typeof WireEdit>;

const WirePatch = z.object({
  edits: z.array(z.unknown()).optional(),
  revise_suggestions: z.array(z.unknown()).optional(),
});

/** The well-formed edits of a patch, suggestions among them; anything else is no edit. */
export function readEdits(patch: unknown): WireEdit[] {
  const { edits = [], revise_suggestions: suggestions = [] } = WirePatch.safeParse(patch).data ?? {};
  return [...edits, ...suggestions].flatMap(readEdit);
}

/** A suggestion counts as the edit that it asks for. */
export function readEdit(value: unknown): WireEdit[] {
  const edit = WireEdit.safeParse(value);
  if (edit.success) return [edit.data];
  const change = readSuggestion(value);
  return change ? [WireEdit.parse({ ...(value as object), ...change })] : [];
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
export function editKey({ op, target, content }: Change): string {
  return JSON.stringify([op, target, content.trim()]);
}

/** What failed comes before what went well, and what many ask for before what few do. */
export function byWeight(a: Weighted, b: Weighted): number {
  const rank = ({ source_type }: Weighted) => (source_type === 'failure' ? 0 : 1);
  return rank(a) - rank(b) || b.support_count - a.support_count;
}

type Weighted = Pick<WireEdit, 'support_count' | 'source_type'>;
