/** Why a pattern cannot be used. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
  /** Python would take it; we do not, since a text could hold up the matching without end, or it is rare. */
  readonly isRefused: boolean;

  constructor(message: string, { isRefused = false } = {}) {
    super(message);
    this.isRefused = isRefused;
  }
}

export const broken = (message: string) => new PatternError(message);
export const refused = (part: string, what: string) =>
  new PatternError(`${JSON.stringify(part)} is ${what}, which is not supported here`, { isRefused: true });
