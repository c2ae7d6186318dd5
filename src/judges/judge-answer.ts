import { type ChatMessage, type ChatModel, type ChatReply, ModelCallError } from '../core/contracts/index.ts';
import { combineJudgements } from '../core/stats/index.ts';
import { askForScore, askToCompare, type JudgeQuestion, type JudgeReply, type JudgeSubject } from './judge-question.ts';
import { readVerdict } from './read-verdict.ts';
import { type SingleJudgement, toJudgement } from './single-judgement.ts';

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
export async function judgeAnswer({
  judge,
  repeats = 2,
  signal,
  ...subject
}: JudgeAnswerInput): Promise<AnswerJudgement> {
  if (!judge) throw noJudge();
  const judgements: SingleJudgement[] = [];
  // One after the other: a rollout has one call in flight, to a judge too.
  for (const [sampleIndex, { position, ...question }] of questionsOf(subject, repeats).entries()) {
    const reply = await askJudge(question, { judge, sampleIndex, signal });
    judgements.push({ ...(position ? { position } : {}), ...(reply ?? { score: null, reason: '' }) });
  }
  return { score: combine(judgements), judgements };
}

type Placed = JudgeQuestion & Pick<SingleJudgement, 'position'>;

function questionsOf({ reference, ...subject }: JudgeSubject, repeats: number): Placed[] {
  const count = Math.max(reference === undefined ? 1 : 2, Math.floor(repeats));
  return Array.from({ length: count }, (_, index) => {
    if (reference === undefined) return askForScore(subject);
    const position = index % 2 === 0 ? ('first' as const) : ('second' as const);
    return { ...askToCompare(subject, reference, position), position };
  });
}

type Draw = {
  readonly judge: ChatModel;
  /** Draws with different indexes are independent. */
  readonly sampleIndex: number;
  readonly signal: AbortSignal | undefined;
};

/** A reply that does not fit is shown its error once; a second one that does not fit is no judgement. */
async function askJudge(
  question: JudgeQuestion,
  { judge, sampleIndex, signal }: Draw,
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
