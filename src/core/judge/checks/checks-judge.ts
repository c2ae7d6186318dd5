import type { RolloutOutput } from '../../env.ts';
import { fence } from '../../text/fence.ts';
import type { JudgedAnswer, TaskScorer } from '../task-judge.ts';
import { type ChecksJudge, isModelCheck, type ModelCheck } from './check.ts';
import { scoreChecks } from './score-checks.ts';

type RubricScorer = TaskScorer<'rubric'>;

/** Tasks with a list of checks. Those that a model makes are put to `rubric`, the scorer of rubrics. */
export function checksJudge(rubric: RubricScorer | undefined): TaskScorer<'checks'> {
  return {
    kind: 'checks',
    version: `1${rubric ? ` with rubric ${rubric.version}` : ''}`,
    judgeCalls: (judge) => modelChecks(judge).length * (rubric?.judgeCalls?.(toRubric(EXAMPLE)) ?? 0),
    async score(answer): Promise<RolloutOutput> {
      const scored = await scoreChecks(answer.judge, answer.answer, (check) => ask(check, answer, rubric));
      if (!scored) return { hard: 0, soft: 0, errored: true, unjudged: true, failReason: UNDECIDED };
      const { passes, score, failed } = scored;
      // As rules do: the texts that are looked for would end up in the skill.
      const failReason = `failed ${failed.length} of ${answer.judge.checks.length} checks: ${failed.join(', ')}`;
      return { hard: passes ? 1 : 0, soft: score, ...(passes ? {} : { failReason }) };
    },
  };
}

const UNDECIDED = 'a check could not be decided: a model gave no verdict, or the answer is too long for it';
const EXAMPLE = { type: 'rubric', value: '' } as const;

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
