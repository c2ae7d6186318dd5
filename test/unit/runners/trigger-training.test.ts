import { memoryRun, SkillOptTrainer } from 'skillopt';
import { type TriggerQuery, triggerEnv } from 'skillopt/runners';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { sandbox, shellAgent } from './shell-agent.ts';

const COUNT = 61;
const SYLLABLES = 'ba ce di fo gu ha ji ko lu me ni po qua ri so tu va we xi yo za'.split(' ');
const syllable = (index: number) => SYLLABLES[index % SYLLABLES.length]!;

/** A word that no other topic has. */
const wordOf = (topic: number, place: number) =>
  `${syllable(topic)}${syllable(Math.floor(topic / SYLLABLES.length))}${syllable(place)}stel`;

const PLACES = [0, 1, 2, 3, 4];
const WRONG = [
  [7, 0],
  [13, 1],
] as const;
const OTHER = 'quickly today kindly again together tomorrow first later'.split(' ');

/** Each is about one topic, in one of its words, among words that any query may have. */
const queryOf = (topic: number, place: number, filler: number): TriggerQuery => ({
  id: `${topic}-${place}-${filler}`,
  query: `Could you see to the ${wordOf(topic, place)} ${OTHER[(topic + filler) % OTHER.length]}?`,
  shouldTrigger: topic === 0,
});

/** As many that should load it as not; two of the others are about what the first description claims wrongly. */
const part = (index: number) => [
  ...PLACES.flatMap((place) => [queryOf(0, place, 2 * index), queryOf(0, place, 2 * index + 1)]),
  ...WRONG.map(([topic, place]) => queryOf(topic, place, index)),
  ...Array.from({ length: 8 }, (_, at) => queryOf(20 + index * 8 + at, at % 5, index)),
];

const skillOf = (topic: number, description: string) =>
  `---\nname: topic-${topic}\ndescription: ${description}\n---\n\n# Topic ${topic}\n`;
const about = (topic: number) => PLACES.map((place) => wordOf(topic, place)).join(', ');
const neighbours = Array.from({ length: COUNT - 1 }, (_, index) => ({
  files: { 'SKILL.md': skillOf(index + 1, `Sees to ${about(index + 1)}.`) },
}));

const wordsIn = (text: string) => (text.toLowerCase().match(/[a-z]{5,}/g) ?? []).filter((word) => word !== 'could');
/** The known mind: it loads what shares a word with the query. */
const loads = (prompt: string, description: string) =>
  wordsIn(description).some((word) => wordsIn(prompt).includes(word));

/** Reads what failed as an analyst does, and takes any word for the cause: also those that every query may have. */
const analyst = (user: string) => {
  const failed = [...user.matchAll(/question: (.*)\n(?:(?!question: )[\s\S])*?(was not loaded|was loaded, and)/g)];
  const edits = failed.flatMap(([, query, reason]) =>
    wordsIn(query!).map((word) =>
      reason === 'was not loaded' ? { op: 'append', content: ` Also ${word}.` } : { op: 'delete', target: word },
    ),
  );
  return JSON.stringify({ patch: { reasoning: '', edits: edits.slice(0, 4) } });
};

describe('a description among 60 other skills', () => {
  it('row 17: is trained until it loads for all queries that it should, and for no other, on tasks it never saw', async () => {
    const env = triggerEnv({
      items: { train: [...part(0), ...part(1)], val: part(2), test: part(3) },
      neighbours,
      sandbox,
      initialSkill: skillOf(
        0,
        `Sees to ${wordOf(0, 0)}, ${WRONG.map(([topic, place]) => wordOf(topic, place)).join(', ')}.`,
      ),
    });
    const optimizer = scripted('optimizer', ({ stage, messages }) =>
      stage === 'analyst' ? analyst(messages[1]!.content) : 'I could not say.',
    );
    const { agent } = shellAgent({ loads });
    const store = memoryRun();
    const config = { parts: ['description' as const], numEpochs: 5, batchSize: 20, minibatchSize: 4, workers: 4 };
    const summary = await new SkillOptTrainer({ env, agent, optimizer, store, config }).train();
    expect(summary).toMatchObject({ baselineTestHard: 0.5, testHard: 1 });
    const description = /^description: (.*)$/m.exec(store.views['best_skill.md']!)![1]!;
    expect(
      wordsIn(description)
        .filter((word) => word.endsWith('stel') || OTHER.includes(word))
        .sort(),
    ).toEqual(PLACES.map((place) => wordOf(0, place)).sort());
  });
});
