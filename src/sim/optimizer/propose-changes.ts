import { INDEXED_LINE, STEP_PATTERNS } from '../../core/contracts/index.ts';
import { groupBy, parseJson } from '../../core/text/index.ts';
import { createDraw, type Draw, pick } from '../draw.ts';
import type { Topic, Variant } from '../world/topic.ts';
import { TOPICS } from '../world/topics.ts';
import type { StatedRule, StatedRules } from '../world/world.ts';
import {
  append,
  byWeight,
  type Change,
  editKey,
  linesBeyond,
  readEdit,
  sayingOf,
  topicOf,
  type WireEdit,
} from './edits.ts';
import { type Lesson, type OptimizerPrompt, readComparison } from './read-prompt.ts';

type Habits = { readonly precision: number; readonly harmfulRate: number; readonly duplicateRate: number };

type Evidence = {
  readonly lesson: Lesson;
  readonly skill: string;
  readonly rules: StatedRules;
  readonly failing: ReadonlySet<Topic>;
  readonly experience: Experience;
};

type Mistakes = { readonly draw: Draw; readonly pick: PickOne };
type PickOne = <T>(options: readonly T[], label: string, nameOf: (option: T) => string) => T;

const randomMistakes = (draw: Draw): Mistakes => ({ draw, pick: (options, label) => pick(draw, label, options) });

/** The same for every prompt: an option is chosen whatever stands beside it. */
function habitualMistakes(draw: Draw): Mistakes {
  const order = (label: string, name: string) => draw(`${label} ${name}`);
  const pick: PickOne = (options, label, nameOf) =>
    options.toSorted((a, b) => order(label, nameOf(a)) - order(label, nameOf(b)))[0]!;
  return { draw, pick };
}

export function proposeChanges(evidence: Evidence, habits: Habits, mistakes: Mistakes): Change[] {
  const change = proposeChange(evidence, habits, mistakes);
  if (mistakes.draw('duplicate') >= habits.duplicateRate) return [change];
  const known = [...evidence.rules.values()].map(({ sentence }) => append(sentence));
  return [change, mistakes.pick([change, ...known], 'duplicate of', sayingOf)];
}

/** A guess that was tried before is drawn again; after two of them the evidence decides. */
export function proposeChange(evidence: Evidence, habits: Habits, mistakes: Mistakes): Change {
  const again = (time: number) => randomMistakes((label) => mistakes.draw(`again ${time}: ${label}`));
  for (const attempt of [mistakes, again(1), again(2)]) {
    const guess = guessChange(evidence, habits, attempt);
    if (!guess) break;
    if (!evidence.experience.tried.has(sayingOf(guess))) return guess;
  }
  const { lesson, skill, rules, experience } = evidence;
  return inOtherWords(stateRule(skill, rules.get(lesson.reading.topic.name), lesson.wanted), experience);
}

/** A proposal without a look at the evidence, if it makes one. */
function guessChange(evidence: Evidence, habits: Habits, mistakes: Mistakes): Change | undefined {
  if (mistakes.draw('harmful') < habits.harmfulRate) return overrule(evidence, mistakes);
  return mistakes.draw('precision') >= habits.precision ? append(drawRemark(mistakes.draw)) : undefined;
}

/** A rule on a topic that did not fail, and so was most likely right. */
function overrule({ rules, failing }: Evidence, { pick }: Mistakes): Change {
  const healthy = TOPICS.filter((topic) => !failing.has(topic));
  const topic = pick(healthy.length > 0 ? healthy : TOPICS, 'harmed topic', ({ name }) => name);
  const others = topic.variants.filter((variant) => variant !== rules.get(topic.name)?.variant);
  return append(pick(others, 'wrong rule', ({ rule }) => rule).rule);
}

/** Adds the rule, replaces a wrong one, or deletes one where none is wanted. */
function stateRule(skill: string, stated: StatedRule | undefined, wanted: Variant | undefined): Change {
  if (!stated) return append(wanted!.rule);
  if (wanted) return { op: 'replace', target: stated.sentence, content: wanted.rule };
  const bullet = `- ${stated.sentence}`;
  return { op: 'delete', target: skill.includes(bullet) ? bullet : stated.sentence, content: '' };
}

const OPENINGS = ['In every answer, ', 'As a house rule, ', 'Without exception, '];

