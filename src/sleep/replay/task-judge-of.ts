import { SkillError } from '../../core/contracts/index.ts';
import { TaskJudge, type TaskJudgeInput } from '../../core/judge/index.ts';
import { fence } from '../../core/text/index.ts';
import type { TaskRecord } from '../task-record.ts';

/**
 * How the answer to a task is scored. A task without a reference is scored by whether it does what was asked, and what the
 * person had to add after the answer of then.
 */
export function taskJudgeOf(task: TaskRecord): TaskJudge {
  const read = TaskJudge.safeParse(inputOf(task));
  if (read.success) return read.data;
  const problem = read.error.issues.map(({ path, message }) => `${path.join('.') || 'judge'} ${message}`).join('; ');
  throw new SkillError('TASKS_INVALID', `task ${JSON.stringify(task.id)}: ${problem}`, {
    hint: 'Mend the task in its file, or name it in a .skilloptignore: task:ID',
  });
}

function inputOf({ referenceKind, reference, judge, intent }: TaskRecord): TaskJudgeInput {
  switch (referenceKind) {
    case 'exact':
      return { kind: 'exact', reference };
    case 'rule':
      return { ...judge, kind: 'rule' } as TaskJudgeInput;
    case 'command':
      return { ...judge, kind: 'command' } as TaskJudgeInput;
    case 'rubric':
      return { kind: 'rubric', rubric: reference };
    case 'none':
      return {
        kind: 'rubric',
        rubric: [`The answer does what was asked, completely and correctly: ${intent}`, ...later(reference)].join(
          '\n\n',
        ),
      };
  }
}

const later = (followUps: string) =>
  followUps === ''
    ? []
    : [
        `After another answer the person said what stands below. What corrects or completes the request is wanted of this answer from the start; what asks for something else does not count.\n${fence('said', followUps)}`,
      ];
