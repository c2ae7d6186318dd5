import type { Draw } from '../draw.ts';
import type { StatedRule, StatedRules } from '../world/read-rules.ts';
import type { Topic, Variant } from '../world/topic.ts';
import { TOPICS } from '../world/topics.ts';
import { append, type Change, sayingOf } from './change.ts';
import type { Experience } from './experience.ts';
import type { Lesson } from './read-trajectory.ts';
import { drawRemark } from './remarks.ts';

/** How good an analyst is: chances per edit. */
export type Habits = { readonly precision: number; readonly harmfulRate: number; readonly duplicateRate: number };

/** What an analyst has before its eyes while it thinks about one topic. */
export type Evidence = {
  readonly lesson: Lesson;
  readonly skill: string;
  readonly rules: StatedRules;
  /** The topics of all failures in the batch. */
  readonly failing: ReadonlySet<Topic>;
  readonly experience: Experience;
};

/** Where an analyst's mistakes come from, and how it chooses among several. */
export type Mistakes = { readonly draw: Draw; readonly pick: Pick };
type Pick = <T>(options: readonly T[], label: string, nameOf: (option: T) => string) => T;

/** Drawn again for every prompt. */
export function randomMistakes(draw: Draw): Mistakes {
  return { draw, pick: (options, label) => options[Math.floor(draw(label) * options.length)]! };
}

/** The same for every prompt: as long as an option is there, it is chosen, whatever stands beside it. */
export function habitualMistakes(draw: Draw): Mistakes {
  const order = (label: string, name: string) => draw(`${label} ${name}`);
  const pick: Pick = (options, label, nameOf) =>
    options.toSorted((a, b) => order(label, nameOf(a)) - order(label, nameOf(b)))[0]!;
  return { draw, pick };
}

/** One change, or two when it is followed by a repetition. Every mistake comes from `mistakes`. */
export function proposeChanges(evidence: Evidence, habits: Habits, mistakes: Mistakes): Change[] {
  const change = proposeChange(evidence, habits, mistakes);
  if (mistakes.draw('duplicate') >= habits.duplicateRate) return [change];
  const known = [...evidence.rules.values()].map(({ sentence }) => append(sentence));
  return [change, mistakes.pick([change, ...known], 'duplicate of', sayingOf)];
}

/** A guess that was tried without success is drawn again; after two of them the evidence alone is left. */
export function proposeChange(evidence: Evidence, habits: Habits, mistakes: Mistakes): Change {
  const again = (time: number) => randomMistakes((label) => mistakes.draw(`again ${time}: ${label}`));
  for (const attempt of [mistakes, again(1), again(2)]) {
    const guess = guessChange(evidence, habits, attempt);
    if (!guess) break;
    if (!evidence.experience.tried.has(sayingOf(guess))) return guess;
  }
  return inOtherWords(followEvidence(evidence), evidence.experience);
}

/** What an analyst says without having looked: `undefined` when it has. */
function guessChange(evidence: Evidence, habits: Habits, mistakes: Mistakes): Change | undefined {
  if (mistakes.draw('harmful') < habits.harmfulRate) return overrule(evidence, mistakes);
  return mistakes.draw('precision') >= habits.precision ? append(drawRemark(mistakes.draw)) : undefined;
}

/** A rule on a topic that did not fail, and so was most likely right as it was. */
function overrule({ rules, failing }: Evidence, { pick }: Mistakes): Change {
  const healthy = TOPICS.filter((topic) => !failing.has(topic));
  const topic = pick(healthy.length > 0 ? healthy : TOPICS, 'harmed topic', ({ name }) => name);
  const others = topic.variants.filter((variant) => variant !== rules.get(topic.name)?.variant);
  return append(pick(others, 'wrong rule', ({ rule }) => rule).rule);
}

function followEvidence({ lesson, skill, rules }: Evidence): Change {
  return stateRule(skill, rules.get(lesson.reading.topic.name), lesson.wanted);
}

/** Adds the rule, or puts it in place of the one that is wrong; a wrong rule where none is wanted goes. */
function stateRule(skill: string, stated: StatedRule | undefined, wanted: Variant | undefined): Change {
  if (!stated) return append(wanted!.rule);
  if (wanted) return { op: 'replace', target: stated.sentence, content: wanted.rule };
  const bullet = `- ${stated.sentence}`;
  return { op: 'delete', target: skill.includes(bullet) ? bullet : stated.sentence, content: '' };
}

const OPENINGS = ['In every answer, ', 'As a house rule, ', 'Without exception, '];

/** What the references show went down with other edits, it seems: it is said once more, not word for word. */
function inOtherWords(change: Change, { tried }: Experience): Change {
  const saying = sayingOf(change);
  if (change.op === 'delete' || !tried.has(saying)) return change;
  const plain = saying.charAt(0).toLowerCase() + saying.slice(1);
  const wording = OPENINGS.map((opening) => opening + plain).find((words) => !tried.has(words)) ?? saying;
  return { ...change, content: change.content.replace(saying, () => wording) };
}