/** A right rule that was rejected, it seems with others, is said again in other words. */
function inOtherWords(change: Change, { tried }: Experience): Change {
  const saying = sayingOf(change);
  if (change.op === 'delete' || !tried.has(saying)) return change;
  const plain = saying.charAt(0).toLowerCase() + saying.slice(1);
  const wording = OPENINGS.map((opening) => opening + plain).find((words) => !tried.has(words)) ?? saying;
  return { ...change, content: change.content.replace(saying, () => wording) };
}

type PastStep = {
  readonly isRejected: boolean;
  readonly failing: ReadonlySet<string>;
  readonly rejected: readonly Change[];
};

type Experience = {
  /** Tried without success, in the words of `sayingOf`. */
  readonly tried: ReadonlySet<string>;
  readonly knowsRemarks: boolean;
  readonly knowsReference: boolean;
};

/** Sentences of the notes. An optimizer that reads one is warned. */
export const LESSONS = {
  remarks: 'Remarks that state no rule do not help: say how a fact is written.',
  reference: 'Rules on topics that did not fail hurt: check the reference before stating a rule.',
  rules: 'Stating the rule that the references follow helps.',
} as const;

const TRIED = /^- Tried without success: «([^»]*)»$/gm;

export function readExperience({ steps, notes }: Pick<OptimizerPrompt, 'steps' | 'notes'>): Experience {
  const rejected = readSteps(steps).flatMap((step) => step.rejected.map(sayingOf));
  return {
    tried: new Set([...rejected, ...readTried(notes)]),
    knowsRemarks: notes.includes(LESSONS.remarks),
    knowsReference: notes.includes(LESSONS.reference),
  };
}

const readTried = (notes: string) => [...notes.matchAll(TRIED)].map(([, saying = '']) => saying);
const writeTried = (saying: string) => `- Tried without success: «${saying}»`;

function readSteps(steps: string): PastStep[] {
  const texts = steps.split(STEP_PATTERNS.start).filter((text) => text.startsWith('step '));
  return texts.map((text) => ({
    isRejected: STEP_PATTERNS.rejected.test(text),
    failing: new Set([...text.matchAll(STEP_PATTERNS.failurePattern)].map(([, type = '']) => type)),
    rejected: [...text.matchAll(STEP_PATTERNS.rejectedEdit)].flatMap(([, json = '']) => readTriedEdit(json)),
  }));
}

/** A suggestion is remembered with its instruction as content. */
function readTriedEdit(json: string): Change[] {
  const value = parseJson(json) as { content?: unknown };
  return [...readEdit(value), ...readEdit({ instruction: value?.content })].slice(0, 1);
}

const MOST_TRIED = 8;

/** The optimizer's memory: which kinds of edits helped or hurt, and what was tried without success, added to the memory so far. */
export function writeMetaNotes(prompt: OptimizerPrompt): object {
  const { notes, comparison, steps } = prompt;
  const { regressed, persistent, improved } = readComparison(comparison);
  const past = readSteps(steps);
  const rejected = past.flatMap((step) => step.rejected);
  const isRemark = (change: Change) => change.op !== 'delete' && topicOf(change) === undefined;
  const shown = {
    remarks: persistent.length > 0 && (addsRemarks(prompt) || rejected.some(isRemark)),
    reference: regressed.length > 0 || past.some((step) => guessesOf(step).length > 0),
    rules: improved.length > 0,
  };
  const lessons = (Object.keys(LESSONS) as (keyof typeof LESSONS)[]).flatMap((name) =>
    shown[name] || notes.includes(LESSONS[name]) ? [`- ${LESSONS[name]}`] : [],
  );
  const vain = [
    ...readTried(notes),
    ...past.flatMap(guessesOf).map(sayingOf),
    ...rejected.filter(isRemark).map(sayingOf),
  ];
  return {
    reasoning: `${improved.length} tasks got better and ${regressed.length} worse; ${rejected.length} edits were rejected.`,
    meta_skill_content: [...lessons, ...[...new Set(vain)].slice(-MOST_TRIED).map(writeTried)].join('\n'),
  };
}

/** Rejected rules on topics that had not failed must have been guesses. */
function guessesOf({ rejected, failing }: PastStep): Change[] {
  return rejected.filter((change) => {
    const topic = topicOf(change);
    return topic !== undefined && !failing.has(topic);
  });
}

