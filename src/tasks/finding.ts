type FindingCode =
  | (
      | 'too-few'
      | 'hardly-any'
      | 'contradictory'
      | 'duplicated'
      | 'near-duplicated'
      | 'leaks-between-splits'
      | 'answers-in-skill'
    )
  | ('unbalanced' | 'left-out' | 'doubtful' | 'unreviewed' | 'too-easy' | 'too-hard' | 'too-noisy')
  | ('encoding' | 'read-otherwise' | 'weaker' | 'garbled' | 'not-an-answer' | 'unfilled' | 'unread-column')
  | ('one-answer' | 'numbered' | 'answer-in-question' | 'cannot-pass' | 'not-judged' | 'pipes');

export type Finding = {
  readonly code: FindingCode;
  /** `untrue`: no true number can be measured with these tasks. `senseless`: training on them proves nothing. */
  readonly level: 'untrue' | 'senseless' | 'warning' | 'note';
  readonly what: string;
  /** Ids, or places in the file. */
  readonly tasks: readonly string[];
  readonly todo: string;
};

/** Where a larger share of the tasks has a fault, the score is about the fault. */
export const MOST_FAULTY = 1 / 5;

export const levelOf = (faulty: number, all: number): Finding['level'] =>
  faulty > MOST_FAULTY * all ? 'untrue' : 'warning';

/** A finding about these tasks. None if there are no tasks. */
export function finding(
  code: FindingCode,
  tasks: readonly string[],
  { level = 'warning', what, todo }: Pick<Finding, 'what' | 'todo'> & { readonly level?: Finding['level'] },
): Finding[] {
  const ids = [...new Set(tasks)].sort();
  return ids.length === 0 ? [] : [{ code, level, what, tasks: ids, todo }];
}
