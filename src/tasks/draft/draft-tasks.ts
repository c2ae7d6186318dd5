import type { RolloutResult } from '../../core/contracts/index.ts';
import { fillScoring, needsAnswers, type Scoring, type TaskScorer } from '../../core/judge/index.ts';
import { normalizeAnswer, type QaItemInput, SimpleQAEnv } from '../../envs/index.ts';
import { type StageDeps, scoreSkill } from '../../pipeline/index.ts';
import { type Asked, type DraftRow, isSameTask, questionOf, readAsked, type TaskRow } from '../task-file.ts';
import {
  askForDrafts,
  askForOutline,
  missingOf,
  type Quota,
  quotasFor,
  type ReadDraft,
  type Subject,
} from './ask-drafter.ts';

export type DraftInput = Subject &
  Verifier & {
    /** How many tasks the file shall have. */
    readonly n: number;
    /** What it has already. */
    readonly rows: readonly TaskRow[];
    /** Questions that somebody dropped: they do not come again. */
    readonly refused?: readonly string[] | undefined;
  };

type DraftDeps = {
  readonly stages: StageDeps;
  /** Called with tasks as soon as they are good: they are safe when it returns. */
  readonly keep: (rows: readonly DraftRow[]) => Promise<void>;
  readonly onProgress?: (progress: DraftProgress) => void;
};

type DraftProgress = {
  readonly doing: 'reading the skill' | 'drafting' | 'solving';
  readonly kept: number;
  readonly wanted: number;
};

type Dropped = {
  readonly question: string;
  readonly why: 'repeated' | 'contradicted' | 'doubtful' | 'not usable';
};

export type DraftResult = {
  readonly kept: readonly DraftRow[];
  readonly dropped: readonly Dropped[];
  readonly topics: readonly string[];
};

/** After so many rounds, or so many drafts for each task that was wanted, what is there is all there will be. */
const MOST_ROUNDS = 4;
const MOST_TRIES = 2.5;
/** From this round on, what some topics could not give is asked of all. */
const OPEN_ROUND = 2;
/** More than are wanted, since some will be dropped. */
const SURPLUS = 1.5;

/** Drafts tasks until there are `n`, each one new and confirmed by independent solutions. */
export async function draftTasks(input: DraftInput, deps: DraftDeps): Promise<DraftResult> {
  const work = new Drafting(input, deps);
  if (work.room <= 0) return work.result([]);
  work.tell('reading the skill');
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
  /** Everything that was ever asked: what failed once is not tried in other words. */
  readonly #tried: Asked[];
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

  tell(doing: DraftProgress['doing']): void {
    this.#deps.onProgress?.({ doing, kept: this.#kept.length, wanted: this.room + this.#kept.length });
  }

  /** One request for each kind that is missing, then as many of its drafts as it takes. */
  async round(quotas: readonly Quota[], round: number): Promise<void> {
    const missing = missingOf(quotas, this.#rows, this.room, round >= OPEN_ROUND);
    this.tell('drafting');
    const lists = await this.#deps.stages.limit.map(quotas, async (quota, place) =>
      missing[place]! > 0 ? this.#ask(quota, missing[place]!, round) : [],
    );
    const waiting = lists.map((drafts) => drafts.flatMap((draft) => this.#admit(draft)));
    for (let batch = this.#next(waiting, missing); batch.length > 0; batch = this.#next(waiting, missing)) {
      this.tell('solving');
      const verdicts = await verifyDrafts(
        batch.map(({ row }) => row),
        this.#input,
        this.#deps.stages,
      );
      for (const [index, { place }] of batch.entries()) if (verdicts[index] === 'agreed') missing[place]! -= 1;
      await this.#settle(
        batch.map(({ row }) => row),
        verdicts,
      );
    }
  }

  #ask({ taskType, topic }: Quota, count: number, round: number): Promise<ReadDraft[]> {
    const known = this.#rows.filter((row) => row.taskType === taskType).map(questionOf);
    const request = { topic, count: Math.ceil(SURPLUS * count) + 1, known, round };
    return askForDrafts(request, this.#input, this.#deps.stages);
  }

  /** The draft if it can be a task and is new. */
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

  /** As many of each kind as are missing, and in all as many as are saved at once. */
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
    const good = rows.filter((_, index) => verdicts[index] === 'agreed');
    if (good.length > 0) await this.#deps.keep(good);
    this.#kept.push(...good);
    for (const [index, row] of rows.entries()) {
      if (verdicts[index] === 'contradicted') this.#drop(row.question, 'contradicted');
      if (verdicts[index] === 'unsettled') this.#doubtful.push({ ...row, doubtful: true });
    }
  }

  /** Where there are too few, those that nothing speaks against, marked. */
  async keepDoubtful(): Promise<void> {
    const taken = this.#doubtful.slice(0, Math.max(0, this.room));
    if (taken.length > 0) await this.#deps.keep(taken);
    this.#kept.push(...taken);
    for (const { question } of this.#doubtful.slice(taken.length)) this.#drop(question, 'doubtful');
  }

  result(topics: readonly string[]): DraftResult {
    return { kept: this.#kept, dropped: this.#dropped, topics };
  }
}

/** Drafts that are solved, and saved, together. */
const BATCH = 12;

/** Of a skill that covers as much as most. */
const USUAL_TOPICS = 8;
const MOST_TOPICS = 12;
/** Drafts that are solved for each task that is kept, and solutions of each, as they usually are. */
const USUAL_TRIES = 1.3;
const USUAL_SOLUTIONS = 2.3;
const MOST_SOLUTIONS = 3;

type DraftingEstimate = {
  /** Calls, and what they read and write, as they usually are. */
  readonly likely: { readonly calls: number; readonly input: number; readonly output: number };
  readonly mostCalls: number;
};

/** Tokens of a prompt beside the skill, of a reply with drafts, and of a solution. */
const USUAL_PROMPT = 300;
const USUAL_DRAFTS = 600;
const USUAL_SOLUTION = 150;

/** How often a model is asked for so many tasks: once about the skill, once for each topic, and for the solutions. */
export function estimateDrafting(count: number, skillTokens: number): DraftingEstimate {
  const drafts = 1 + 2 * Math.min(USUAL_TOPICS, count);
  const solutions = Math.round(count * USUAL_TRIES * USUAL_SOLUTIONS);
  const calls = drafts + solutions;
  const output = drafts * USUAL_DRAFTS + solutions * USUAL_SOLUTION;
  const mostCalls = 2 * (1 + MOST_ROUNDS * (MOST_TOPICS + 1)) + Math.ceil(count * MOST_TRIES) * MOST_SOLUTIONS;
  return { likely: { calls, input: calls * (skillTokens + USUAL_PROMPT), output }, mostCalls };
}

/** What independent solutions say of a draft: `unsettled` after the last of them is doubtful. */
type Verdict = 'agreed' | 'contradicted' | 'unsettled';

type Verifier = {
  /** What the solver reads before it works: the skill, with its files. */
  readonly reading: string;
  readonly scoring?: Scoring | undefined;
  readonly scorers?: readonly TaskScorer[] | undefined;
};

/** Two solutions settle most drafts; a third is asked for where they differ. */
const FIRST_SOLUTIONS = 2;

/**
 * Every draft is solved by a model that does not see its reference, as the target will be asked, and the solutions are scored as
 * the target's answers will be. One verdict for each, in their order.
 */
async function verifyDrafts(rows: readonly DraftRow[], verifier: Verifier, deps: StageDeps): Promise<Verdict[]> {
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
