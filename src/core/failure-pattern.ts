/** What several failures have in common. */
export type FailurePattern = {
  readonly type: string;
  readonly count: number;
  readonly taskIds: readonly string[];
  readonly description?: string;
};
