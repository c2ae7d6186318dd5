/** One pass, one number, no dice: for tests about other parts, where a score must mean what it says. */
export const STRICT = {
  proposalsPerBatch: 1,
  gate: 'strict',
  racing: 'off',
  finalPasses: 0,
  leakCritic: false,
} as const;
