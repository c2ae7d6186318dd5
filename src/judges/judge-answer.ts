import { z } from 'zod';
import {
  type ChatMessage,
  type ChatModel,
  type ChatReply,
  ModelCallError,
  type RolloutOutput,
  type RolloutResult,
} from '../core/contracts/index.ts';
import { combineJudgements, type Judgement } from '../core/stats/index.ts';
import {
  askForScore,
  askToCompare,
  type JudgeQuestion,
  type JudgeReply,
  type JudgeSubject,
  readVerdict,
} from './judge-question.ts';

export type JudgeAnswerInput = JudgeSubject & {
  /** The model that a rollout is handed. */
  readonly judge: ChatModel | undefined;
  /** How often the judge is asked, each time independently. Beside a reference at least twice: once in each place. */
  readonly repeats?: number;
  readonly signal?: AbortSignal | undefined;
};

export type AnswerJudgement = {
  /** From 0 to 1. `null`: no judgement could be had, or in one place only, which says nothing about the answer. */
  readonly score: number | null;
  /** Every time that the judge was asked, in order. */
  readonly judgements: readonly SingleJudgement[];
};

/**
 * Asks a model how good an answer is: by a rubric alone, or blind beside a reference, in both places in turn, so that a
 * taste for one of them cancels. A reply that cannot be read, or holds verdicts that differ, is asked for again once; then
 * that judgement is missing. A model out of reach throws.
 */
export async function judgeAnswer(input: JudgeAnswerInput): Promise<AnswerJudgement> {
  const { judge, repeats = 2, signal, ...subject } = input;
  if (!judge) throw noJudge();
  const judgements: SingleJudgement[] = [];
  // One after the other: a rollout has one call in flight, to a judge too.
  for (const [sampleIndex, { position, ...question }] of questionsOf(subject, repeats).entries()) {
    const reply = await askJudge(question, { judge, sampleIndex, signal });
    judgements.push({ ...(position ? { position } : {}), ...(reply ?? { score: null, reason: '' }) });
  }
  return { score: combine(judgements), judgements };
}

type PlacedQuestion = JudgeQuestion & Pick<SingleJudgement, 'position'>;

function questionsOf({ reference, ...subject }: JudgeSubject, repeats: number): PlacedQuestion[] {
  const count = Math.max(reference === undefined ? 1 : 2, Math.floor(repeats));
  return Array.from({ length: count }, (_, index) => {
    if (reference === undefined) return askForScore(subject);
    const position = index % 2 === 0 ? ('first' as const) : ('second' as const);
    return { ...askToCompare(subject, reference, position), position };
  });
}

type JudgeDraw = {
  readonly judge: ChatModel;
  /** Draws with different indexes are independent. */
  readonly sampleIndex: number;
  readonly signal: AbortSignal | undefined;
};

/** A reply that does not fit is shown its error once; a second one that does not fit is no judgement. */
async function askJudge(
  question: JudgeQuestion,
  { judge, sampleIndex, signal }: JudgeDraw,
): Promise<JudgeReply | undefined> {
  const { schema } = question;
  const messages: ChatMessage[] = [...question.messages];
  const isUsable = ({ text }: ChatReply) => 'said' in readVerdict(text, schema);
  for (let attempt = 0; attempt < 2; attempt++) {
    const request = { messages: [...messages], stage: 'judge', schema, sampleIndex, isUsable };
    const reply = await judge.complete({ ...request, ...(signal ? { signal } : {}) });
    const verdict = readVerdict(reply.text, schema);
    if ('said' in verdict) return verdict.said;
    messages.push(...complaint(reply, verdict.problem)); // so that to a cache it is another question
  }
  return undefined;
}

function complaint({ text }: ChatReply, problem: string): ChatMessage[] {
  const content = `That reply cannot be used:\n${problem}\nAnswer with the JSON object alone, as described above.`;
  const said = text.trim() === '' ? '(no text)' : text; // providers refuse an empty turn
  return [
    { role: 'assistant', content: said },
    { role: 'user', content },
  ];
}

function combine(judgements: readonly SingleJudgement[]): number | null {
  const { scores } = combineJudgements(judgements.map((judgement) => toJudgement(judgement, ONE)));
  return scores[0]?.score ?? null;
}

const ONE = { id: '', rollout: 0 };

function noJudge(): ModelCallError {
  const hint = 'Give the trainer a `judge`, or the project file `judge: provider:model`.';
  return new ModelCallError('These tasks are scored by a judge model, and there is none', {
    isRetryable: false,
    isFatal: true,
    hint,
  });
}

export type JudgedOutputOptions = {
  /** The lowest score that counts as success. Beside a reference, a half is «as good as that». */
  readonly passMark?: number;
};

/**
 * A judgement as the result of a rollout. Without a score the result is missing, which is not zero: no mean counts it and
 * no analyst sees it. Add to it what else the rollout has to tell.
 */
export function judgedOutput(
  { score, judgements }: AnswerJudgement,
  { passMark = 0.5 }: JudgedOutputOptions = {},
): RolloutOutput {
  const extras = { judgements };
  if (score === null) {
    return { hard: 0, soft: 0, errored: true, unjudged: true, failReason: whyMissing(judgements), extras };
  }
  const hard = score >= passMark ? 1 : 0;
  return { hard, soft: score, ...(hard ? {} : { failReason: whyFailed(judgements, passMark) }), extras };
}

function whyMissing(judgements: readonly SingleJudgement[]): string {
  const asked = `asked ${judgements.length} times`;
  const isOneSided = judgements.some(({ position, score }) => position !== undefined && score !== null);
  if (isOneSided) return `judged in one position only, ${asked}: a score takes both`;
  return `the judge gave no judgement that can be used, ${asked}`;
}

/** The words of the judgement with the lowest score. */
function whyFailed(judgements: readonly SingleJudgement[], passMark: number): string {
  const [worst] = judgements.filter(({ score }) => score !== null).sort((a, b) => a.score! - b.score!);
  return `judged below ${passMark}: ${worst?.reason || 'no reason given'}`;
}

/** One time that a judge was asked about an answer. */
export const SingleJudgement = z.object({
  /** Beside a reference: where the answer stood. */
  position: z.enum(['first', 'second']).optional(),
  /** `null`: what the judge said could not be read. */
  score: z.number().min(0).max(1).nullable(),
  /** In the judge's words. */
  reason: z.string().default(''),
});
export type SingleJudgement = z.infer<typeof SingleJudgement>;

const Extras = z.object({ judgements: z.array(SingleJudgement) });

/** The single judgements of a pass over tasks, as `combineJudgements` takes them. `rollout` is the pass's number. */
export function judgementsOf(results: readonly RolloutResult[], rollout: number): Judgement[] {
  return results.flatMap(({ id, extras }) => {
    const known = Extras.safeParse(extras);
    if (!known.success) return [];
    return known.data.judgements.map((judgement) => toJudgement(judgement, { id, rollout }));
  });
}

/** As the statistics take it. */
function toJudgement({ position, score }: SingleJudgement, of: Pick<Judgement, 'id' | 'rollout'>): Judgement {
  return { ...of, score, ...(position === undefined ? {} : { position }) };
}
