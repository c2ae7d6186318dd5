/** What calls cost. */
export type Amounts = { readonly calls: number; readonly totalTokens: number; readonly costUsd: number };

/** The limits of a run, as its config calls them. */
export type LimitName = 'maxCalls' | 'maxTotalTokens' | 'maxCostUsd' | 'maxMinutes';

/** What a run has spent, and the limit that its last start ended at, if that was why. */
export type Spent = Amounts & {
  readonly limit?: LimitName;
  /** What to raise it to, so that the next stage is paid for. */
  readonly advised?: number;
  /** Claimed ahead by a process that did not close the ledger: in truth it may be less. */
  readonly isMost?: true;
};

/** What a run has spent, kept so that a killed process cannot forget it. */
export interface Ledger {
  /** The most that was spent before the store was opened. */
  readonly before: Amounts;
  /**
   * Counts `most` as spent in all, and as safe from a kill once this returns. When the store is closed in order, what
   * `exact` answers then takes its place.
   */
  claim(most: Amounts, exact: () => Amounts): void;
  /** Keeps which limit has ended the run and what to raise it to, until something is claimed again. */
  stop?(limit: LimitName, advised?: number): void;
}
