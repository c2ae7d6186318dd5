import { z } from 'zod';
import { parseWith } from '../../core/contracts/index.ts';
import { createDice, createDraw, type Draw } from '../draw.ts';
import type { Topic, Variant } from './topic.ts';
import { readQuestion, TOPICS } from './topics.ts';

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

/** The three parts of a world's tasks. */
export type WorldSplit = 'train' | 'val' | 'test';

/** A task as `SimpleQAEnv` takes it. `taskType` is the topic's name. */
export type WorldItem = {
  readonly id: string;
  readonly question: string;
  readonly answers: readonly string[];
  readonly taskType: string;
  readonly split: WorldSplit;
};

/** A rule that no task states and every reference answer on the topic follows. */
export type LatentRule = { readonly topic: string; readonly text: string };

/** Tasks, a skill to start from, and the truth. */
export type World = {
  readonly items: Readonly<Record<WorldSplit, readonly WorldItem[]>>;
  /** A valid SKILL.md that states no rule. */
  readonly initialSkill: string;
  /** What there is to learn: with these sentences in the skill, every task can be answered. */
  readonly rules: readonly LatentRule[];
};

/** A topic, and how this world's house wants it written: `undefined` is as a model writes it anyway. */
type HouseTopic = { readonly topic: Topic; readonly truth: Variant | undefined };

/**
 * A back office that wants short facts written in a house style. Tasks go round robin over the topics; a third of
 * the topics needs no rule, so that a skill without rules scores about a third. Equal options give equal worlds.
 */
export function createWorld(options: WorldOptions = {}): World {
  const { seed, topics, ...sizes } = parseWith(Options, options, "The simulated world's options are not valid.");
  const house = chooseHouse(seed, topics);
  const taken = new Set<string>();
  const makeSplit = (split: WorldSplit) =>
    Array.from({ length: sizes[split] }, (_, index) => makeItem({ house, seed, split, index, taken }));
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
  return chosen.map((topic, place) => ({
    topic,
    truth: place < topics - settled ? chooseVariant(topic, draw) : undefined,
  }));
}

function chooseVariant(topic: Topic, draw: Draw): Variant | undefined {
  return topic.variants[Math.floor(draw(`truth of ${topic.name}`) * topic.variants.length)];
}

type ItemPlace = {
  readonly house: readonly HouseTopic[];
  readonly seed: number;
  readonly split: WorldSplit;
  readonly index: number;
  readonly taken: Set<string>;
};

function makeItem({ house, seed, split, index, taken }: ItemPlace): WorldItem {
  const { topic, truth } = house[index % house.length]!;
  const dice = createDice(createDraw(seed, [split, String(index)]));
  let question = topic.ask(dice);
  while (taken.has(question)) question = topic.ask(dice);
  taken.add(question);
  const answers = [readQuestion(question)!.answer(truth)];
  return { id: `${split}-${String(index + 1).padStart(3, '0')}`, question, answers, taskType: topic.name, split };
}
