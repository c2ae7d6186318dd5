import { z } from 'zod';
import type { FailurePattern } from './failure-pattern.ts';

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

/**
 * What a step can do to a document. Beside the edits: `suggest` is an instruction for a rewriter (`content`) under a title
 * (`target`), `rewrite` a whole new body (`content`). Both come from the update modes that rewrite.
 */
const UpdateOp = z.enum([...EditOp.options, 'suggest', 'rewrite']);
export const UpdateItem = Edit.extend({
  op: UpdateOp,
  /** What the writer of a whole new body says that it changed. */
  changeSummary: z.array(z.string()).optional(),
});
export type UpdateItem = z.infer<typeof UpdateItem>;

/** What is applied together, in order. */
export const Patch = z.object({
  edits: z.array(UpdateItem),
  reasoning: z.string().default(''),
  rankingDetails: z.record(z.string(), z.unknown()).optional(),
});
export type Patch = z.infer<typeof Patch>;

/** What one analyst proposed after reading one minibatch. */
export type RawPatch = {
  readonly patch: Patch;
  readonly sourceType: SourceType;
  readonly batchSize: number;
  /** What the failures that were read have in common. */
  readonly failurePatterns?: readonly FailurePattern[];
  /** Reminders of what the skill says already, for its appendix. */
  readonly appendixNotes?: readonly string[];
  /** How many of the trajectories were too long to be read whole. */
  readonly clippedTrajectories?: number;
};

/** Flows through select, update and evaluate like any other patch, and changes nothing. */
export const emptyPatch: Patch = { edits: [], reasoning: '' };
