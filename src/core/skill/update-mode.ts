/** How a step changes the document: by edits, by a rewriter who follows suggestions, or by whole replacements. */
export const UPDATE_MODES = ['patch', 'rewrite_from_suggestions', 'full_rewrite_minibatch'] as const;
export type UpdateMode = (typeof UPDATE_MODES)[number];

/** Whether each analyst writes the whole document. Then there is nothing to count, and so no learning rate. */
export const isFullRewrite = (mode: UpdateMode) => mode === 'full_rewrite_minibatch';
