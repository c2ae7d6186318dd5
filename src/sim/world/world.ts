import { z } from 'zod';
import { parseWith } from '../../core/contracts/index.ts';
import { readBlock } from '../../core/document/index.ts';
import { createDice, createDraw } from '../draw.ts';
import { type Reading, stylesOf, type Topic, type Variant } from './topic.ts';
import { TOPICS } from './topics.ts';

export function readQuestion(text: string): Reading | undefined {
  for (const topic of TOPICS) {
    const reading = topic.read(text);
    if (reading) return reading;
  }
  return undefined;
}

const count = z.number().int().min(0).max(100_000);

const Options = z.strictObject({
  seed: z.number().default(7),
  train: count.default(48),
  val: count.default(40),
  test: count.default(60),
  topics: z.number().int().min(1).max(TOPICS.length).default(TOPICS.length),
});

/** `seed` 7, tasks in `train` 48, `val` 40 and `test` 60, kinds of facts in `topics` 12 (1 to 12). */
export type WorldOptions = z.input<typeof Options>;

export type WorldSplit = 'train' | 'val' | 'test';

/** A task as `SimpleQAEnv` takes it. `taskType` is the topic's name. */
export type WorldItem = {
  readonly id: string;
  readonly question: string;
  readonly answers: readonly string[];
  readonly taskType: string;
  readonly split: WorldSplit;
};

/** A rule that every reference answer on the topic follows, and no task states. */
export type LatentRule = { readonly topic: string; readonly text: string };

/** Tasks, a skill to start from, and the truth. */
export type World = {
  readonly items: Readonly<Record<WorldSplit, readonly WorldItem[]>>;
  readonly initialSkill: string;
  /** What there is to learn. With these sentences in the skill, every task can be answered. */
  readonly rules: readonly LatentRule[];
};

/** Without `truth`, the house wants the usual way. */
type HouseTopic = { readonly topic: Topic; readonly truth: Variant | undefined };

/**
 * A back office that wants short facts in a house style. Tasks go round robin over the topics; a third of the topics needs no
 * rule, so that a skill without rules scores about a third. Equal options give equal worlds.
 */
export function createWorld(options: WorldOptions = {}): World {
  const { seed, topics, ...sizes } = parseWith(Options, options, "The simulated world's options are not valid.");
  const house = chooseHouse(seed, topics);
  const taken = new Set<string>();
  const makeSplit = (split: WorldSplit) =>
    Array.from({ length: sizes[split] }, (_, index) =>
      makeItem(house[index % house.length]!, taken, seed, [split, index]),
    );
  return {
    items: { train: makeSplit('train'), val: makeSplit('val'), test: makeSplit('test') },
    initialSkill: INITIAL_SKILL,
    rules: house.flatMap(({ topic, truth }) => (truth ? [{ topic: topic.name, text: truth.rule }] : [])),
  };
}

const INITIAL_SKILL = `---
name: house-style
description: How the back office writes short facts. Use it to answer a question about a record.
---

# House style

Answer with the fact alone, in the form that the house wants.
`;

function chooseHouse(seed: number, topics: number): HouseTopic[] {
  const draw = createDraw(seed, ['house']);
  const chosen = TOPICS.toSorted((a, b) => draw(`place of ${a.name}`) - draw(`place of ${b.name}`)).slice(0, topics);
  const settled = Math.floor(topics / 3);
  return chosen.map((topic, place) => {
    const choice = Math.floor(draw(`truth of ${topic.name}`) * topic.variants.length);
    return { topic, truth: place < topics - settled ? topic.variants[choice] : undefined };
  });
}

function makeItem({ topic, truth }: HouseTopic, taken: Set<string>, seed: number, place: [WorldSplit, number]) {
  const [split, index] = place;
  const dice = createDice(createDraw(seed, [split, String(index)]));
  let question = topic.ask(dice);
  while (taken.has(question)) question = topic.ask(dice);
  taken.add(question);
  const answers = [readQuestion(question)!.answer(truth)];
  return { id: `${split}-${String(index + 1).padStart(3, '0')}`, question, answers, taskType: topic.name, split };
}

/** The skill of a world as a folder, with a page of worked examples. The target learns nothing from them; a drafter does. */
export function worldSkillFolder({ items, initialSkill }: World): Readonly<Record<'SKILL.md' | 'examples.md', string>> {
  const first = new Map(items.train.toReversed().map((item) => [item.taskType, item]));
  const examples = [...first.values()]
    .toReversed()
    .map(({ question, answers }) => `${question}\nAnswer: ${answers[0]}`);
  return {
    'SKILL.md': `${initialSkill}\nWorked examples are in [examples.md](examples.md).\n`,
    'examples.md': `# Worked examples\n\n${examples.join('\n\n')}\n`,
  };
}

/** How worked examples write each kind of fact; `undefined` is the usual way. The last one holds. */
export function stylesInExamples(text: string) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const found = lines.flatMap((line, place) => {
    const reading = readQuestion(line);
    const answer = lines[place + 1]?.match(/^\s*Answer: (.+?)\s*$/)?.[1];
    if (!reading || answer === undefined) return [];
    const styles = stylesOf(reading).filter((style) => reading.answer(style) === answer);
    return styles.length === 0 ? [] : [[reading.topic, styles[0]] as const];
  });
  return new Map(found);
}

export type StatedRule = { readonly topic: Topic; readonly variant: Variant; readonly sentence: string };

export type StatedRules = ReadonlyMap<string, StatedRule>;

const SENTENCE_END = /\n|(?<=[.!?])[ \t]+/;
const BULLET = /^[\s>]*(?:[-*+]|\d+[.)])?\s*/;
const RULED_OUT = /\b(?:not|\w+n't|never|avoid|instead of|rather than)\b.*?(?=[.,;:](?:\s|$)|$)/gi;

/**
 * The rules that a skill states, by topic name. A sentence states a rule when it names the topic and holds the variant's cue;
 * what it rules out does not count. The last rule on a topic holds.
 */
export function readRules(skill: string): StatedRules {
  const rules = new Map<string, StatedRule>();
  for (const part of skill.split(SENTENCE_END)) {
    const sentence = part.replace(BULLET, '').trim();
    for (const rule of readSentence(sentence)) rules.set(rule.topic.name, rule);
  }
  return rules;
}

function readSentence(sentence: string): StatedRule[] {
  const wanted = sentence.replace(RULED_OUT, '');
  return TOPICS.flatMap((topic) => {
    if (!topic.mention.test(wanted)) return [];
    const variant = topic.variants.find(({ cue }) => cue.test(wanted));
    return variant ? [{ topic, variant, sentence }] : [];
  });
}

const REMINDER = /^- Before you answer on (.+), go back to the rule on it\.$/gm;

/** A note for the appendix. It states no rule, but points to it. */
export function reminderOf(topics: readonly string[]): string {
  return `Before you answer on ${topics.join(' or ')}, go back to the rule on it.`;
}

export function remindedTopics(skill: string): ReadonlySet<string> {
  return new Set(readReminders(readBlock(skill, 'appendix')).flat());
}

/** All reminders become one. Without any, the last note is dropped. */
export function shortenReminders({ notes }: { readonly notes: string }): { notes: string[] } {
  const lines = notes.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []));
  const topics = [...new Set(readReminders(notes).flat())];
  const others = lines.filter((line) => readReminders(`- ${line}`).length === 0);
  if (topics.length === 0) return { notes: others.slice(0, -1) };
  return { notes: [reminderOf(topics), ...others] };
}

const readReminders = (text: string) => [...text.matchAll(REMINDER)].map(([, topics = '']) => topics.split(' or '));
