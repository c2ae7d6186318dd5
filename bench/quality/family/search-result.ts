/** What came of one run of a search. Scores are from 0 to 1. */
export type SearchResult = {
  readonly gain: number;
  /** Reported minus true score. */
  readonly error: number;
  readonly covers: boolean;
  readonly claims: boolean;
  /** By what they truly did. */
  readonly accepted: { readonly good: number; readonly null: number; readonly harmful: number };
  /** Sum over accepts of believed minus true score right after them, and how many there were. */
  readonly believedError: number;
  readonly accepts: number;
};
