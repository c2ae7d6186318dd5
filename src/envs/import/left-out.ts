/** Why something in a file of another tool cannot be carried. */
export class NotCarried extends Error {
  override readonly name = 'NotCarried';
}

/** The reason in an error of ours. Any other is thrown on. */
export function reasonOf(error: unknown): string {
  if (error instanceof NotCarried) return error.message;
  throw error;
}

/** Something in a file that is not carried. */
export type LeftOut = {
  /** Where it stands: a line, or a path in the file such as `tests[2].assert[0]`. */
  readonly where: string;
  readonly what: string;
  readonly why: string;
  /** Of a promptfoo config: the test by its description, and the number of the check among all that hold for it. */
  readonly test?: string;
  readonly check?: string;
};

/** Of many things, so many are named in one line. */
const MOST_NAMED = 3;

/** One line for people: how many, and the first of them. */
export function describeLeftOut(path: string, leftOut: readonly LeftOut[]): string {
  const named = leftOut.slice(0, MOST_NAMED).map(({ where, what, why }) => `${where}: ${what} (${why})`);
  const rest = leftOut.length - named.length;
  return `${path}: ${leftOut.length} left out: ${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}
