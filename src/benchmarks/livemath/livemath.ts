import { z } from 'zod';
import type { RolloutContext, RolloutOutput } from '../../core/contracts/index.ts';
import { askedKey, head } from '../../core/text/index.ts';
import { extractAnswer } from '../../envs/index.ts';
import { isFilled, itemId } from '../../imports/index.ts';
import { answeredOnce, ask, firstMessages, MOST_OUTPUT_TOKENS } from '../ask.ts';
import type { Benchmark, Flaw } from '../benchmark.ts';
import { RULES, readChoice } from './read-choice.ts';
import { findRows, readRow } from './read-row.ts';

const filled = z.string('must be non-empty text').refine(isFilled, 'must be non-empty text');
const MOST_CHOICES = 26;

const LiveMathItem = z
  .object(
    {
      id: itemId,
      question: filled,
      choices: z
        .array(z.object({ label: filled, text: filled }), 'must be a list')
        .min(2, 'must have at least 2 choices')
        .max(MOST_CHOICES, `must have at most ${MOST_CHOICES} choices`),
      /** The label of the right one. */
      correctChoice: filled,
      theorem: filled.optional(),
      sketch: filled.optional(),
      /** The first of the kinds that upstream names for its theorem. */
      taskType: filled.optional(),
      /** Where the theorem comes from. */
      paper: filled.optional(),
      /** The seed that the choices were shuffled with. */
      shuffledWith: z.number().int().optional(),
    },
    'must be an object',
  )
  .refine(({ choices, correctChoice }) => choices.some(({ label }) => label === correctChoice), {
    path: ['correctChoice'],
    error: 'must be the label of a choice',
  });
export type LiveMathItem = z.output<typeof LiveMathItem>;

/** Values may come as text. */
const flag = z.union([z.boolean(), z.stringbool()], 'expected true or false');
const whole = z.preprocess(
  (value) => (typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value),
  z.number().int(),
);

const Settings = z.object({
  maxCompletionTokens: whole.pipe(z.number().positive()).default(MOST_OUTPUT_TOKENS),
  shuffleChoices: flag.default(true),
  shuffleSeed: whole.default(42),
  /** The theorem behind the question, and how it is proved: both give away much of the answer. */
  useTheorem: flag.default(false),
  useSketch: flag.default(false),
  rule: z.enum(RULES).default('repaired'),
});
type Settings = z.output<typeof Settings>;

const PROMPT = `You answer multiple-choice questions of research mathematics. One choice is right.
Work out what holds, and compare the choices word by word: they often differ in one condition, constant or quantifier.
End with the letter of the right choice alone, in <answer></answer>.`;

const RULE_TEXT = {
  reference: 'label equal: a letter, the exact text of a choice, or a letter as first word',
  repaired:
    'label equal: a letter, also in brackets, bold or a box, the exact text of a choice, or a letter as first word',
} as const;

export const livemath: Benchmark<LiveMathItem, Settings> = {
  name: 'livemath',
  title: 'LiveMathematicianBench: multiple-choice questions on theorems of new papers',
  source: {
    get: [
      'Get data/2025*/qa_*_final.json and data/2026*/qa_*_final.json of LiveMathematicianBench/LiveMathematicianBench from its hub, revision b72450f6.',
    ],
    licence: 'not to be passed on: the questions come from papers, whose rights their authors have',
  },
  published: { train: 35, val: 17, test: 125 },
  initialSkill: `# Multiple-choice questions of mathematics

- Say in your own words what each choice claims, and where it differs from the others.
- Check the hypotheses: domains, quantifiers, strict or weak inequalities, constants, exceptions.
- Test doubtful claims on small or extreme cases.
- A claim that is true but weaker than what holds is not the strongest one.
`,
  settings: Settings,
  item: LiveMathItem,
  hint: 'An item is {"id": "202511:1", "question": "…", "choices": [{"label": "A", "text": "…"}, …], "correct_choice": {"label": "A"}}.',
  readRow: (row, _, settings) => readRow(row, settings),
  findRows,
  groupsOf: ({ paper }) => (paper === undefined ? [] : [`paper ${paper}`]),
  questionOf: ({ question, choices }) => [question, ...choices.map(({ text }) => text).sort()].join('\n'),
  goldOf: rightText,
  flawsOf: (items) => [...findGiveaways(items), ...findTwins(items)],
  open: ({ settings }) => ({
    rule: RULE_TEXT[settings.rule],
    version: `1, rule ${settings.rule}, theorem ${settings.useTheorem}, sketch ${settings.useSketch}, output ${settings.maxCompletionTokens}`,
    prompt: PROMPT,
    attempt: (context) => attempt(context, settings),
    probe: (item) => ({
      right: score(`<answer>${item.correctChoice}</answer>`, item, settings).hard,
      nothing: score('', item, settings).hard,
    }),
  }),
};

