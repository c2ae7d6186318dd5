import type { ChatMessage, ChatReply, RolloutResult } from '../../core/contracts/index.ts';
import {
  checksJudge,
  containsJudge,
  exactJudge,
  type JudgedAnswer,
  type JudgeKind,
  jsonSchemaJudge,
  modelChecks,
  numberJudge,
  regexJudge,
  ruleJudge,
  type TaskJudge,
  type TaskScorer,
} from '../../core/judge/index.ts';
import { rstrip } from '../../core/text/index.ts';
import { tasksInvalid } from '../../imports/index.ts';
import type { QaItem } from './qa-columns.ts';

const BUILT_IN = [ruleJudge, exactJudge, containsJudge, regexJudge, numberJudge, jsonSchemaJudge] as TaskScorer[];

/** The judges of an environment's tasks, each with the scorer that carries it out. */
export class TaskJudges {
  /** Added to the environment's version: empty where no task has a judge. */
  readonly version: string;
  readonly #used: ReadonlyMap<JudgeKind, TaskScorer>;

  /** Throws `TASKS_INVALID` for tasks whose judges nobody can carry out. */
  constructor(items: readonly QaItem[], given: readonly TaskScorer[] = []) {
    const known = withChecks(new Map([...BUILT_IN, ...given].map((scorer) => [scorer.kind, scorer])));
    const kinds = new Set(items.flatMap(({ judge }) => judge?.kind ?? []));
    const lacking = items.filter(({ judge }) => judge && !known.has(needed(judge)));
    if (lacking.length > 0) {
      const hint = 'Give the environment `judges: [rubricJudge(), commandJudge({ sandbox })]` from skillopt/judges.';
      const describe = ({ id, judge }: QaItem) =>
        `task ${id} has a judge of the kind ${needed(judge!)}, and there is none`;
      throw tasksInvalid(lacking.map(describe), hint);
    }
    this.#used = new Map([...known].filter(([kind]) => kinds.has(kind)));
    const versions = [...this.#used.values()].map(({ kind, version }) => `${kind} ${version}`).sort();
    this.version = versions.length === 0 ? '' : `, judges ${versions.join(', ')}`;
  }

  async ready(): Promise<void> {
    for (const scorer of this.#used.values()) await scorer.ready?.();
  }

  /** How often a model is asked about an answer, on average over all tasks. */
  meanCalls(items: readonly QaItem[]): number {
    const calls = items.map(({ judge }) => (judge && this.#used.get(judge.kind)?.judgeCalls?.(judge)) ?? 0);
    return calls.reduce((sum, count) => sum + count, 0) / Math.max(1, items.length);
  }

  /** The whole reply is the answer. */
  async score(
    { id, question, answers, taskType, judge }: QaItem,
    { text, finishReason }: ChatReply,
    { model, signal }: Pick<JudgedAnswer, 'model' | 'signal'>,
  ): Promise<RolloutResult> {
    const scorer = this.#used.get(judge!.kind)!;
    const output = await scorer.score({ judge: judge!, question, answer: text, model, signal });
    const { failReason } = output;
    const cut = finishReason === 'length' ? ' (the reply was cut at the token limit)' : '';
    return {
      ...output,
      id,
      nTurns: 1,
      ...(taskType === undefined ? {} : { taskType }),
      question,
      predictedAnswer: text,
      ...(answers.length === 0 ? {} : { referenceText: answers.join(' | ') }),
      ...(failReason === undefined ? {} : { failReason: `${failReason}${cut}` }),
    };
  }
}

/** Checks that need a model are made by the scorer of rubrics. */
function withChecks(known: Map<JudgeKind, TaskScorer>): Map<JudgeKind, TaskScorer> {
  const checks = checksJudge(known.get('rubric') as TaskScorer<'rubric'> | undefined) as TaskScorer;
  return new Map([['checks', checks], ...known]);
}

/** Whether a model is asked about answers to a task. */
export const asksModel = ({ judge }: Pick<QaItem, 'judge'>): boolean =>
  judge !== undefined && needed(judge) === 'rubric';

const needed = (judge: TaskJudge): JudgeKind =>
  judge.kind === 'checks' && modelChecks(judge).length > 0 ? 'rubric' : judge.kind;

/** What the target reads when its whole reply is judged. The skill alone says how to write it. */
export function judgedMessages(skill: string, task: string): ChatMessage[] {
  const system = rstrip(skill);
  const user = { role: 'user' as const, content: task };
  return system === '' ? [user] : [{ role: 'system', content: system }, user]; // providers refuse an empty message
}
