import {
  type ChatMessage,
  type ChatReply,
  type RolloutContext,
  type RolloutResult,
  type SkillEnv,
  SkillError,
} from '../../core/contracts/index.ts';
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
import { rstrip, strip } from '../../core/text/index.ts';
import { checkUniqueIds, parseRows, tasksInvalid } from '../../imports/index.ts';
import { requireSplitName } from '../split.ts';
import { QA_ITEM_HINT, QaItem, type QaItemInput } from './qa-columns.ts';

export type SimpleQAEnvOptions = {
  readonly trainItems: readonly QaItemInput[];
  readonly valItems: readonly QaItemInput[];
  readonly testItems: readonly QaItemInput[];
  /** The document that training starts from. Default: an empty one. */
  readonly initialSkill?: string;
  /** Longest reply to one question, in tokens. */
  readonly maxCompletionTokens?: number;
  /** For tasks that bring a judge: `rubricJudge()`, `commandJudge({ sandbox })`. Rules and exact matches need none. */
  readonly judges?: readonly TaskScorer[];
  /** What a person should know about the tasks before a run. */
  readonly warnings?: readonly string[];
  /** How many of the tasks a model drafted, and how many of those nobody reviewed. */
  readonly drafts?: SkillEnv['drafts'];
  readonly name?: string;
};

/**
 * Questions with gold answers. One call per question, with the skill as system prompt. An answer that equals a gold one after
 * SQuAD's normalisation is right (`hard`), and words in common give partial credit (`soft`). A task with its own judge is
 * scored by that, and the whole reply is the answer. Invalid items throw `TASKS_INVALID`.
 */
export class SimpleQAEnv implements SkillEnv<QaItem> {
  readonly name: string;
  readonly version: string;
  readonly judgeCalls: number;
  readonly warnings: readonly string[];
  readonly drafts: SkillEnv['drafts'];
  readonly #items: ReadonlyMap<string, readonly QaItem[]>;
  readonly #initialSkill: string;
  readonly #maxCompletionTokens: number;
  readonly #judges: TaskJudges;