async function attempt(
  { item, skill, target, signal }: RolloutContext<LiveMathItem>,
  settings: Settings,
): Promise<RolloutOutput> {
  const messages = firstMessages(skill, { rules: PROMPT, question: questionText(item, settings) });
  const reply = await ask(messages, { target, signal, maxOutputTokens: settings.maxCompletionTokens });
  const { hard, predicted } = score(reply.text, item, settings);
  const { question, correctChoice } = item;
  return answeredOnce({
    ...{ question, messages, reply, score: { hard, soft: hard }, predictedAnswer: predicted },
    referenceText: `${correctChoice}. ${rightText(item)}`,
    expected: correctChoice,
    got: JSON.stringify(head(predicted, 200)),
  });
}

function questionText({ question, choices, theorem, sketch }: LiveMathItem, { useTheorem, useSketch }: Settings) {
  const listed = choices.map(({ label, text }) => `${label}. ${text}`).join('\n');
  return [
    `Question:\n${question}`,
    `Choices:\n${listed}`,
    ...(useTheorem && theorem !== undefined ? [`The theorem behind it:\n${theorem}`] : []),
    ...(useSketch && sketch !== undefined ? [`How it is proved:\n${sketch}`] : []),
  ].join('\n\n');
}

function score(reply: string, { choices, correctChoice }: LiveMathItem, { rule }: Pick<Settings, 'rule'>) {
  const predicted = readChoice(extractAnswer(reply), choices, rule);
  return { hard: predicted === correctChoice ? 1 : 0, predicted } as const;
}

function rightText({ choices, correctChoice }: LiveMathItem): string {
  return choices.find(({ label }) => label === correctChoice)?.text ?? '';
}

/** A choice that is right this many times in a row, each time one of five, is not right by chance. */
const LEAST_GIVEAWAY = 4;

/** Of two choices with one text only one counts as right. */
function findTwins(items: readonly LiveMathItem[]): Flaw[] {
  const hasTwins = ({ choices }: LiveMathItem) =>
    new Set(choices.map(({ text }) => askedKey(text))).size < choices.length;
  const ids = items.filter(hasTwins).map(({ id }) => id);
  return ids.length === 0 ? [] : [{ what: 'offer one text as two choices', ids }];
}

/**
 * Choices whose text recurs and is right each time. A target that knows the text needs no mathematics: shuffling moves it, but keeps it.
 */
function findGiveaways(items: readonly LiveMathItem[]): Flaw[] {
  const seen = new Map<string, { text: string; ids: string[]; isAlwaysRight: boolean }>();
  for (const { id, choices, correctChoice } of items) {
    for (const { label, text } of choices) {
      const key = askedKey(text);
      const one = seen.get(key) ?? { text, ids: [], isAlwaysRight: true };
      if (one.ids.at(-1) !== id) one.ids.push(id);
      one.isAlwaysRight &&= label === correctChoice;
      seen.set(key, one);
    }
  }
  const found = [...seen.values()].filter(({ ids, isAlwaysRight }) => isAlwaysRight && ids.length >= LEAST_GIVEAWAY);
  return found.map(({ text, ids }) => {
    const shown = JSON.stringify(head(text, 120));
    return {
      what: `offer ${shown}, which is right each time: a skill can learn the sentence instead of the mathematics`,
      ids,
    };
  });
}
