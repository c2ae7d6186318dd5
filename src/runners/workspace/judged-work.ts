import type { ChatModel } from '../../core/contracts/index.ts';
import type { TaskScorer, WorkspaceTask } from '../../core/judge/index.ts';
import type { Attempted } from './check-assertion.ts';
import { shownDiff, shownTools } from './shown-work.ts';

type Judging = {
  readonly task: WorkspaceTask;
  readonly attempted: Attempted;
  readonly rubric: TaskScorer<'rubric'>;
  readonly judge: ChatModel | undefined;
};

/** What a model says of the agent's last words, of what it changed and of the tools it used, statement by statement. */
export async function judgedWork(criteria: readonly string[], { task, attempted, rubric, judge }: Judging) {
  const answer = workText(attempted);
  const judged = { judge: { kind: 'rubric', criteria } as const, question: task.prompt, answer, model: judge };
  const { hard, soft, errored, failReason } = await rubric.score(judged);
  if (errored) return { missing: failReason ?? 'the judge gave no judgement' };
  return { hard, soft, ...(failReason === undefined ? {} : { reason: failReason }) };
}

/** A piece of work as a judge reads it. */
export const workText = ({ run, diff }: Pick<Attempted, 'run' | 'diff'>) =>
  [
    ['What the agent said at the end', run.text || '(nothing)'],
    ['What it changed', shownDiff(diff) || '(nothing)'],
    ['The tools that it used, in order', shownTools(run.steps) || '(none)'],
  ]
    .map(([title, text]) => `## ${title}\n\n${text}`)
    .join('\n\n');
