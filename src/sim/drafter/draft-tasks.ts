import { createDice, type Draw } from '../draw.ts';
import type { Character } from '../optimizer/character.ts';
import type { OptimizerPrompt } from '../optimizer/read-prompt.ts';
import type { Topic, Variant } from '../world/topic.ts';
import { readQuestion, TOPICS } from '../world/topics.ts';
import { houseStyle, writeAnswer } from './house-style.ts';

type Asked = Pick<OptimizerPrompt, 'skill' | 'surroundings' | 'topic' | 'questions' | 'limit'>;

const textsOf = ({ skill, surroundings }: Asked) => `${skill}\n${surroundings}`;

/** The kinds of facts that the skill and its files speak of; all there are when they name none. */
export function outlineSkill(prompt: Asked): object {
  const named = [...houseStyle(textsOf(prompt)).keys()];
  const topics = named.length > 0 ? named : TOPICS;
  return { skill_topics: topics.map(({ name }) => ({ name, about: `How the house writes ${name}.` })) };
}

/** As many tasks as may be: new ones, and, now and then, one that is there already. */
export function draftTasks(prompt: Asked, character: Character, draw: Draw): object {
  const { draftErrorRate, draftRepeatRate } = character;
  const house = houseStyle(textsOf(prompt));
  const topics = topicsFor(prompt.topic, house);
  const known = prompt.questions.split('\n').flatMap((line) => (readQuestion(line) ? [line.replace(/^- /, '')] : []));
  const count = Number.isFinite(prompt.limit) ? prompt.limit : 0;
  const drafts = Array.from({ length: count }, (_, place) => {
    const ownDraw: Draw = (label) => draw(`draft ${place}: ${label}`);
    const isRepeated = known.length > 0 && ownDraw('repeat') < draftRepeatRate;
    const question = isRepeated ? repeat(known, ownDraw) : askAnew(topics, ownDraw);
    known.push(question);
    const reading = readQuestion(question)!;
    const answer = writeAnswer(reading, house.get(reading.topic), draftErrorRate, ownDraw);
    return { question, answers: [answer], why: `Asks for ${reading.topic.name} in the form of the house.` };
  });
  return { task_drafts: drafts };
}

/** The topic that is named; beside the field of the skill, those on which the house wants nothing special. */
function topicsFor(name: string | undefined, house: ReadonlyMap<Topic, Variant | undefined>): readonly Topic[] {
  const named = TOPICS.filter((topic) => name?.split(/\W/).includes(topic.name));
  if (named.length > 0) return named;
  const plain = TOPICS.filter((topic) => house.get(topic) === undefined);
  return plain.length > 0 ? plain : TOPICS;
}

const askAnew = (topics: readonly Topic[], draw: Draw) =>
  topics[Math.floor(draw('topic') * topics.length)]!.ask(createDice(draw));

function repeat(known: readonly string[], draw: Draw): string {
  const question = known[Math.floor(draw('which') * known.length)]!;
  return draw('verbatim') < 0.5 ? question : inOtherWords(question, draw);
}

/** What a question begins with: `Invoice 123456`. */
const SUBJECT = /^([A-Z]\w*(?: [a-z]+)?) (\d{6})/;

/** Ways to ask the same, from a word more to nearly as many as the question has. */
const REWORDINGS: readonly ((question: string) => string)[] = [
  (question) => `Please: ${question}`,
  (question) => `${question} Keep it short.`,
  (question) => `A colleague wants to know this about an entry in our files. ${question}`,
  (question) => `${question} Reply in the way in which we always write it, please.`,
  (question) => question.replace(SUBJECT, 'The $1 that is filed under the number $2'),
  (question) => `Look this up for me. ${question.replace(SUBJECT, 'Our $1 no. $2')} Thank you!`,
];

/** The same question about the same fact. */
function inOtherWords(question: string, draw: Draw): string {
  return REWORDINGS[Math.floor(draw('words') * REWORDINGS.length)]!(question);
}
