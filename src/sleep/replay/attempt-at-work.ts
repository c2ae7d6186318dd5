import type {
  AgentRun,
  RolloutContext,
  RolloutOutput,
  Sandbox,
  WorkspaceDiff,
  WorkspaceView,
} from '../../core/contracts/index.ts';
import type { TaskScorer } from '../../core/judge/index.ts';
import { commandJudge } from '../../judges/index.ts';
import { limitsOf, requireAgent, toOutput, trajectoryOf, workText } from '../../runners/index.ts';
import { openWorkspace } from '../../workspaces/index.ts';
import { firstDrawOf } from '../dream/multi-rollout.ts';
import { followUpsOf, type TaskRecord } from '../task-record.ts';
import { type Documents, taskText } from './attempt.ts';
import type { NightWork } from './night-work.ts';
import { noScore, scorersOf, taskTypeOf } from './replay.ts';
import { taskJudgeOf } from './task-judge-of.ts';

/** Raised whenever what is done below changes a score. */
export const WORK_VERSION = 1;

type Reading = {
  readonly work: NightWork;
  readonly read: Documents;
  /** Whether the trained text has something that the agent could have read. */
  readonly hasLearned: boolean;
  readonly scorers: readonly TaskScorer[] | undefined;
};

/** A task done by an agent with tools, in a fresh copy of the project, and scored once nothing of the agent is left. */
export async function attemptAtWork(context: RolloutContext<TaskRecord>, reading: Reading): Promise<RolloutOutput> {
  const { item: task, signal } = context;
  const { work, read } = reading;
  const agent = requireAgent(context.agent);
  const prompt = promptOf(task);
  const { template, skills } = await work.begin(read);
  await using workspace = await openWorkspace({ template, sandbox: work.sandbox });
  const run = await agent.run({
    workspace: workspace.view,
    ...{ prompt, skills, signal, limits: limitsOf(work.limits), sampleIndex: firstDrawOf(task.id) },
  });
  const diff = await workspace.diff();
  const score = await scoreWork(context, { run, diff, view: workspace.view }, reading);
  const trajectory = trajectoryOf(run, { agent, prompt, sessionId: task.id });
  const output = toOutput(score, { prompt, taskType: taskTypeOf(task) }, { run, diff, skill: skills[0], trajectory });
  const { skillUnread, ...told } = output;
  const referenceText = task.split === 'train' ? followUpsOf(task) : ''; // of what is held out nobody learns it
  return {
    ...told,
    ...(skillUnread && reading.hasLearned ? { skillUnread } : {}),
    ...(referenceText === '' ? {} : { referenceText }),
  };
}

const promptOf = (task: TaskRecord) => (task.system === '' ? taskText(task) : `${task.system}\n\n${taskText(task)}`);

type Done = { readonly run: AgentRun; readonly diff: WorkspaceDiff; readonly view: WorkspaceView };

/** As answers in words are; a model also reads what was changed, and a command finds it. */
async function scoreWork(
  { item: task, judge: model, signal }: RolloutContext<TaskRecord>,
  { run, diff, view }: Done,
  { work, scorers = [] }: Reading,
): Promise<RolloutOutput> {
  const judge = taskJudgeOf(task);
  const inside = commandJudge({ sandbox: inWorkspace(work.sandbox, view) }) as TaskScorer;
  const scorer = scorersOf([...scorers, inside]).get(judge.kind);
  if (!scorer) return noScore(`nobody here scores by ${judge.kind}`);
  const answer = judge.kind === 'rubric' ? workText({ run, diff }) : run.text;
  const toolsCalled = [...new Set(run.steps.flatMap((step) => (step.type === 'tool-call' ? [step.tool] : [])))];
  const scored = await scorer.score({ judge, question: taskText(task), answer, toolsCalled, model, signal });
  return { ...scored, ...(scored.errored ? { unjudged: true } : {}), hard: scored.hard >= 1 ? 1 : 0 };
}

/** Commands run where the agent worked, which is gone by then. */
const inWorkspace = (sandbox: Sandbox, view: WorkspaceView): Sandbox => ({
  ...sandbox,
  run: ({ cwd: _, ...request }) => sandbox.run({ ...request, workspace: view }),
});
