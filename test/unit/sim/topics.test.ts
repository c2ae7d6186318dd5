import { describe, expect, it } from 'vitest';
import { normalizeAnswer } from '../../../src/envs/index.ts';
import { createDice, createDraw } from '../../../src/sim/draw.ts';
import { REMARKS } from '../../../src/sim/optimizer/propose-changes.ts';
import type { Topic } from '../../../src/sim/world/topic.ts';
import { TOPICS } from '../../../src/sim/world/topics.ts';
import { readQuestion, readRules } from '../../../src/sim/world/world.ts';

const byName = TOPICS.map((topic) => [topic.name, topic] as const);
const questionsOf = (topic: Topic) => {
  const dice = createDice(createDraw(1, [topic.name]));
  return Array.from({ length: 300 }, () => topic.ask(dice));
};
/** What a text says, as `topic: sentence of the variant`. */
const said = (text: string) =>
  [...readRules(text).values()].map(({ topic, variant }) => `${topic.name}: ${variant.rule}`);

describe('topics', () => {
  it('are twelve, with two to four ways to write each', () => {
    expect(TOPICS).toHaveLength(12);
    expect(new Set(TOPICS.map(({ name }) => name)).size).toBe(12);
    for (const { variants } of TOPICS) expect([2, 3, 4]).toContain(variants.length);
  });

  it.each(byName)('%s: its questions are understood, and by no other topic', (_, topic) => {
    for (const question of questionsOf(topic)) {
      expect(TOPICS.filter((other) => other.read(question)).map(({ name }) => name)).toEqual([topic.name]);
    }
  });

  it.each(byName)('%s: no two ways of writing a fact are equal to a grader', (_, topic) => {
    for (const question of questionsOf(topic)) {
      const answers = [undefined, ...topic.variants].map((variant) => readQuestion(question)!.answer(variant));
      expect(new Set(answers.map(normalizeAnswer)).size, `${question} → ${answers.join(' | ')}`).toBe(answers.length);
    }
  });

  it.each(byName)('%s: each rule is recognised for itself and for nothing else', (name, { variants }) => {
    for (const { rule } of variants) expect(said(rule)).toEqual([`${name}: ${rule}`]);
  });

  it.each([
    ['dates', 'March 14, 2024', ['2024-03-14', '14.03.2024', '03/14/2024', '14 March 2024']],
    ['times', '3:45 PM', ['15:45', '15h45', '1545 hours']],
    ['times', '3:05 AM', ['03:05', '03h05', '0305 hours']],
    ['durations', '2 hours and 15 minutes', ['135 minutes', '2:15', '2.25 hours', '2h 15m']],
    ['money', '$1,240.75', ['1240.75 USD', 'USD 1240.75', '124075 cents', '1241 dollars']],
    ['weights', '2.35 kg', ['2350 g', '2.35 kilograms', '5.2 lb']],
    ['temperatures', '12 °C', ['12 degrees Celsius', '54 °F', '285 K']],
    ['percentages', '12.5%', ['12.5 percent', '0.125', '1250 basis points']],
    ['phones', '(212) 555-0123', ['+12125550123', '2125550123', '212 555 0123']],
    ['orders', 'B-1042', ['ORD-B-1042', '1042', '1042-B', 'B-001042']],
    ['people', 'Maria Lopez', ['Lopez, Maria', 'M. Lopez', 'Lopez']],
    ['countries', 'Germany', ['DE', 'DEU', 'Deutschland']],
  ])('%s: %s is written in every style', (name, usual, styles) => {
    const topic = TOPICS.find((candidate) => candidate.name === name)!;
    const [sample] = questionsOf(topic);
    const reading = readQuestion(sample!.replace(readQuestion(sample!)!.answer(), () => usual))!;
    expect([undefined, ...topic.variants].map((variant) => reading.answer(variant))).toEqual([usual, ...styles]);
  });
});

it('consent: yes and no are written in every style', () => {
  const topic = TOPICS.find(({ name }) => name === 'consent')!;
  const answers = (not: string) => {
    const reading = readQuestion(`Customer 100200 has ${not}signed up for the newsletter. Did the customer sign up?`)!;
    return [undefined, ...topic.variants].map((variant) => reading.answer(variant));
  };
  expect(answers('')).toEqual(['Yes', 'Y', 'true', '1']);
  expect(answers('not ')).toEqual(['No', 'N', 'false', '0']);
});

describe('reading rules', () => {
  it.each([
    ['All dates must be given in the form YYYY-MM-DD, please.', 'dates: Write dates as YYYY-MM-DD.'],
    ['* Use ISO 8601 for every date', 'dates: Write dates as YYYY-MM-DD.'],
    ['3. Give each time on the 24-hour clock!', 'times: Write times of day on the 24-hour clock as HH:MM.'],
    [
      'State how long something took in total minutes.',
      'durations: Write durations in minutes alone, such as 135 minutes.',
    ],
    ['For a person give the surname only.', 'people: Write names of people by last name only, such as Lopez.'],
    ['Use the ISO alpha-2 code of a country.', 'countries: Write countries as two-letter codes, such as DE.'],
    ['When the answer is yes or no, write Y/N.', 'consent: Answer yes-or-no questions with Y or N.'],
    ['Write dates as YYYY-MM-DD, not as DD.MM.YYYY.', 'dates: Write dates as YYYY-MM-DD.'],
    ["Don't write dates as DD.MM.YYYY, use YYYY-MM-DD for dates.", 'dates: Write dates as YYYY-MM-DD.'],
    ['Instead of MM/DD/YYYY, write dates as DD.MM.YYYY.', 'dates: Write dates as DD.MM.YYYY.'],
  ])('takes a paraphrase: %s', (sentence, rule) => {
    expect(said(sentence)).toEqual([rule]);
  });

  it.each([
    'Dates matter. YYYY-MM-DD is a format.',
    'Do not write dates as YYYY-MM-DD.',
    'Never use the 24-hour clock for times.',
    'End your reply with the final answer inside <answer></answer>, in as few words as it takes.',
    ...REMARKS,
  ])('finds no rule in: %s', (sentence) => {
    expect(said(sentence)).toEqual([]);
  });

  it('lets the last of several rules on a topic hold, on one line or on many', () => {
    expect(said('Write dates as YYYY-MM-DD. Write dates as DD.MM.YYYY.')).toEqual([
      'dates: Write dates as DD.MM.YYYY.',
    ]);
    expect(said('- Write dates as DD.MM.YYYY.\n\n- Write dates as YYYY-MM-DD.')).toEqual([
      'dates: Write dates as YYYY-MM-DD.',
    ]);
  });

  it('keeps a sentence exactly as it stands, without its bullet, so that an edit can find it', () => {
    const skill = '# Style\n\nBe brief. All dates as YYYY-MM-DD!  Thank you.\n  - Give weights in grams\n';
    expect([...readRules(skill).values()].map(({ sentence }) => sentence)).toEqual([
      'All dates as YYYY-MM-DD!',
      'Give weights in grams',
    ]);
  });
});
