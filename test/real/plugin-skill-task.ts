// The description of the skill that we ship, read by a small model: is the skill for this request? The document is the head of
// SKILL.md, and of it the description alone is trained, as in examples/plugin-skill.
import { readFileSync } from 'node:fs';
import type { ChatMessage, SkillEnv } from 'skillopt';
import type { TriggerQuery } from 'skillopt/runners';
import { skillHeader } from '../../src/skills/index.ts';
import type { LocalChat } from './local-chat.ts';

export const CHOICES = ['yes', 'no'] as const;

const shipped = readFileSync('plugin/skills/skillopt-sleep/SKILL.md', 'utf8');
export const start = /^---\n.*?\n---\n/s.exec(shipped)![0];
export const descriptionOf = (skill: string) => skillHeader(skill).description!;

export const [train, val, test] = [readSplit('train'), readSplit('val'), readSplit('test')];

function readSplit(split: string): TriggerQuery[] {
  const lines = readFileSync('examples/plugin-skill/queries.jsonl', 'utf8').trimEnd().split('\n');
  const rows = lines.map((line) => JSON.parse(line)).filter((row) => row.split === split);
  return rows.map(({ id, query, should_trigger: shouldTrigger }) => ({ id, query, shouldTrigger }));
}

/** What stands before a request. No skill of the examples has to do with ours. */
type Layout = (description: string) => string;

const PDF =
  'Fills in PDF forms and reads text out of PDF files. Not for Word files, and not for questions about the format.';
const WEATHER = 'Tells the weather of today and of the coming days. Not for climate, and not for clothes or journeys.';

const asked = (query: string, choice?: string) => `Request: ${query}\nUse the skill:${choice ? ` ${choice}` : ''}`;
const example = (skill: string, ...lines: string[]) => [`Skill: ${skill}`, ...lines].join('\n');

const RULE =
  'Before an agent answers a request, it decides whether to use a skill. It uses the skill if the request is one that the skill is for. It does not use it otherwise.';
const oneSkill = example(
  PDF,
  asked('Fill in the form for my passport.', 'yes'),
  asked('Who invented the PDF format?', 'no'),
);
const anotherSkill = example(
  WEATHER,
  asked('What should I wear on the trip to Oslo?', 'no'),
  asked('Will it rain tomorrow?', 'yes'),
);
const apart = [
  example(PDF, asked('Fill in the form for my passport.', 'yes')),
  example(WEATHER, asked('What should I wear on the trip to Oslo?', 'no')),
  example(PDF, asked('Who invented the PDF format?', 'no')),
  example(WEATHER, asked('Will it rain tomorrow?', 'yes')),
];

const join = (...blocks: string[]) => blocks.join('\n\n');

/** Tried once, on training messages. */
export const LAYOUTS = {
  bare: (description) => example(description),
  rule: (description) => join(RULE, example(description)),
  'one skill as an example': (description) => join(RULE, oneSkill, example(description)),
  'two skills as examples': (description) => join(RULE, oneSkill, anotherSkill, example(description)),
  'two skills, one request each time': (description) => join(RULE, ...apart, example(description)),
} as const satisfies Record<string, Layout>;
export type LayoutName = keyof typeof LAYOUTS;

function askWhetherToLoad(skill: string, { query }: TriggerQuery, layout: LayoutName): ChatMessage[] {
  return [
    { role: 'system', content: LAYOUTS[layout](descriptionOf(skill)) },
    { role: 'user', content: asked(query) },
  ];
}

const rightChoice = ({ shouldTrigger }: TriggerQuery) => (shouldTrigger ? 'yes' : 'no');

export function pluginSkillEnv(layout: LayoutName): SkillEnv<TriggerQuery> {
  const splits: Readonly<Record<string, readonly TriggerQuery[]>> = { train, val, test };
  return {
    name: 'plugin-skill',
    getItems: (split) => splits[split] ?? [],
    getInitialSkill: () => start,
    async rolloutOne({ item, skill, target, signal }) {
      const messages = askWhetherToLoad(skill, item, layout);
      const { text } = await target.complete({ messages, signal, maxOutputTokens: 1 });
      const hard = text === rightChoice(item) ? 1 : 0;
      const failReason = hard ? '' : `expected ${rightChoice(item)}, got ${text}`;
      const taskType = item.shouldTrigger ? 'should load it' : 'should not load it';
      return { hard, soft: hard, predictedAnswer: text, taskType, question: item.query, failReason };
    },
  };
}

/** What infinitely many passes would show. Messages of the two kinds are equally many. */
export type Truth = {
  readonly score: number;
  /** How often the skill is loaded where it should not be, and how often it is not where it should be. */
  readonly falsePositives: number;
  readonly falseNegatives: number;
};

export async function truthOf(
  chat: LocalChat,
  skill: string,
  items: readonly TriggerQuery[],
  layout: LayoutName,
): Promise<Truth> {
  const chanceOfError = async (item: TriggerQuery) =>
    1 - (await chat.chances(askWhetherToLoad(skill, item, layout))).get(rightChoice(item))!;
  const errors = { true: 0, false: 0 };
  for (const item of items) errors[`${item.shouldTrigger}`] += (await chanceOfError(item)) / (items.length / 2);
  const [falseNegatives, falsePositives] = [errors.true, errors.false];
  return { score: 1 - (falseNegatives + falsePositives) / 2, falsePositives, falseNegatives };
}

/**
 * Weights of the choices under which the model says yes to one half of the training messages, more surely than not, and no to the
 * other, as the description stands now. They are set once: a small model likes one of two words, and an edit must not win by
 * setting that right.
 */
export async function evenWeights(chat: LocalChat, layout: LayoutName): Promise<number[]> {
  const odds: number[] = [];
  for (const item of train) {
    const chances = await chat.chances(askWhetherToLoad(start, item, layout));
    odds.push(chances.get('yes')! / chances.get('no')!);
  }
  odds.sort((a, b) => a - b);
  return [1 / Math.sqrt(odds[odds.length / 2 - 1]! * odds[odds.length / 2]!), 1];
}
