/** A task as the check sees it. */
export type CheckedTask = {
  readonly id: string;
  /** With what stands before the question. */
  readonly question: string;
  readonly answers: readonly string[];
  /** What there is to work with, as text: with something else, the same question is another task. */
  readonly material?: string;
  /** How it is scored, as text: two tasks with the same are scored alike. */
  readonly scoredBy: string;
  readonly taskType: string;
  readonly split: 'train' | 'val' | 'test';
  readonly isUnreviewed: boolean;
  readonly isDoubtful: boolean;
};

export type FindingCode =
  | 'too-few'
  | 'contradictory'
  | 'duplicated'
  | 'near-duplicated'
  | 'leaks-between-splits'
  | 'answers-in-skill'
  | 'unbalanced'
  | 'left-out'
  | 'doubtful'
  | 'unreviewed'
  | 'too-easy'
  | 'too-hard'
  | 'too-noisy';

/** Something about the tasks that a person should know. */
export type Finding = {
  readonly code: FindingCode;
  /** `senseless`: training on these tasks tells nothing. */
  readonly level: 'senseless' | 'warning' | 'note';
  readonly what: string;
  /** Ids, or places in the file. */
  readonly tasks: readonly string[];
  readonly todo: string;
};

/** A finding if it is about anything. */
export function finding(
  code: FindingCode,
  tasks: readonly string[],
  says: { readonly what: string; readonly todo: string; readonly level?: Finding['level'] },
): Finding[] {
  const named = [...new Set(tasks)].sort();
  return named.length === 0
    ? []
    : [{ code, level: says.level ?? 'warning', what: says.what, tasks: named, todo: says.todo }];
}
