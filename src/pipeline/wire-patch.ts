import { z } from 'zod';
import { Edit, type Patch, SourceType } from '../core/edit.ts';

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const count = z.coerce
  .number()
  .int()
  .nullish()
  .transform((value) => value ?? undefined)
  .catch(undefined);

/** An edit as models write it: absent and null fields are common, and counts may come as text. */
const WireEdit = z.object({
  op: Edit.shape.op,
  content: text,
  target: text,
  supportCount: count,
  sourceType: SourceType.nullish()
    .transform((value) => value ?? undefined)
    .catch(undefined),
});

/** A patch as models write it, after the border codec. */
export const WirePatch = z
  .object({ reasoning: text, edits: z.array(WireEdit) })
  .transform(({ reasoning, edits }): Patch => {
    return { reasoning, edits: edits.map(dropUndefined) };
  });

/** What the analysts write before their patch. Nobody reads it, but a provider that is sent a schema allows no more. */
const thoughts = {
  batchSize: count,
  failureSummary: z
    .array(z.object({ failureType: text, count, description: text }))
    .nullish()
    .catch(undefined),
  successPatterns: z.array(z.string()).nullish().catch(undefined),
};

/** The analysts' patch may stand under `patch` or at the top level. */
export const AnalystReply = z.preprocess(
  (value) => (isRecord(value) && !('patch' in value) && 'edits' in value ? { patch: value } : value),
  z.object({ ...thoughts, patch: WirePatch }),
);

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function dropUndefined(edit: z.infer<typeof WireEdit>): Edit {
  const { supportCount, sourceType, ...rest } = edit;
  return { ...rest, ...(supportCount === undefined ? {} : { supportCount }), ...(sourceType ? { sourceType } : {}) };
}