  constructor(options: SimpleQAEnvOptions) {
    const { name = 'simple-qa', initialSkill = '', maxCompletionTokens = 4096 } = options;
    if (!Number.isSafeInteger(maxCompletionTokens) || maxCompletionTokens <= 0) {
      const problem = `maxCompletionTokens must be a positive whole number, got ${maxCompletionTokens}`;
      throw new SkillError('ENV_INVALID', `${name}: ${problem}`);
    }
    this.name = name;
    this.warnings = options.warnings ?? [];
    this.drafts = options.drafts;
    this.#items = parseSplits(options);
    const items = [...this.#items.values()].flat();
    this.#judges = new TaskJudges(items, options.judges);
    this.judgeCalls = this.#judges.meanCalls(items);
    this.version = `format ${QA_FORMAT_VERSION}, maxCompletionTokens ${maxCompletionTokens}${this.#judges.version}`;
    this.#initialSkill = initialSkill;
    this.#maxCompletionTokens = maxCompletionTokens;
  }

  /** The items of `train`, `val` or `test`, also by an alias such as `valid_seen`. */
  getItems(split: string): readonly QaItem[] {
    return this.#items.get(requireSplitName(split, this.name))!;
  }

  /** Throws when a judge that is needed cannot work here. */
  async setup(): Promise<void> {
    await this.#judges.ready();
  }

  getInitialSkill(): string {
    return this.#initialSkill;
  }

  /** Each task type once, in the order of the items. */
  getTaskTypes(): readonly string[] {
    return [...new Set([...this.#items.values()].flat().flatMap((item) => item.taskType ?? []))];
  }

  async rolloutOne({ item, skill, target, judge, signal }: RolloutContext<QaItem>): Promise<RolloutResult> {
    const messages = qaMessages(skill, item);
    const maxOutputTokens = this.#maxCompletionTokens;
    const reply = await target.complete({ messages, stage: 'rollout', maxOutputTokens, signal });
    const conversation = [messages.at(-1), { role: 'assistant', content: reply.text }];
    if (item.judge === undefined) return { ...toResult(item, reply), conversation };
    return { ...(await this.#judges.score(item, reply, { model: judge, signal })), conversation };
  }
}

function toResult({ id, question, answers, taskType }: QaItem, reply: ChatReply): RolloutResult {
  const predictedAnswer = extractAnswer(reply.text);
  const score = scoreAnswer(predictedAnswer, answers);
  return {
    id,
    ...score,
    nTurns: 1,
    ...(taskType === undefined ? {} : { taskType }),
    question,
    predictedAnswer,
    referenceText: answers.join(' | '),
    ...(score.hard === 1 ? {} : { failReason: describeMiss(answers, predictedAnswer, reply) }),
  };
}

function describeMiss(golds: readonly string[], predicted: string, reply: ChatReply): string {
  const expected = golds.map((gold) => JSON.stringify(gold)).join(', ');
  return `expected ${golds.length > 1 ? 'one of ' : ''}${expected}, got ${JSON.stringify(predicted)}${cutNote(reply)}`;
}

/** Goes with the reason of a miss, so that analysts do not blame the skill. */
export const cutNote = ({ finishReason }: Pick<ChatReply, 'finishReason'>): string =>
  finishReason === 'length' ? ' (the reply was cut at the token limit)' : '';

function parseSplits({ trainItems, valItems, testItems }: SimpleQAEnvOptions): Map<string, readonly QaItem[]> {
  const splits = Object.entries({ train: trainItems, val: valItems, test: testItems }).map(([split, items]) => {
    if (!Array.isArray(items)) throw tasksInvalid([`${split}Items must be a list, got ${items}`], 'It may be empty.');
    const rows = items.map((value, index) => ({ value, where: `item ${index + 1} of ${split}` }));
    return { split, rows: parseRows(rows, { schema: QaItem, hint: QA_ITEM_HINT }) };
  });
  checkUniqueIds(splits.flatMap(({ rows }) => rows));
  return new Map(splits.map(({ split, rows }) => [split, rows.map((row) => row.value)]));
}

/** Raised whenever the wording below or the reading of the reply changes, so that no older rollout is reused. */
const QA_FORMAT_VERSION = 1;

const ANSWER_FORMAT =
  'End your reply with the final answer inside <answer></answer>, in as few words as it takes. ' +
  'Only what stands between these tags is graded.';

/** What the target reads. The part that all tasks share comes first, so that providers can cache it. */
function qaMessages(skill: string, { context, question, judge }: QaItem): ChatMessage[] {
  const passage = context === undefined ? '' : `Context:\n${context}\n\n`;
  if (judge) return judgedMessages(skill, `${passage}${question}`);
  return [
    { role: 'system', content: `${rstrip(skill)}\n\n${ANSWER_FORMAT}`.trimStart() },
    { role: 'user', content: `${passage}Question: ${question}` },
  ];
}

// An opening tag ends the search for the one before it: models also write about "the <answer> tag".
const ANSWER = /<answer>((?:(?!<answer>).)*?)<\/answer>/gis;

/** The text in the last `<answer>…</answer>`, or else the last line that is not empty. */
export function extractAnswer(reply: string): string {
  const tagged = [...reply.matchAll(ANSWER)].at(-1)?.[1];
  if (tagged !== undefined) return strip(tagged);
  const lines = reply.split('\n').map(strip);
  return lines.findLast((line) => line !== '') ?? '';
}

/** How right an answer is: `hard` is 1 for an exact match and 0 otherwise, `soft` is the overlap of words. */
export type AnswerScore = { readonly hard: 0 | 1; readonly soft: number };

const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]/g;
// Spelled out because `\b` knows ASCII letters only and would cut the "a" off "año".
const ARTICLE = /(?<![\p{L}\p{M}\p{N}])(?:a|an|the)(?![\p{L}\p{M}\p{N}])/gu;

/** SQuAD's normal form: lower case, no ASCII punctuation, no articles, single spaces. */
export function normalizeAnswer(text: string): string {
  const bare = text.toLowerCase().replace(ASCII_PUNCTUATION, '').replace(ARTICLE, ' ');
  return bare.replace(/\s+/g, ' ').trim();
}

/** The `wordOverlap` of the words of two texts. Two empty texts score 1. */
export const tokenF1 = (predicted: string, gold: string): number => wordOverlap(tokenize(predicted), tokenize(gold));

/** Twice the shared words over all words, each counted as often as it occurs. */
export const wordOverlap = (tokens: readonly string[], others: readonly string[]) =>
  (2 * countShared(tokens, others)) / (tokens.length + others.length);

/** The best score over all gold answers. An answer that merely contains a gold one is not an exact match. */
export function scoreAnswer(predicted: string, golds: readonly string[]): AnswerScore {
  const tokens = tokenize(predicted); // once: an answer may be long, and have many golds
  const wanted = golds.map(tokenize);
  const hard = wanted.some((gold) => gold.join(' ') === tokens.join(' ')) ? 1 : 0;
  return { hard, soft: Math.max(0, ...wanted.map((gold) => wordOverlap(tokens, gold))) };
}

/** Never empty: a text without words is one empty token. */
const tokenize = (text: string): string[] => normalizeAnswer(text).split(' ');

function countShared(tokens: readonly string[], others: readonly string[]): number {
  const unused = new Map<string, number>();
  for (const token of others) unused.set(token, (unused.get(token) ?? 0) + 1);
  return tokens.filter((token) => {
    const left = unused.get(token) ?? 0;
    unused.set(token, left - 1);
    return left > 0;
  }).length;
}

const BUILT_IN = [ruleJudge, exactJudge, containsJudge, regexJudge, numberJudge, jsonSchemaJudge] as TaskScorer[];

/** The judges of an environment's tasks, each with the scorer that carries it out. */
class TaskJudges {
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
    reply: ChatReply,
    { model, signal }: Pick<JudgedAnswer, 'model' | 'signal'>,
  ): Promise<RolloutResult> {
    const scorer = this.#used.get(judge!.kind)!;
    const output = await scorer.score({ judge: judge!, question, answer: reply.text, model, signal });
    const { failReason } = output;
    return {
      ...output,
      id,
      nTurns: 1,
      ...(taskType === undefined ? {} : { taskType }),
      question,
      predictedAnswer: reply.text,
      ...(answers.length === 0 ? {} : { referenceText: answers.join(' | ') }),
      ...(failReason === undefined ? {} : { failReason: `${failReason}${cutNote(reply)}` }),
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
function judgedMessages(skill: string, task: string): ChatMessage[] {
  const system = rstrip(skill);
  const user = { role: 'user' as const, content: task };
  return system === '' ? [user] : [{ role: 'system', content: system }, user]; // providers refuse an empty message
}
