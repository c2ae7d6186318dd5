/** A night on which something was put to the test, and whether it was found better. */
export type TestedNight = { readonly isProven: boolean };

/** The chance of ever proposing something useless in a world where nothing helps. */
export const TOTAL_ERROR = 0.1;

/**
 * Shares that sum to 1 over all nights that will ever be; the first is a half. They fall as fast as they can without leaving
 * less than others would for the nights of the first month.
 */
const shareOf = (place: number) => (place < 1 ? 0 : 1 / (place * (place + 1)));

/**
 * The error that the next tested night may make. Where nothing helps, the shares of all nights together are the total; what
 * was proven starts the series again from there, since where things help it is rarer that one does not (alpha-investing).
 */
export function nextError(nights: readonly TestedNight[], total = TOTAL_ERROR): number {
  const next = nights.length + 1;
  const earned = nights.reduce((sum, { isProven }, index) => sum + (isProven ? shareOf(next - index - 1) : 0), 0);
  // Never more than a first night: a long row of proofs is no licence.
  return Math.min(total / 2, total * (shareOf(next) + earned));
}
