import type { RolloutResult } from '../../core/contracts/index.ts';
import { fillScoring, needsAnswers, type Scoring, type TaskScorer } from '../../core/judge/index.ts';
import { normalizeAnswer, type QaItemInput, SimpleQAEnv } from '../../envs/index.ts';
import { type StageDeps, scoreSkill } from '../../pipeline/index.ts';
import type { DraftRow } from '../task-row.ts';

/** What independent solutions say of a draft: `unsettled` after the last of them is doubtful. */
export type Verdict = 'agreed' | 'contradicted' | 'unsettled';

export type Verifier = {
  /** What the solver reads before it works: the skill, with its files. */
  readonly reading: string;
  readonly scoring?: Scoring | undefined;
  readonly scorers?: readonly TaskScorer[] | undefined;
};

/** Two solutions settle most drafts; a third is asked for where they differ. */
const FIRST_SOLUTIONS = 2;
const MOST_SOLUTIONS = 3;

/**
 * Every draft is solved by a model that does not see its reference, as the target will be asked, and the solutions are scored as
 * the target's answers will be. One verdict for each, in their order.
 */
export async function verifyDrafts(rows: readonly DraftRow[], verifier: Verifier, deps: StageDeps): Promise<Verdict[]> {
  const solutions = rows.map((): RolloutResult[] => []);
  const verdicts = rows.map((): Verdict => 'unsettled');
  for (let sample = 0; sample < MOST_SOLUTIONS; sample++) {
    const open = [...rows.keys()].filter((index) => verdicts[index] === 'unsettled');
    if (open.length === 0) break;
    const results = await solve(open, rows, verifier, sample, deps);
    for (const [place, index] of open.entries()) {
      solutions[index]!.push(results[place]!);
      if (sample + 1 >= FIRST_SOLUTIONS) verdicts[index] = judgeSolutions(rows[index]!, solutions[index]!);
    }
  }
  return verdicts;
}

async function solve(
  open: readonly number[],
  rows: readonly DraftRow[],
  { reading, scoring, scorers = [] }: Verifier,
  sampleIndex: number,
  deps: StageDeps,
): Promise<readonly RolloutResult[]> {
  const items = open.map((index) => toItem(rows[index]!, String(index), scoring));
  const env = new SimpleQAEnv({ trainItems: items, valItems: [], testItems: [], judges: scorers, name: 'drafts' });
  const { results } = await scoreSkill({ env, skill: reading, items: env.getItems('train'), sampleIndex }, deps);
  return results;
}

/** As the project will score it. */
function toItem({ question, answers, judge }: DraftRow, id: string, scoring: Scoring | undefined): QaItemInput {
  const filled =
    judge === undefined && scoring && needsAnswers(scoring) ? fillScoring(scoring, answers ?? []).judge : judge;
  return { id, question, ...(answers ? { answers } : {}), ...(filled ? { judge: filled } : {}) };
}

/**
 * Two that are right confirm a reference. Two that agree with each other against it contradict it. Checks and criteria say
 * nothing when they fail: one solution that passes shows that they can be met.
 */
function judgeSolutions({ answers }: Pick<DraftRow, 'answers'>, solutions: readonly RolloutResult[]): Verdict {
  const answered = solutions.filter(({ errored }) => !errored);
  const right = answered.filter(({ hard }) => hard === 1).length;
  if (answers === undefined) return right > 0 ? 'agreed' : 'unsettled';
  if (right >= 2) return 'agreed';
  const others = answered.flatMap(({ hard, predictedAnswer = '' }) =>
    hard === 1 ? [] : [normalizeAnswer(predictedAnswer)],
  );
  const isTwice = others.some((answer, place) => others.indexOf(answer) !== place);
  return isTwice && right < 2 ? 'contradicted' : 'unsettled';
}
