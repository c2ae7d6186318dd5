import type { RolloutOutput } from '../contracts/index.ts';
import { fence } from '../text/index.ts';
import {
  type CheckSet,
  type ChecksJudge,
  holdsCheck,
  isModelCheck,
  type ModelCheck,
  type SingleCheck,
} from './checks.ts';
import type { JudgedAnswer, TaskScorer } from './task-judge.ts';

type Outcome = { readonly passes: boolean; readonly score: number; readonly weight: number };

/** What a model says about an answer by a criterion, from 0 to 1. `undefined`: nothing that can be used. */
type AskModel = (check: ModelCheck) => Promise<number | undefined>;

/** `undefined`: a check cannot be decided on this answer. */
async function scoreAll(checks: readonly (SingleCheck | CheckSet)[], answer: string, ask: AskModel) {
  const outcomes: Outcome[] = [];
  for (const check of checks) {
    const { weight = 1 } = check;
    const scored = check.type === 'set' ? await scoreSet(check, answer, ask) : await scoreOne(check, answer, ask);
    if (scored === undefined) return undefined;
    outcomes.push({ ...scored, passes: scored.passes || weight === 0, weight });
  }
  return outcomes;
}

const nameOf = (check: SingleCheck | CheckSet) => `${'not' in check && check.not ? 'not-' : ''}${check.type}`;

type Verdict = Pick<Outcome, 'passes' | 'score'>;

async function scoreSet({ checks, threshold }: CheckSet, answer: string, ask: AskModel): Promise<Verdict | undefined> {
  const outcomes = await scoreAll(checks, answer, ask);
  return outcomes && together(outcomes, threshold);
}

/** The weighted mean. A threshold decides alone; without one every check must hold. */
function together(outcomes: readonly Outcome[], threshold: number | undefined): Verdict {
  const total = outcomes.reduce((sum, { weight }) => sum + weight, 0);
  const points = outcomes.reduce((sum, { score, weight }) => sum + score * weight, 0);
  const score = total === 0 ? 1 : points / total;
  const passes = threshold === undefined ? outcomes.every((outcome) => outcome.passes) : score >= threshold;
  return { passes, score };
}

async function scoreOne(check: SingleCheck, answer: string, ask: AskModel): Promise<Verdict | undefined> {
  if (isModelCheck(check)) return toVerdict(await ask(check), check);
  const holds = holdsCheck(check, answer);
  if (holds === undefined) return undefined;
  const passes = holds !== (check.not ?? false);
  return { passes, score: passes ? 1 : 0 };
}

function toVerdict(score: number | undefined, { not = false, threshold = 0.5 }: ModelCheck): Verdict | undefined {
  if (score === undefined) return undefined;
  return { passes: score >= threshold !== not, score: not ? 1 - score : score };
}

type RubricScorer = TaskScorer<'rubric'>;

/** Tasks with a list of checks. `rubric` scores those that a model decides. */
export function checksJudge(rubric: RubricScorer | undefined): TaskScorer<'checks'> {
  return {
    kind: 'checks',
    version: `1${rubric ? ` with rubric ${rubric.version}` : ''}`,
    judgeCalls: (judge) =>
      modelChecks(judge).length * (rubric?.judgeCalls?.(toRubric({ type: 'rubric', value: '' })) ?? 0),
    async score(answer): Promise<RolloutOutput> {
      const { checks, threshold } = answer.judge;
      const outcomes = await scoreAll(checks, answer.answer, (check) => ask(check, answer, rubric));
      if (!outcomes) return { hard: 0, soft: 0, errored: true, unjudged: true, failReason: NO_VERDICT };
      const { passes, score } = together(outcomes, threshold);
      const failed = checks.filter((_, index) => !outcomes[index]!.passes).map(nameOf);
      // As rules do: the texts that are looked for would end up in the skill.
      const failReason = `failed ${failed.length} of ${checks.length} checks: ${failed.join(', ')}`;
      return { hard: passes ? 1 : 0, soft: score, ...(passes ? {} : { failReason }) };
    },
  };
}

const NO_VERDICT = 'a check could not be decided: a model gave no verdict, or the answer is too long for it';

/** The checks that a model makes, also those in sets. */
export function modelChecks({ checks }: ChecksJudge): ModelCheck[] {
  return checks.flatMap((check) => (check.type === 'set' ? check.checks : [check])).filter(isModelCheck);
}

async function ask(
  check: ModelCheck,
  { question, answer, model, signal }: JudgedAnswer<'checks'>,
  rubric: RubricScorer | undefined,
): Promise<number | undefined> {
  const scored = await rubric?.score({ judge: toRubric(check), question, answer, model, signal });
  return !scored || scored.errored ? undefined : scored.soft;
}

function toRubric({ type, value }: Pick<ModelCheck, 'type' | 'value'>) {
  const words = `What the answer states agrees with what stands below, and contradicts none of it.\n${fence('fact', value)}`;
  return { kind: 'rubric' as const, rubric: type === 'factuality' ? words : value };
}
