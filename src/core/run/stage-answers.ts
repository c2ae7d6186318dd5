/** What became of the replies to one stage's questions to the optimizer. */
type StageAnswers = {
  readonly read: number;
  /** Replies that could not be read, whether or not the next one could. */
  readonly unreadable: number;
  /** How the first of those begins. */
  readonly sample?: string;
};

export type AnswerTable = Readonly<Record<string, StageAnswers>>;

export function addAnswers(a: AnswerTable, b: AnswerTable = {}): AnswerTable {
  const sum = { ...a };
  for (const [stage, { read, unreadable, sample }] of Object.entries(b)) {
    const known = sum[stage] ?? { read: 0, unreadable: 0 };
    const first = known.sample ?? sample;
    const total = { read: known.read + read, unreadable: known.unreadable + unreadable };
    sum[stage] = first === undefined ? total : { ...total, sample: first };
  }
  return sum;
}

/** The optimizer was asked, and no answer of it could be read: whatever came of the run, it learned nothing. */
export function isNothingRead(table: AnswerTable): boolean {
  const stages = Object.values(table);
  return stages.some(({ unreadable }) => unreadable > 0) && stages.every(({ read }) => read === 0);
}
