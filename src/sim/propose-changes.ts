import type { EditOp } from '../core/edit.ts';
import type { Draw } from './draw.ts';
import type { StatedRule, StatedRules } from './read-rules.ts';
import type { Lesson } from './read-trajectory.ts';
import { drawRemark } from './remarks.ts';
import type { Topic, Variant } from './topic.ts';
import { TOPICS } from './topics.ts';

/** How good an analyst is: chances per edit. */
export type Habits = { readonly precision: number; readonly harmfulRate: number; readonly duplicateRate: number };

export type Change = { readonly op: EditOp; readonly target: string; readonly content: string };

/** What an analyst has before its eyes while it thinks about one topic. */
export type Evidence = {
  readonly lesson: Lesson;
  readonly skill: string;
  readonly rules: StatedRules;
  /** The topics of all failures in the batch. */
  readonly failing: ReadonlySet<Topic>;
};

/** One change, or two when it is followed by a repetition. Every mistake comes from `draw`. */
export function proposeChanges(evidence: Evidence, habits: Habits, draw: Draw): Change[] {
  const change = proposeChange(evidence, habits, draw);
  if (draw('duplicate') >= habits.duplicateRate) return [change];
  const known = [...evidence.rules.values()].map(({ sentence }) => append(sentence));
  return [change, pick([change, ...known], draw('duplicate of'))];
}

function proposeChange(evidence: Evidence, habits: Habits, draw: Draw): Change {
  if (draw('harmful') < habits.harmfulRate) return overrule(evidence, draw);
  if (draw('precision') >= habits.precision) return append(drawRemark(draw));
  const { lesson, skill, rules } = evidence;
  return stateRule(skill, rules.get(lesson.reading.topic.name), lesson.wanted);
}

/** A rule on a topic that did not fail, and so was most likely right as it was. */
function overrule({ rules, failing }: Evidence, draw: Draw): Change {
  const healthy = TOPICS.filter((topic) => !failing.has(topic));
  const topic = pick(healthy.length > 0 ? healthy : TOPICS, draw('harmed topic'));
  const others = topic.variants.filter((variant) => variant !== rules.get(topic.name)?.variant);
  return append(pick(others, draw('wrong rule')).rule);
}

/** Adds the rule, or puts it in place of the one that is wrong; a wrong rule where none is wanted goes. */
function stateRule(skill: string, stated: StatedRule | undefined, wanted: Variant | undefined): Change {
  if (!stated) return append(wanted!.rule);
  if (wanted) return { op: 'replace', target: stated.sentence, content: wanted.rule };
  const bullet = `- ${stated.sentence}`;
  return { op: 'delete', target: skill.includes(bullet) ? bullet : stated.sentence, content: '' };
}

const append = (rule: string): Change => ({ op: 'append', target: '', content: `- ${rule}` });

const pick = <T>(options: readonly T[], chance: number): T => options[Math.floor(chance * options.length)]!;
