import { z } from 'zod';
import { type ChatModel, parseWith } from '../../core/contracts/index.ts';
import { readBlock } from '../../core/document/index.ts';
import { groupBy } from '../../core/text/index.ts';
import { createDice, type Draw, pick } from '../draw.ts';
import { createSimulatedModel, lineOptions, rate } from '../simulated-model.ts';
import { type Reading, slippedStyle, type Topic, type Variant } from '../world/topic.ts';
import { TOPICS } from '../world/topics.ts';
import {
  readQuestion,
  readRules,
  reminderOf,
  type StatedRules,
  shortenReminders,
  stylesInExamples,
} from '../world/world.ts';
import { append, carryOutSuggestions, inMode, mergeEdits } from './edits.ts';
import {
  better,
  type Character,
  decideRate,
  drawRemark,
  mistakesFor,
  proposeChange,
  proposeChanges,
  rankEdits,
  readExperience,
  warned,
  writeMetaNotes,
} from './propose-changes.ts';
import {
  type Assignment,
  type Lesson,
  type OptimizerPrompt,
  readComparison,
  readPrompt,
  readTrajectory,
  type TaskAssignment,
} from './read-prompt.ts';

const Options = z.strictObject({
  ...lineOptions,
  precision: rate.default(0.85),
  harmfulRate: rate.default(0.1),
  duplicateRate: rate.default(0.1),
  stubbornness: rate.default(0),
  metaGain: rate.default(0.5),
  slowGain: rate.default(0.5),
  draftErrorRate: rate.default(0.2),
  draftRepeatRate: rate.default(0.2),
  solveErrorRate: rate.default(0.2),
});

/**
 * Per edit: `harmfulRate` 0.1 states a wrong rule on a topic that was fine. Of the others `precision` 0.85 state the right
 * rule, the rest a remark that changes nothing; `duplicateRate` 0.1 is repeated. `stubbornness` 0 is the share of edits whose
 * mistake is a habit, and comes again until a memory speaks against it. Warned by its notes it makes a share `metaGain` 0.5
 * fewer mistakes of a kind; with two epochs side by side, `slowGain` 0.5 fewer of any kind. It drafts tasks with a share
 * `draftErrorRate` 0.2 of wrong references and `draftRepeatRate` 0.2 of repetitions, and solves them with `solveErrorRate` 0.2.
 * `seed` 7, `latencyMs` 0 and `failureRate` 0 as for the target.
 */
export type SimulatedOptimizerOptions = z.input<typeof Options>;

/**
 * An optimizer for the simulated world. It reads nothing but the prompt: it finds the house rules in questions and references,
 * and proposes, merges and ranks edits. It remembers nothing by itself.
 */
export function simulatedOptimizer(options: SimulatedOptimizerOptions = {}): ChatModel {
  const knobs = parseWith(Options, options, "The simulated optimizer's options are not valid.");
  return createSimulatedModel({
    ...knobs,
    id: nameOf(knobs),
    answer({ messages }, draw) {
      const prompt = readPrompt(messages);
      const { assignment, taskAssignment } = prompt;
      if (taskAssignment === 'solve') return solveTask(prompt, knobs, draw);
      const reply = taskAssignment ? taskWork[taskAssignment] : work[assignment];
      return JSON.stringify(reply(prompt, knobs, draw), null, 2);
    },
  });
}

function nameOf({ seed, precision, harmfulRate, duplicateRate, ...knobs }: z.output<typeof Options>): string {
  const { stubbornness, metaGain, slowGain, draftErrorRate, draftRepeatRate, solveErrorRate } = knobs;
  const isUsualDrafter = draftErrorRate === 0.2 && draftRepeatRate === 0.2 && solveErrorRate === 0.2;
  const drafts = isUsualDrafter ? '' : ` drafts=${draftErrorRate}/${draftRepeatRate}/${solveErrorRate}`;
  const memory = stubbornness === 0 && metaGain === 0.5 && slowGain === 0.5;
  const rest = memory ? '' : ` stubborn=${stubbornness} meta=${metaGain} slow=${slowGain}`;
  return `sim-optimizer/1 seed=${seed} precision=${precision} harmful=${harmfulRate} duplicate=${duplicateRate}${rest}${drafts}`;
}

type Work = (prompt: OptimizerPrompt, character: Character, draw: Draw) => object;

const taskWork: Record<Exclude<TaskAssignment, 'solve'>, Work> = { outline: outlineSkill, draft: draftTasks };

const work: Record<Assignment, Work> = {
  'read-failures': readFailures,
  'read-successes': readSuccesses,
  merge: mergeEdits,
  rank: rankEdits,
  'decide-rate': decideRate,
  rewrite: carryOutSuggestions,
  'write-guidance': writeGuidance,
  'write-notes': writeMetaNotes,
  'shorten-reminders': shortenReminders,
};

