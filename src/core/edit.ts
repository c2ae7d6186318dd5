import { z } from 'zod';

export const EditOp = z.enum(['append', 'insert_after', 'replace', 'delete']);
export type EditOp = z.infer<typeof EditOp>;

export const SourceType = z.enum(['failure', 'success']);
export type SourceType = z.infer<typeof SourceType>;

/** One bounded change to a skill document. `target` is text to find; `content` is text to put there. */
export const Edit = z.object({
  op: EditOp,
  content: z.string().default(''),
  target: z.string().default(''),
  supportCount: z.number().int().optional(),
  sourceType: SourceType.optional(),
  mergeLevel: z.number().int().optional(),
  updateOrigin: z.string().optional(),
  updateTarget: z.string().optional(),
});
export type Edit = z.infer<typeof Edit>;

/** Edits that are applied together, in order. */
export const Patch = z.object({
  edits: z.array(Edit),
  reasoning: z.string().default(''),
  rankingDetails: z.record(z.string(), z.unknown()).optional(),
});
export type Patch = z.infer<typeof Patch>;

/** What one analyst proposed after reading one minibatch. */
export type RawPatch = {
  readonly patch: Patch;
  readonly sourceType: SourceType;
  readonly batchSize: number;
};

/** Flows through select, update and evaluate like any other patch, and changes nothing. */
export const emptyPatch: Patch = { edits: [], reasoning: '' };
