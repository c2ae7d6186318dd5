/** One pass, one number, no dice: for tests about other parts, where a score must mean what it says. */
export const STRICT = {
  proposalsPerBatch: 1,
  gate: 'strict',
  racing: 'off',
  finalPasses: 0,
  leakCritic: false,
} as const;

/** What a scripted run has unless told otherwise is the above; this is the default again. */
export const DEFAULT_GATE = {
  proposalsPerBatch: 3,
  gate: 'paired',
  racing: 'exact',
  finalPasses: 2,
} as const;

/** What the ends of epochs have in the paper, and not by default. */
export const EPOCH_ENDS = { useSlowUpdate: true, useMetaSkill: true } as const;

/** Under that gate, the search of the paper. */
export const WHOLE = {
  ...STRICT,
  ...EPOCH_ENDS,
  lrScheduler: 'cosine',
  stepBufferScope: 'epoch',
  dropRepeats: false,
  tryRemovals: false,
} as const;
