import { z } from 'zod';
import { toCamelCase } from '../text/index.ts';

export const EditOp = z.enum(['append', 'insert_after', 'replace', 'delete']);
export type EditOp = z.infer<typeof EditOp>;

export const PackageOp = z.enum([...EditOp.options, 'create_file', 'delete_file']);

export const SourceType = z.enum(['failure', 'success']);
export type SourceType = z.infer<typeof SourceType>;

const EditFields = z.object({
  op: PackageOp,
  content: z.string().default(''),
  target: z.string().default(''),
  /** Of a package: which file; SKILL.md by default. */
  file: z.string().optional(),
  supportCount: z.number().int().optional(),
  sourceType: SourceType.optional(),
  mergeLevel: z.number().int().optional(),
  updateOrigin: z.string().optional(),
  updateTarget: z.string().optional(),
});

/** One bounded change to a skill document: `target` is text to find, `content` text to put there. Both spellings of keys are read. */
export const Edit = z.preprocess(toCamelCase, EditFields);
export type Edit = z.infer<typeof Edit>;

/**
 * What a step can do to a document, beside the edits: `suggest` is an instruction for a rewriter (`content`) under a title
 * (`target`), `rewrite` a whole new body (`content`).
 */
const UpdateOp = z.enum([...PackageOp.options, 'suggest', 'rewrite']);
const UpdateItem = EditFields.extend({ op: UpdateOp, changeSummary: z.array(z.string()).optional() });
export type UpdateItem = z.infer<typeof UpdateItem>;

export const PatchFields = z.object({
  edits: z.array(UpdateItem),
  reasoning: z.string().default(''),
  rankingDetails: z.record(z.string(), z.unknown()).optional(),
});

/** Edits that are applied together, in order. Both spellings of keys are read. */
export const Patch = z.preprocess(toCamelCase, PatchFields.extend({ edits: PatchFields.shape.edits.default([]) }));
export type Patch = z.infer<typeof Patch>;

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
  readonly failurePatterns?: readonly FailurePattern[];
  readonly appendixNotes?: readonly string[];
  readonly clippedTrajectories?: number;
};

export const emptyPatch: Patch = { edits: [], reasoning: '' };

export type EditStatus =
  | ('applied_append' | 'applied_append_before_protected_region' | 'applied_insert_after')
  | ('applied_insert_after_fallback_append' | 'applied_insert_after_fallback_before_protected_region')
  | ('applied_replace' | 'applied_delete' | 'applied_create_file' | 'applied_delete_file' | 'applied_rewrite')
  | ('skipped_empty_content' | 'skipped_protected_region' | 'skipped_unknown_op')
  | ('skipped_no_rewrite' | 'skipped_leak')
  | ('skipped_replace_missing_target' | 'skipped_replace_target_not_found')
  | ('skipped_delete_missing_target' | 'skipped_delete_target_not_found')
  | ('skipped_marker' | 'skipped_html_comment' | 'skipped_hidden_character')
  | ('skipped_file_exists' | 'skipped_file_not_found' | 'skipped_part' | 'skipped_path')
  | ('quarantined' | 'error');

export type ReadEdit = {
  readonly op: string;
  readonly target: string;
  /** Without the space around it, and as it was written: the space of code has a meaning. */
  readonly content: string;
  readonly written: string;
  /** Empty for SKILL.md. */
  readonly file: string;
};

export type Applied = { readonly skill: string; readonly status: EditStatus };

export const UPDATE_MODES = ['patch', 'rewrite_from_suggestions', 'full_rewrite_minibatch'] as const;
export type UpdateMode = (typeof UPDATE_MODES)[number];

/** Each analyst writes the whole document. Then there is nothing to count, and no learning rate. */
export const isFullRewrite = (mode: UpdateMode) => mode === 'full_rewrite_minibatch';