/**
 * The reply of an error analyst. Each failing topic whose rule the skill does not state gets an edit, the most frequent first,
 * supported by its trajectories. A failure in spite of the right rule is a slip: it is worth a reminder at most.
 */
function readFailures(prompt: OptimizerPrompt, character: Character, draw: Draw): object {
  const { skill, limit, trajectories, mode } = prompt;
  const stated = readRules(skill);
  const lessons = trajectories.flatMap((block) => readTrajectory(block) ?? []);
  const isSlip = ({ reading, wanted }: Lesson) => stated.get(reading.topic.name)?.variant === wanted;
  const groups = groupBy(
    lessons.filter((lesson) => !isSlip(lesson)),
    ({ reading }) => reading.topic,
  ).sort((a, b) => b.length - a.length);
  const context = contextOf(prompt, lessons);
  const habits = warned(character, character.metaGain, context.experience);
  const guided = readRules(readBlock(skill, 'slowUpdate'));
  const proposed = groups.flatMap((group) => {
    const lesson = group[0]!;
    const { name } = lesson.reading.topic;
    if (guided.has(name)) return []; // edits there are dropped: that is for the end of the epoch
    const changes = proposeChanges({ ...context, lesson }, habits, mistakesFor(name, character, draw));
    return changes.map((change) => ({ ...change, support_count: group.length }));
  });
  const changes = proposed.slice(0, limit);
  return {
    batch_size: trajectories.length,
    failure_summary: groups.map(summarize),
    patch: { reasoning: 'The references follow rules that the skill does not state.', ...inMode(mode, skill, changes) },
    ...(prompt.wantsReminders ? { appendix_notes: remind(lessons.filter(isSlip), stated) } : {}),
  };
}

const contextOf = (prompt: OptimizerPrompt, lessons: readonly Lesson[]) => ({
  skill: prompt.skill,
  rules: readRules(prompt.skill),
  failing: new Set(lessons.map(({ reading }) => reading.topic)),
  experience: readExperience(prompt),
});

function summarize(group: readonly Lesson[]) {
  const { reading, reference, predicted } = group[0]!;
  const description = `Wrote "${predicted}" where "${reference}" was wanted.`;
  const task_ids = group.map(({ id }) => id);
  return { failure_type: reading.topic.name, count: group.length, description, task_ids };
}

function remind(slips: readonly Lesson[], stated: StatedRules): string[] {
  const topics = slips.map(({ reading }) => reading.topic.name).filter((topic) => stated.has(topic));
  return [...new Set(topics)].map((topic) => reminderOf([topic]));
}

/** The reply of a success analyst: what went well, and seldom a remark that changes no answer. */
function readSuccesses(prompt: OptimizerPrompt, character: Character, draw: Draw): object {
  const { trajectories, limit, mode, skill } = prompt;
  const experience = readExperience(prompt);
  const { precision } = warned(character, character.metaGain, experience);
  const topics = new Set(trajectories.flatMap((block) => readTrajectory(block)?.reading.topic.name ?? []));
  const remark = drawRemark(draw);
  const isSilent = draw('praise') < precision || experience.tried.has(remark);
  const changes = isSilent ? [] : [append(remark)];
  return {
    batch_size: trajectories.length,
    success_patterns: [...topics].map((topic) => `The answers about ${topic} followed the house style.`),
    patch: { reasoning: 'What works is left alone.', ...inMode(mode, skill, changes.slice(0, limit)) },
    ...(prompt.wantsReminders ? { appendix_notes: [] } : {}),
  };
}

/**
 * The reply to the end of an epoch: a rule for each topic that fails now, regressions first, and what the guidance so far says
 * on the others. An optimizer that sees both attempts at a task is less often wrong.
 */
function writeGuidance(prompt: OptimizerPrompt, character: Character, draw: Draw): object {
  const { regressed, persistent } = readComparison(prompt.comparison);
  const failing = [...regressed, ...persistent];
  const { rules: stated, ...context } = contextOf(prompt, failing);
  const news = failing.filter(({ reading, wanted }) => stated.get(reading.topic.name)?.variant !== wanted);
  const contradicted = new Set(news.map(({ reading }) => reading.topic.name));
  const carried = [...readRules(prompt.guidance).values()].filter(({ topic }) => !contradicted.has(topic.name));
  const habits = better(character, character.slowGain);
  const rules = new Map([...stated].filter(([, { topic }]) => !context.failing.has(topic)));
  const added = groupBy(news, ({ reading }) => reading.topic).flatMap((group) => {
    const lesson = group[0]!;
    if (!lesson.wanted) return []; // a block cannot take back what the body says
    const mistakes = mistakesFor(lesson.reading.topic.name, character, draw);
    return [proposeChange({ ...context, rules, lesson }, habits, mistakes).content];
  });
  const lines = [...carried.map(({ sentence }) => `- ${sentence}`), ...added];
  return {
    reasoning: `${regressed.length} tasks got worse, ${persistent.length} fail as before.`,
    slow_update_content: [...new Set(lines)].join('\n'),
  };
}

