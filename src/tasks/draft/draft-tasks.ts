import type { RolloutResult } from '../../core/contracts/index.ts';
import { fillScoring, needsAnswers, type Scoring, type TaskScorer } from '../../core/judge/index.ts';
import { normalizeAnswer, type QaItemInput, SimpleQAEnv } from '../../envs/index.ts';
import { type StageDeps, scoreSkill } from '../../pipeline/index.ts';
import { type AskedWords, type DraftRow, isSameTask, questionOf, readAsked, type TaskRow } from '../task-file.ts';
import {
  askForDrafts,
  askForOutline,
  MOST_TOPICS,
  missingOf,
  type Quota,
  quotasFor,
  type ReadDraft,
  type Subject,
} from './ask-drafter.ts';

export type DraftInput = Subject &
  Verifier & {
    /** How many tasks the file should have. */
    readonly n: number;
    readonly rows: readonly TaskRow[];
    /** Dropped questions, which must not come again. */
    readonly refused?: readonly string[] | undefined;
    /** The number of the first round. Equal rounds get equal drafts. */
    readonly firstRound?: number | undefined;
  };

type DraftDeps = {
  readonly stages: StageDeps;
  /** Saves tasks as soon as they are confirmed. */
  readonly keep: (rows: readonly DraftRow[]) => Promise<void>;
  readonly onProgress?: (progress: { doing: DraftWork; kept: number; wanted: number }) => void;
};

type DraftWork = 'reading the skill' | 'drafting' | 'solving';

type Dropped = { readonly question: string; readonly why: 'repeated' | 'contradicted' | 'doubtful' | 'not usable' };

export type DraftResult = ReturnType<Drafting['result']>;

export const MOST_ROUNDS = 4;
const MOST_TRIES = 2.5;
/** From this round on, all topics replace what some could not give. */
const OPEN_ROUND = 2;
/** More drafts than needed, since some will be dropped. */
const SURPLUS = 1.5;

/** Drafts tasks until there are `n`, each one new and confirmed by independent solutions. */
export async function draftTasks(input: DraftInput, deps: DraftDeps): Promise<DraftResult> {
  const work = new Drafting(input, deps);
  if (work.room <= 0) return work.result([]);
  work.report('reading the skill');
  const topics = await askForOutline(input, deps.stages);
  const quotas = quotasFor(topics, input.n);
  for (let round = 0; round < MOST_ROUNDS && work.room > 0; round++) await work.round(quotas, round);
  await work.keepDoubtful();
  return work.result(topics.map(({ name }) => name));
}

class Drafting {
  readonly #input: DraftInput;
  readonly #deps: DraftDeps;
  readonly #kept: DraftRow[] = [];
  readonly #dropped: Dropped[] = [];
  readonly #doubtful: DraftRow[] = [];
  /** All questions so far: one that failed is not tried again in other words. */
  readonly #tried: AskedWords[];
  #tries: number;

  constructor(input: DraftInput, deps: DraftDeps) {
    this.#input = input;
    this.#deps = deps;
    this.#tried = [...input.rows.map(questionOf), ...(input.refused ?? [])].map(readAsked);
    this.#tries = Math.ceil(MOST_TRIES * this.room);
  }

  get room(): number {
    return this.#input.n - this.#input.rows.length - this.#kept.length;
  }

  get #rows(): readonly TaskRow[] {
    return [...this.#input.rows, ...this.#kept];
  }

  report(doing: DraftWork): void {
    this.#deps.onProgress?.({ doing, kept: this.#kept.length, wanted: this.room + this.#kept.length });
  }