function addsRemarks({ skill, previousSkill }: OptimizerPrompt): boolean {
  const added = linesBeyond(skill, previousSkill).filter((line) => line.startsWith('- '));
  return added.some((content) => topicOf({ op: 'append', target: '', content }) === undefined);
}

type ListedEdit = { readonly index: number; readonly edit: WireEdit };

/** A ranking: the weightiest edits, without what the skill or a chosen edit says. Remarks come last if they are known to be vain. */
export function rankEdits(prompt: OptimizerPrompt): { reasoning: string; selected_indices: number[] } {
  const { edits, skill, limit } = prompt;
  const { knowsRemarks } = readExperience(prompt);
  const isRemark = ({ edit }: ListedEdit) => Number(knowsRemarks && topicOf(edit) === undefined);
  const weighty = newsAmong(edits, skill).sort(
    (a, b) => isRemark(a) - isRemark(b) || byWeight(a.edit, b.edit) || a.index - b.index,
  );
  const distinct = groupBy(weighty, ({ edit }) => editKey(edit)).map((group) => group[0]!.index);
  return { reasoning: 'Failures first, then by support.', selected_indices: distinct.slice(0, limit) };
}

/** The listed edits that do not add what the skill says already. */
function newsAmong(lines: string, skill: string): ListedEdit[] {
  const listed = [...lines.matchAll(INDEXED_LINE)].flatMap(([, index, json = '']) =>
    readEdit(parseJson(json)).map((edit) => ({ index: Number(index), edit })),
  );
  const isSaid = ({ op, content }: WireEdit) =>
    (op === 'append' || op === 'insert_after') && skill.includes(content.trim());
  return listed.filter(({ edit }) => !isSaid(edit));
}

/** How many changes to make: all that say something new, and half of them after a rejection. */
export function decideRate(prompt: OptimizerPrompt): object {
  const { tried, knowsRemarks } = readExperience(prompt);
  const news = newsAmong(prompt.edits, prompt.skill).filter(
    ({ edit }) => !tried.has(sayingOf(edit)) && !(knowsRemarks && topicOf(edit) === undefined),
  );
  const count = groupBy(news, ({ edit }) => editKey(edit)).length;
  const isRebuffed = readSteps(prompt.steps).at(-1)?.isRejected ?? false;
  return {
    learning_rate: isRebuffed ? Math.ceil(count / 2) : count,
    reasoning: `${count} of the changes say something new${isRebuffed ? '; the last step was rejected' : ''}.`,
    confidence: 'medium',
    risk_notes: [],
  };
}

/** Advice that states no house rule and changes no answer. */
export const REMARKS: readonly string[] = [
  'Read the question twice before you answer.',
  'Answer in as few words as the question allows.',
  'Look up the record before you write anything about it.',
  'Copy values with care and check every digit.',
  'When in doubt, stay close to the wording of the record.',
  'Leave out greetings and explanations.',
  'Be consistent: treat equal questions equally.',
  'Check the answer against the house style before you send it.',
];

export const drawRemark = (draw: Draw) => pick(draw, 'remark', REMARKS);

export type Character = Habits &
  Readonly<Record<'seed' | 'stubbornness' | 'metaGain' | 'slowGain', number>> &
  Readonly<Record<'draftErrorRate' | 'draftRepeatRate' | 'solveErrorRate', number>>;

/** The mistakes about a topic. A share `stubbornness` of them is habitual. */
export function mistakesFor(topic: string, { seed, stubbornness }: Character, draw: Draw): Mistakes {
  const drawForTopic: Draw = (label) => draw(`${topic}: ${label}`);
  if (stubbornness === 0 || drawForTopic('habit') >= stubbornness) return randomMistakes(drawForTopic);
  return habitualMistakes(createDraw(seed, ['habit', topic]));
}

/** Habits with a share `gain` fewer remarks and less harm. */
export function better(habits: Habits, gain: number, where = { remarks: true, harm: true }): Habits {
  const { precision, harmfulRate } = habits;
  return {
    ...habits,
    precision: where.remarks ? 1 - (1 - precision) * (1 - gain) : precision,
    harmfulRate: where.harm ? harmfulRate * (1 - gain) : harmfulRate,
  };
}

/** Fewer mistakes of the kinds that the notes warn of. */
export function warned(habits: Habits, metaGain: number, { knowsRemarks, knowsReference }: Experience): Habits {
  return better(habits, metaGain, { remarks: knowsRemarks, harm: knowsReference });
}