const textsOf = ({ skill, surroundings }: OptimizerPrompt) => `${skill}\n${surroundings}`;

/** The kinds of facts that the skill and its files name, or all. */
function outlineSkill(prompt: OptimizerPrompt): object {
  const named = [...houseStyle(textsOf(prompt)).keys()];
  const topics = named.length > 0 ? named : TOPICS;
  return { skill_topics: topics.map(({ name }) => ({ name, about: `How the house writes ${name}.` })) };
}

/** As many tasks as allowed: new ones, and now and then a repeated one. */
function draftTasks(prompt: OptimizerPrompt, character: Character, draw: Draw): object {
  const { draftErrorRate, draftRepeatRate } = character;
  const house = houseStyle(textsOf(prompt));
  const topics = topicsFor(prompt.topic, house);
  const known = prompt.questions.split('\n').flatMap((line) => (readQuestion(line) ? [line.replace(/^- /, '')] : []));
  const count = Number.isFinite(prompt.limit) ? prompt.limit : 0;
  const drafts = Array.from({ length: count }, (_, place) => {
    const ownDraw: Draw = (label) => draw(`draft ${place}: ${label}`);
    const isRepeated = known.length > 0 && ownDraw('repeat') < draftRepeatRate;
    const question = isRepeated ? repeat(known, ownDraw) : pick(ownDraw, 'topic', topics).ask(createDice(ownDraw));
    known.push(question);
    const reading = readQuestion(question)!;
    const answer = answerWithSlips(reading, house, draftErrorRate, ownDraw);
    return { question, answers: [answer], why: `Asks for ${reading.topic.name} in the form of the house.` };
  });
  return { task_drafts: drafts };
}

/** The named topic; without one, those on which the house wants nothing special. */
function topicsFor(name: string | undefined, house: ReadonlyMap<Topic, Variant | undefined>): readonly Topic[] {
  const named = TOPICS.filter((topic) => name?.split(/\W/).includes(topic.name));
  if (named.length > 0) return named;
  const plain = TOPICS.filter((topic) => house.get(topic) === undefined);
  return plain.length > 0 ? plain : TOPICS;
}

function repeat(known: readonly string[], draw: Draw): string {
  const question = pick(draw, 'which', known);
  return draw('verbatim') < 0.5 ? question : pick(draw, 'words', REWORDINGS)(question);
}

const SUBJECT = /^([A-Z]\w*(?: [a-z]+)?) (\d{6})/;

/** Ways to ask the same, from one word more to nearly twice as many. */
const REWORDINGS: readonly ((question: string) => string)[] = [
  (question) => `Please: ${question}`,
  (question) => `${question} Keep it short.`,
  (question) => `A colleague wants to know this about an entry in our files. ${question}`,
  (question) => `${question} Reply in the way in which we always write it, please.`,
  (question) => question.replace(SUBJECT, 'The $1 that is filed under the number $2'),
  (question) => `Look this up for me. ${question.replace(SUBJECT, 'Our $1 no. $2')} Thank you!`,
];

/** The styles that a text gives by rules and worked examples. Topics without either are left out. */
function houseStyle(text: string): ReadonlyMap<Topic, Variant | undefined> {
  const ruled = [...readRules(text).values()].map(({ topic, variant }) => [topic, variant] as const);
  const known = new Map<Topic, Variant | undefined>([...stylesInExamples(text), ...ruled]);
  return new Map(TOPICS.filter((topic) => known.has(topic)).map((topic) => [topic, known.get(topic)]));
}

type HouseStyle = ReturnType<typeof houseStyle>;

const answerWithSlips = (reading: Reading, house: HouseStyle, errorRate: number, draw: Draw) =>
  reading.answer(slippedStyle(reading, house.get(reading.topic), errorRate, draw));

/** Reads rules and examples alike, and is wrong now and then. */
function solveTask({ skill, question }: OptimizerPrompt, { solveErrorRate }: Character, draw: Draw): string {
  const reading = readQuestion(question);
  const answer = reading && answerWithSlips(reading, houseStyle(skill), solveErrorRate, draw);
  return `The examples tell us.\n<answer>${answer ?? 'I do not know'}</answer>`;
}
