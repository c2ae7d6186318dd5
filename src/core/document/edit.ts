import { z } from 'zod';
import { toCamelCase } from '../text/index.ts';

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

export type EditStatus =
  | 'applied_append'
  | 'applied_append_before_protected_region'
  | 'applied_insert_after'
  | 'applied_insert_after_fallback_append'
  | 'applied_insert_after_fallback_before_protected_region'
  | 'applied_replace'
  | 'applied_delete'
  | 'skipped_empty_content'
  | 'skipped_protected_region'
  | 'skipped_replace_missing_target'
  | 'skipped_replace_target_not_found'
  | 'skipped_delete_missing_target'
  | 'skipped_delete_target_not_found'
  | 'skipped_unknown_op'
  | 'skipped_marker'
  | 'skipped_html_comment'
  | 'skipped_hidden_character'
  | 'applied_create_file'
  | 'applied_delete_file'
  | 'skipped_file_exists'
  | 'skipped_file_not_found'
  | 'skipped_part'
  | 'skipped_path'
  | 'applied_rewrite'
  | 'skipped_no_rewrite'
  | 'skipped_leak'
  | 'quarantined'
  | 'error';

/** An edit ready to be applied. */
export type ReadEdit = {
  readonly op: string;
  readonly target: string;
  /** Without the space around it, and as it was written: that of code has a meaning. */
  readonly content: string;
  readonly written: string;
  /** Empty for SKILL.md. */
  readonly file: string;
};

/** A text after an edit that may not have changed it. */
export type Applied = { readonly skill: string; readonly status: EditStatus };

/** How a step changes the document: by edits, by a rewriter who follows suggestions, or by whole replacements. */
export const UPDATE_MODES = ['patch', 'rewrite_from_suggestions', 'full_rewrite_minibatch'] as const;
export type UpdateMode = (typeof UPDATE_MODES)[number];

/** Whether each analyst writes the whole document. Then there is nothing to count, and so no learning rate. */
export const isFullRewrite = (mode: UpdateMode) => mode === 'full_rewrite_minibatch';
