import pLimit from 'p-limit';
import { type ChatMessage, type ChatModel, type RolloutOutput, SkillError } from '../../core/contracts/index.ts';
import {
  exactJudge,
  type JudgeKind,
  ruleJudge,
  TaskJudge,
  type TaskJudgeInput,
  type TaskScorer,
} from '../../core/judge/index.ts';
import { fence, rstrip } from '../../core/text/index.ts';
import { rubricJudge } from '../../judges/index.ts';
import type { TaskRecord, Tasks } from '../task-record.ts';

/** Without a judge, tasks with a rubric have no score. */
export type ReplayModels = { readonly target: ChatModel; readonly judge?: ChatModel | undefined };

/** One attempt at a task, scored. `errored`: there is no score, which is not zero. */
export type ReplayResult = {
  readonly id: string;
  readonly hard: number;
  readonly soft: number;
  readonly response: string;
  readonly failReason: string;
  readonly taskType: string;
  readonly judgeRationale: string;
  readonly toolsCalled: readonly string[];
  readonly tokens: number;
  readonly latencyMs: number;
  readonly errored: boolean;
};

export type ReplayOptions = {
  /** Which draw: attempts with different indexes are independent. */
  readonly sampleIndex?: number | undefined;
  /** For tasks with a command: `commandJudge({ sandbox })`. */
  readonly scorers?: readonly TaskScorer[] | undefined;
  /** The words before the documents, in place of ours. */
  readonly prompt?: string | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

const BUILT_IN = [ruleJudge, exactJudge, rubricJudge()] as unknown as readonly TaskScorer[];

/** The scorer of each kind of judge. Given ones replace ours. */
export const scorersOf = (given: readonly TaskScorer[] = []): ReadonlyMap<JudgeKind, TaskScorer> =>
  new Map([...BUILT_IN, ...given].map((scorer) => [scorer.kind, scorer]));

export async function replayOne(
  models: ReplayModels,
  task: TaskRecord,
  documents: Documents,
  options: ReplayOptions = {},
): Promise<ReplayResult> {
  const started = performance.now();
  const { sampleIndex, prompt, maxOutputTokens = 4096, signal } = options;
  const { target, judge: model } = sampleIndex === undefined ? models : drawing(models, sampleIndex);
  const messages = attemptMessages(task, documents, prompt);
  const reply = await target.complete({ messages, stage: 'rollout', maxOutputTokens, ...(signal ? { signal } : {}) });
  const toolsCalled = toolsIn(reply.text);
  const scored = await scoreAnswer(task, { answer: reply.text, toolsCalled, model, signal }, options.scorers);
  const { hard, soft, errored = false, failReason = '' } = scored;
  return {
    ...{ id: task.id, soft, errored, failReason, judgeRationale: failReason, toolsCalled },
    hard: hard >= 1 ? 1 : 0, // in sleep an attempt that is not wholly right has failed
    response: reply.text,
    taskType: taskTypeOf(task) ?? '',
    tokens: reply.usage.input + reply.usage.output,
    latencyMs: Math.round(performance.now() - started),
  };
}

type Answered = Pick<Parameters<TaskScorer['score']>[0], 'answer' | 'toolsCalled' | 'model' | 'signal'>;

/** An empty reply is a failed call that did not say so. */
async function scoreAnswer(task: TaskRecord, answered: Answered, scorers: readonly TaskScorer[] | undefined) {
  const judge = taskJudgeOf(task);
  const scorer = scorersOf(scorers).get(judge.kind);
  if (!scorer) return noScore(`nobody here scores by ${judge.kind}`);
  if (answered.answer.trim() === '') return noScore('the reply was empty, which is no score');
  return scorer.score({ judge, question: taskText(task), ...answered });
}

export const noScore = (failReason: string): RolloutOutput => ({ hard: 0, soft: 0, errored: true, failReason });

export const taskTypeOf = ({ tags }: TaskRecord) => tags.find((tag) => !/^(?:tools|branch|needs):/.test(tag));

const TOOL_CALL = /^[^\S\n\r\u2028\u2029]*tool_call\s{0,20}:\s{0,20}([\w.-]{1,64})/gim;

/** Names on lines such as `tool_call: search`. */
const toolsIn = (text: string) => [...new Set([...text.matchAll(TOOL_CALL)].map(([, name]) => name!))];

/** Draws that a judge may number inside one attempt. */
const DRAWS_PER_ATTEMPT = 1_000;

function drawing({ target, judge }: ReplayModels, sampleIndex: number): ReplayModels {
  const draw = (model: ChatModel): ChatModel => ({
    ...model,
    id: model.id,
    complete: (request) =>
      model.complete({ ...request, sampleIndex: sampleIndex * DRAWS_PER_ATTEMPT + (request.sampleIndex ?? 0) }),
  });
  return { target: draw(target), judge: judge && draw(judge) };
}

/** Attempts many tasks, `workers` at once. Results keep the order of the tasks. */
export async function replayBatch(
  models: ReplayModels,
  tasks: Tasks,
  documents: Documents,
  { workers = 8, ...options }: ReplayOptions & { readonly workers?: number } = {},
): Promise<ReplayResult[]> {
  const limit = pLimit(Math.max(1, workers));
  return Promise.all(tasks.map((task) => limit(() => replayOne(models, task, documents, options))));
}

export type AggregateScores = { readonly hard: number; readonly soft: number; readonly scored: number };

export function aggregateScores(results: readonly Pick<ReplayResult, 'hard' | 'soft' | 'errored'>[]): AggregateScores {
  const scored = results.filter(({ errored }) => !errored);
  const mean = (key: 'hard' | 'soft') => scored.reduce((sum, one) => sum + one[key], 0) / Math.max(1, scored.length);
  return { hard: mean('hard'), soft: mean('soft'), scored: scored.length };
}

export type Documents = { readonly skill: string; readonly memory: string };

/** Raise it when the wording below changes, so that no older rollout is reused. */
export const ATTEMPT_VERSION = 2;

const ATTEMPT = `You are a coding agent at work for a person. What they wrote down for you, and what you have learned with them, stands
below; follow it. Do the task and answer with the result alone. Where you would call a tool, write a line
"tool_call: NAME" and continue as if it had worked.`;

/** What the target reads. A task's own system prompt stands word for word before the documents. */
function attemptMessages(task: TaskRecord, { skill, memory }: Documents, prompt = ATTEMPT): ChatMessage[] {
  const lead = task.system === '' ? prompt : task.system;
  const documents = [section('Skill', skill), section('Memory', memory)].filter((text) => text !== '');
  return [
    { role: 'system', content: [rstrip(lead), ...documents].join('\n\n') },
    { role: 'user', content: taskText(task) },
  ];
}

const section = (title: string, text: string) => (text.trim() === '' ? '' : `# ${title}\n\n${rstrip(text)}`);

export const taskText = ({ intent, contextExcerpt }: Pick<TaskRecord, 'intent' | 'contextExcerpt'>) =>
  contextExcerpt === '' ? intent : `${intent}\n\nWhat was said before:\n${contextExcerpt}`;

/** How an answer is scored. Without a reference: whether it does what was asked, and what the person added later. */
export function taskJudgeOf(task: TaskRecord): TaskJudge {
  const read = TaskJudge.safeParse(inputOf(task));
  if (read.success) return read.data;
  const problem = read.error.issues.map(({ path, message }) => `${path.join('.') || 'judge'} ${message}`).join('; ');
  throw new SkillError('TASKS_INVALID', `task ${JSON.stringify(task.id)}: ${problem}`, {
    hint: 'Correct the task in its file, or name it in a .skilloptignore: task:ID',
  });
}

function inputOf({ referenceKind: kind, reference, judge, intent }: TaskRecord): TaskJudgeInput {
  if (kind === 'exact') return { kind, reference };
  if (kind === 'rubric') return { kind, rubric: reference };
  if (kind !== 'none') return { ...judge, kind } as TaskJudgeInput;
  const asked = `The answer does what was asked, completely and correctly: ${intent}`;
  return { kind: 'rubric', rubric: reference === '' ? asked : `${asked}\n\n${LATER}\n${fence('said', reference)}` };
}

const LATER =
  'After another answer the person said what stands below. What corrects or completes the request is wanted of this answer from the start; what asks for something else does not count.';
