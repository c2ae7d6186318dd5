import { z } from 'zod';
import { type ChatModel, parseWith } from '../../core/contracts/index.ts';
import { createDice, type Draw } from '../draw.ts';
import { createSimulatedModel, lineOptions, rate } from '../simulated-model.ts';
import type { Reading, Topic, Variant } from '../world/topic.ts';
import { readQuestion, readRules, shortenReminders, stylesInExamples, TOPICS } from '../world/world.ts';
import { readFailures, readSuccesses, writeGuidance, writeMetaNotes } from './analysts.ts';
import { carryOutSuggestions, mergeEdits } from './edits.ts';
import { type Character, decideRate, rankEdits } from './propose-changes.ts';
import { type Assignment, type OptimizerPrompt, readPrompt, type TaskAssignment } from './read-prompt.ts';

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
    const topic = topics[Math.floor(ownDraw('topic') * topics.length)]!;
    const question = isRepeated ? repeat(known, ownDraw) : topic.ask(createDice(ownDraw));
    known.push(question);
    const reading = readQuestion(question)!;
    const answer = writeAnswer(reading, house.get(reading.topic), draftErrorRate, ownDraw);
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
  const question = known[Math.floor(draw('which') * known.length)]!;
  return draw('verbatim') < 0.5 ? question : REWORDINGS[Math.floor(draw('words') * REWORDINGS.length)]!(question);
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

/** The styles that a text gives by rules and worked examples. Topics without either are left out. */
function houseStyle(text: string): ReadonlyMap<Topic, Variant | undefined> {
  const ruled = [...readRules(text).values()].map(({ topic, variant }) => [topic, variant] as const);
  const known = new Map<Topic, Variant | undefined>([...stylesInExamples(text), ...ruled]);
  return new Map(TOPICS.filter((topic) => known.has(topic)).map((topic) => [topic, known.get(topic)]));
}

/** In the meant style, or, in a share `errorRate`, in any other. */
function writeAnswer(reading: Reading, meant: Variant | undefined, errorRate: number, draw: Draw): string {
  if (draw('slip') >= errorRate) return reading.answer(meant);
  const others = [undefined, ...reading.topic.variants].filter((style) => style !== meant);
  return reading.answer(others[Math.floor(draw('slip to') * others.length)]);
}

/** Reads rules and examples alike, and is wrong now and then. */
function solveTask({ skill, question }: OptimizerPrompt, { solveErrorRate }: Character, draw: Draw): string {
  const reading = readQuestion(question);
  const answer = reading ? writeAnswer(reading, houseStyle(skill).get(reading.topic), solveErrorRate, draw) : undefined;
  return `The examples tell us.\n<answer>${answer ?? 'I do not know'}</answer>`;
}
