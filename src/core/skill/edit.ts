import { z } from 'zod';
import { toCamelCase } from '../text/snake-case.ts';

export const EditOp = z.enum(['append', 'insert_after', 'replace', 'delete']);
export type EditOp = z.infer<typeof EditOp>;

/** What only the files of a package know. */
const FILE_OPS = ['create_file', 'delete_file'] as const;
export const PackageOp = z.enum([...EditOp.options, ...FILE_OPS]);

export const SourceType = z.enum(['failure', 'success']);
export type SourceType = z.infer<typeof SourceType>;

const EditFields = z.object({
  op: PackageOp,
  content: z.string().default(''),
  target: z.string().default(''),
  /** Of a package: which file. SKILL.md, unless it is said. */
  file: z.string().optional(),
  supportCount: z.number().int().optional(),
  sourceType: SourceType.optional(),
  mergeLevel: z.number().int().optional(),
  updateOrigin: z.string().optional(),
  updateTarget: z.string().optional(),
});

/**
 * One bounded change to a skill document. `target` is text to find; `content` is text to put there. Read in both spellings,
 * so that what stands in a view file can be read back.
 */
export const Edit = z.preprocess(toCamelCase, EditFields);
export type Edit = z.infer<typeof Edit>;

/**
 * What a step can do to a document. Beside the edits: `suggest` is an instruction for a rewriter (`content`) under a title
 * (`target`), `rewrite` a whole new body (`content`). Both come from the update modes that rewrite.
 */
const UpdateOp = z.enum([...PackageOp.options, 'suggest', 'rewrite']);
const UpdateItem = EditFields.extend({
  op: UpdateOp,
  /** What the writer of a whole new body says that it changed. */
  changeSummary: z.array(z.string()).optional(),
});
export type UpdateItem = z.infer<typeof UpdateItem>;

export const PatchFields = z.object({
  edits: z.array(UpdateItem),
  reasoning: z.string().default(''),
  rankingDetails: z.record(z.string(), z.unknown()).optional(),
});

/** What is applied together, in order; nothing, if there is no list. Read in both spellings, as an edit is. */
export const Patch = z.preprocess(toCamelCase, PatchFields.extend({ edits: PatchFields.shape.edits.default([]) }));
export type Patch = z.infer<typeof Patch>;

/** What several failures have in common. */
export type FailurePattern = {
  readonly type: string;
  readonly count: number;
  readonly taskIds: readonly string[];
  readonly description?: string;
};

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
