import { createDice, type Draw } from '../draw.ts';
import type { Character } from '../optimizer/character.ts';
import type { OptimizerPrompt } from '../optimizer/read-prompt.ts';
import type { Topic, Variant } from '../world/topic.ts';
import { readQuestion, TOPICS } from '../world/topics.ts';
import { houseStyle, writeAnswer } from './house-style.ts';
import { inOtherWords } from './in-other-words.ts';

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
