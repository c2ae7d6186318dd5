import { type Dice, type Draw, pick } from '../draw.ts';

/** One way in which a house may want a kind of fact written. */
export type Variant = {
  readonly rule: string;
  /** What a sentence must contain to state it. Wider than `rule`, so that paraphrases count. */
  readonly cue: RegExp;
};

export type Reading = {
  readonly topic: Topic;
  /** The fact as the variant wants it; without one, in the usual way. */
  answer(variant?: Variant): string;
};

/** A kind of fact: how it is asked about, and the ways to write it. */
export type Topic = {
  readonly name: string;
  /** Words by which a sentence says that it is about this topic. */
  readonly mention: RegExp;
  readonly variants: readonly Variant[];
  ask(dice: Dice): string;
  /** `undefined` for a text that is no question of this topic. */
  read(question: string): Reading | undefined;
};

/** The usual way, and the variants. */
export const stylesOf = ({ topic }: Reading): readonly (Variant | undefined)[] => [undefined, ...topic.variants];

/** The meant style, or, in a share `errorRate`, any other. */
export function slippedStyle(reading: Reading, meant: Variant | undefined, errorRate: number, draw: Draw) {
  const others = stylesOf(reading).filter((style) => style !== meant);
  return draw('slip') < errorRate ? pick(draw, 'slip to', others) : meant;
}

type TopicDefinition<Value> = {
  readonly mention: RegExp;
  readonly make: (dice: Dice) => Value;
  /** Asks about a fact that is written in the usual way. */
  readonly ask: (fact: string, record: number) => string;
  /** Its groups are the arguments of `parse`. */
  readonly pattern: RegExp;
  readonly parse: (...groups: string[]) => Value;
  readonly naive: (value: Value) => string;
  /** By rule: the cue, and how the fact is written. */
  readonly variants: Readonly<Record<string, readonly [cue: RegExp, write: (value: Value) => string]>>;
};

/** A topic whose value type stays inside. All answers to one question must differ once normalised. */
export function defineTopic<Value>(name: string, definition: TopicDefinition<Value>): Topic {
  const { mention, make, ask, pattern, parse, naive } = definition;
  const variants = Object.entries(definition.variants).map(([rule, [cue, write]]) => ({ rule, cue, write }));
  const topic: Topic = {
    name,
    mention,
    variants,
    ask: (dice) => ask(naive(make(dice)), 100_000 + dice(900_000)),
    read(question) {
      const match = question.match(pattern);
      if (!match) return undefined;
      const value = parse(...match.slice(1));
      const writer = (variant?: Variant) => variants.find((known) => known === variant)?.write ?? naive;
      return { topic, answer: (variant) => writer(variant)(value) };
    },
  };
  return topic;
}