  /** Requests drafts of each missing kind, and solves as many of them as needed. */
  async round(quotas: readonly Quota[], round: number): Promise<void> {
    const missing = missingOf(quotas, this.#rows, this.room, round >= OPEN_ROUND);
    this.report('drafting');
    const lists = await this.#deps.stages.limit.map(quotas, async (quota, place) =>
      missing[place]! > 0 ? this.#ask(quota, missing[place]!, round) : [],
    );
    const waiting = lists.map((drafts) => drafts.flatMap((draft) => this.#admit(draft)));
    for (let batch = this.#next(waiting, missing); batch.length > 0; batch = this.#next(waiting, missing)) {
      this.report('solving');
      const rows = batch.map(({ row }) => row);
      const verdicts = await verifyDrafts(rows, this.#input, this.#deps.stages);
      for (const [index, { place }] of batch.entries()) if (verdicts[index] === 'agreed') missing[place]! -= 1;
      await this.#settle(rows, verdicts);
    }
  }

  #ask({ taskType, topic }: Quota, count: number, round: number): Promise<ReadDraft[]> {
    const known = this.#rows.filter((row) => row.taskType === taskType).map(questionOf);
    const draw = (this.#input.firstRound ?? 0) + round;
    const request = { topic, count: Math.ceil(SURPLUS * count) + 1, known, round: draw };
    return askForDrafts(request, this.#input, this.#deps.stages);
  }

  #admit(draft: ReadDraft): DraftRow[] {
    if (!('row' in draft)) return this.#drop(draft.question, 'not usable');
    const asked = readAsked(draft.row.question);
    if (this.#tried.some((other) => isSameTask(asked, other))) return this.#drop(draft.row.question, 'repeated');
    this.#tried.push(asked);
    return [draft.row];
  }

  #drop(question: string, why: Dropped['why']): [] {
    this.#dropped.push({ question, why });
    return [];
  }

  /** The next drafts to solve: of each kind as many as are missing, and in all at most a batch. */
  #next(waiting: DraftRow[][], missing: readonly number[]) {
    const batch = waiting.flatMap((rows, place) =>
      rows.slice(0, Math.max(0, missing[place]!)).map((row) => ({ row, place })),
    );
    const taken = batch.slice(0, Math.min(BATCH, this.#tries));
    for (const { row, place } of taken) waiting[place] = waiting[place]!.filter((other) => other !== row);
    this.#tries -= taken.length;
    return taken;
  }

  async #settle(rows: readonly DraftRow[], verdicts: readonly Verdict[]): Promise<void> {
    await this.#keep(rows.filter((_, index) => verdicts[index] === 'agreed'));
    for (const [index, row] of rows.entries()) {
      if (verdicts[index] === 'contradicted') this.#drop(row.question, 'contradicted');
      if (verdicts[index] === 'unsettled') this.#doubtful.push({ ...row, doubtful: true });
    }
  }

  async #keep(rows: readonly DraftRow[]): Promise<void> {
    if (rows.length > 0) await this.#deps.keep(rows);
    this.#kept.push(...rows);
  }

  /** If there are too few tasks, adds unsettled drafts and marks them. */
  async keepDoubtful(): Promise<void> {
    const taken = this.#doubtful.slice(0, Math.max(0, this.room));
    await this.#keep(taken);
    for (const { question } of this.#doubtful.slice(taken.length)) this.#drop(question, 'doubtful');
  }

  result(topics: readonly string[]) {
    return { kept: this.#kept, dropped: this.#dropped, topics } as const;
  }
}

const BATCH = 12;

const USUAL_TOPICS = 8;
/** Solved drafts for each kept task, and solutions of each draft. */
const USUAL_TRIES = 1.3;
const USUAL_SOLUTIONS = 2.3;
const MOST_SOLUTIONS = 3;
/** Tokens of a prompt beside the skill, of a reply with drafts, and of a solution. */
const USUAL_PROMPT = 300;
const USUAL_DRAFTS = 600;
const USUAL_SOLUTION = 150;

/** Calls and tokens for this many tasks: one call about the skill, one or two for each topic, and the solutions. */
export function estimateDrafting(count: number, skillTokens: number) {
  const drafts = 1 + 2 * Math.min(USUAL_TOPICS, count);
  const solutions = Math.round(count * USUAL_TRIES * USUAL_SOLUTIONS);
  const calls = drafts + solutions;
  const output = drafts * USUAL_DRAFTS + solutions * USUAL_SOLUTION;
  const mostCalls = 2 * (1 + MOST_ROUNDS * (MOST_TOPICS + 1)) + Math.ceil(count * MOST_TRIES) * MOST_SOLUTIONS;
  return { likely: { calls, input: calls * (skillTokens + USUAL_PROMPT), output }, mostCalls };
}

/** A draft that is unsettled after the last solution is doubtful. */
type Verdict = 'agreed' | 'contradicted' | 'unsettled';

type Verifier = {
  readonly reading: string;
  readonly scoring?: Scoring | undefined;
  readonly scorers?: readonly TaskScorer[] | undefined;
};

/** Two solutions settle most drafts. A third is needed if they differ. */
const FIRST_SOLUTIONS = 2;

/**
 * A model solves every draft without seeing its reference. Questions and scoring are those of the target. One verdict for
 * each draft, in their order.
 */
async function verifyDrafts(rows: readonly DraftRow[], verifier: Verifier, deps: StageDeps): Promise<Verdict[]> {
  const solutions = rows.map((): RolloutResult[] => []);
  const verdicts = rows.map((): Verdict => 'unsettled');
  for (let sample = 0; sample < MOST_SOLUTIONS; sample++) {
    const open = [...rows.keys()].filter((index) => verdicts[index] === 'unsettled');
    if (open.length === 0) break;
    const items = open.map((index) => toItem(rows[index]!, String(index), verifier.scoring));
    const judges = verifier.scorers ?? [];
    const env = new SimpleQAEnv({ trainItems: items, valItems: [], testItems: [], judges, name: 'drafts' });
    const request = { env, skill: verifier.reading, items: env.getItems('train'), sampleIndex: sample };
    const { results } = await scoreSkill(request, deps);
    for (const [place, index] of open.entries()) {
      solutions[index]!.push(results[place]!);
      if (sample + 1 >= FIRST_SOLUTIONS) verdicts[index] = judgeSolutions(rows[index]!, solutions[index]!);
    }
  }
  return verdicts;
}

function toItem({ question, answers, judge }: DraftRow, id: string, scoring: Scoring | undefined): QaItemInput {
  const filled =
    judge === undefined && scoring && needsAnswers(scoring) ? fillScoring(scoring, answers ?? []).judge : judge;
  return { id, question, ...(answers ? { answers } : {}), ...(filled ? { judge: filled } : {}) };
}

/**
 * Two right solutions confirm a reference. Two equal wrong ones contradict it. For checks and criteria one solution that
 * passes is enough: failing ones prove nothing.
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
  return isTwice ? 'contradicted' : 'unsettled';
}
