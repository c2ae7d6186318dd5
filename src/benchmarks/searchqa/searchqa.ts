import { z } from 'zod';
import type { RolloutContext, RolloutOutput } from '../../core/contracts/index.ts';
import { isObject } from '../../core/text/index.ts';
import { extractAnswer, QaItem, scoreAnswer } from '../../envs/index.ts';
import { answeredOnce, anyOf, ask, firstMessages, MOST_OUTPUT_TOKENS } from '../ask.ts';
import type { Benchmark } from '../benchmark.ts';

/** Questions of a quiz show, each with snippets of a web search. */
type SearchQaItem = QaItem;

const Settings = z.object({
  maxCompletionTokens: z.number().int().positive().default(MOST_OUTPUT_TOKENS),
  /** Longer contexts are cut at the end of a document. */
  maxContextChars: z.number().int().positive().default(6000),
});

const RULES = `You answer questions of a quiz. Each comes with passages that a web search found; some are of no use.
Work out the answer from the passages and from what you know. Then end with it in <answer></answer>: the name or phrase
alone, as short as it can be. Only what stands between these tags is graded.`;

export const searchqa: Benchmark<SearchQaItem, z.output<typeof Settings>> = {
  name: 'searchqa',
  title: 'SearchQA: quiz questions with search results',
  source: {
    get: [
      'Get the rows of lucadiliello/searchqa from its hub (Parquet or JSON lines: key, question, context, answers).',
    ],
    licence: 'rights unclear (quiz archive, web snippets): not to be passed on',
  },
  published: { train: 400, val: 200, test: 1400 },
  initialSkill: '# Quiz questions with search results\n\nThere are no rules yet.\n',
  settings: Settings,
  item: QaItem,
  hint: 'An item is {"id": "…", "question": "…", "context": "…", "answers": ["…"]}.',
  readRow({ value }) {
    if (!isObject(value)) return value;
    const { id = value.key, question, context, answers } = value;
    return { id, question, context, answers };
  },
  questionOf: ({ question }) => question,
  goldOf: ({ answers }) => [...answers].sort().join(' | '),
  open: ({ settings }) => ({
    rule: 'exact match after SQuAD normalisation (hard), token F1 (soft)',
    version: `1, context ${settings.maxContextChars}, output ${settings.maxCompletionTokens}`,
    prompt: RULES,
    attempt: (context) => attempt(context, settings),
    probe: ({ answers }) => ({
      right: Math.min(...answers.map((gold) => scoreAnswer(extractAnswer(`<answer>${gold}</answer>`), answers).hard)),
      nothing: scoreAnswer(extractAnswer(''), answers).hard,
    }),
  }),
};

async function attempt(
  { item, skill, target, signal }: RolloutContext<SearchQaItem>,
  { maxCompletionTokens: maxOutputTokens, maxContextChars }: z.output<typeof Settings>,
): Promise<RolloutOutput> {
  const { question, context, answers } = item;
  const passages = context === undefined ? '' : `Passages:\n${truncateContext(context, maxContextChars)}\n\n`;
  const messages = firstMessages(skill, { rules: RULES, question: `${passages}Question: ${question}` });
  const reply = await ask(messages, { target, signal, maxOutputTokens });
  const predictedAnswer = extractAnswer(reply.text);
  return answeredOnce({
    ...{ question, messages, reply, score: scoreAnswer(predictedAnswer, answers), predictedAnswer },
    referenceText: answers.join(' | '),
    expected: anyOf(answers),
    got: JSON.stringify(predictedAnswer),
  });
}

const MARKER = '[DOC]';
const CUT = '\n...[truncated]';

/**
 * A context of at most `maxChars` code points: whole documents from the beginning, as many as fit. If not even the first one
 * fits, the context is cut off with a note.
 */
export function truncateContext(context: string, maxChars: number): string {
  if (context.length <= maxChars || lengthOf(context) <= maxChars) return context;
  const [first = '', ...rest] = context.split(MARKER);
  const documents = first.trim() === '' ? rest : [first, ...rest]; // a marker at the beginning ends no document
  let kept = '';
  for (const document of documents) {
    const longer = kept === '' ? document : `${kept}${MARKER}${document}`;
    if (lengthOf(longer) > maxChars) break;
    kept = longer;
  }
  return kept === '' ? `${[...context].slice(0, maxChars).join('')}${CUT}` : kept;
}

const lengthOf = (text: string) => [...text].length;
