import type { Topic, Variant } from './topic.ts';
import { TOPICS } from './topics.ts';

/** A house rule as some sentence of a skill states it. */
export type StatedRule = {
  readonly topic: Topic;
  readonly variant: Variant;
  /** The sentence, exactly as it stands in the skill. */
  readonly sentence: string;
};

/** What a skill says, by topic name. */
export type StatedRules = ReadonlyMap<string, StatedRule>;

const SENTENCE_END = /\n|(?<=[.!?])[ \t]+/;
const BULLET = /^[\s>]*(?:[-*+]|\d+[.)])?\s*/;
const RULED_OUT = /\b(?:not|\w+n't|never|avoid|instead of|rather than)\b.*?(?=[.,;:](?:\s|$)|$)/gi;

/**
 * The rules that a skill states. A sentence states a rule when it names the topic and holds the variant's cue; what it rules
 * out does not count. Of several rules on a topic the last one holds.
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
