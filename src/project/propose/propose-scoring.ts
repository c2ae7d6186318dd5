import { readNumber } from '../../core/judge/index.ts';

/** How answers are scored, and why so. Without a scoring it is what happens anyway. */
export type ProposedScoring = {
  readonly name: 'exact' | 'number' | 'rubric';
  readonly scoring?: string | Readonly<Record<string, unknown>>;
  readonly why: string;
};

/** Longer ones are seldom written twice in the same words. */
const SHORT_LETTERS = 80;
const RUBRIC = 'The answer says what this reference says, and nothing that contradicts it:\n{answers}';

export const SCORINGS: Readonly<Record<ProposedScoring['name'], Omit<ProposedScoring, 'why'>>> = {
  exact: { name: 'exact' },
  number: { name: 'number', scoring: 'number' },
  rubric: { name: 'rubric', scoring: { kind: 'rubric', rubric: RUBRIC } },
};

/** What fits the gold answers of some tasks. */
export function proposeScoring(answers: readonly string[]): ProposedScoring {
  if (answers.length === 0) return { ...SCORINGS.exact, why: 'the tasks say themselves how they are scored' };
  if (answers.every(isNumber)) {
    return { ...SCORINGS.number, why: 'every answer is a number' };
  }
  const long = answers.filter((answer) => [...answer].length > SHORT_LETTERS);
  if (long.length > answers.length / 4) {
    return { ...SCORINGS.rubric, why: 'the answers are long: a model compares what they say' };
  }
  return { ...SCORINGS.exact, why: 'the answers are short: one of them must be given' };
}

/** Perhaps behind a currency or before a unit. `a1` and `v1.1` are names. */
const isNumber = (answer: string) =>
  readNumber(answer) !== undefined &&
  /^(\p{Sc}|\p{Lu}{3} )?\s*[-+−]?[\d.][\d.,' ]*\s*(%|\p{Sc}|\p{L}{1,3})?$/u.test(answer.trim());
