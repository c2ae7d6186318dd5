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
