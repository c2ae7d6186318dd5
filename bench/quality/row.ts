/** One line of a table: what was promised, what came out. */
export type Row = {
  readonly what: string;
  readonly goal: string;
  readonly measured: string;
  /** Absent if the row promises nothing and is shown only. */
  readonly holds?: boolean;
  readonly figures: Readonly<Record<string, number | readonly number[]>>;
};

export const SHOWN_ONLY = 'shown only';
