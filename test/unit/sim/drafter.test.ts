import { describe, expect, it } from 'vitest';
import {
  DRAFT_REPLY_KEYS,
  dataSection,
  HEADINGS,
  promptSection,
  taskCountLine,
} from '../../../src/core/contracts/index.ts';
import { createWorld, simulatedOptimizer, worldSkillFolder } from '../../../src/public/sim.ts';
import { readQuestion, readRules } from '../../../src/sim/world/world.ts';
import { expectEvery } from '../../support/expect-every.ts';

const world = createWorld({ seed: 3 });
const folder = worldSkillFolder(world);

async function ask(key: string, topic: string | undefined, options = {}, questions = '') {
  const user = [
    dataSection(HEADINGS.skill, 'skill', folder['SKILL.md']),
    dataSection(HEADINGS.files, 'surroundings', folder['examples.md']),
    ...(topic === undefined ? [] : [dataSection(HEADINGS.topic, 'topic', topic)]),
    ...(questions === '' ? [] : [dataSection(HEADINGS.questions, 'questions', questions)]),
    promptSection(HEADINGS.taskCount, taskCountLine(400)),
  ].join('\n\n');
  const system = { role: 'system' as const, content: `Answer with {"${key}": []}` };
  const reply = await simulatedOptimizer(options).complete({ messages: [system, { role: 'user', content: user }] });
  return JSON.parse(reply.text)[key];
}

type Draft = { readonly question: string; readonly answers: readonly [string] };
const truthOf = (name: string) => world.rules.find(({ topic }) => topic === name)?.text;
const isTrue = ({ question, answers: [answer] }: Draft) => {
  const { topic, answer: write } = readQuestion(question)!;
  return write(topic.variants.find(({ rule }) => rule === truthOf(topic.name))) === answer;
};
const share = (drafts: readonly Draft[], holds: (draft: Draft) => boolean) =>
  drafts.filter(holds).length / drafts.length;

describe('the simulated drafter', () => {
  it('has a skill folder whose examples show every kind of fact and state no rule', async () => {
    expect(readRules(`${folder['SKILL.md']}${folder['examples.md']}`).size).toBe(0);
    const topics: { name: string }[] = await ask(DRAFT_REPLY_KEYS.outline, undefined);
    expect(topics.map(({ name }) => name).sort()).toEqual(
      [...new Set(world.items.train.map((item) => item.taskType))].sort(),
    );
  });

  it('is wrong in a fifth of its references and repeats itself in a fifth of its tasks', async () => {
    const topic = world.rules[0]!.topic;
    const drafts: Draft[] = await ask(DRAFT_REPLY_KEYS.drafts, topic);
    const records = drafts.map(({ question }) => question.match(/\b\d{6}\b/)![0]);
    expect(drafts).toHaveLength(400);
    expectEvery(drafts, ({ question }) => readQuestion(question)?.topic.name === topic);
    expect(share(drafts, isTrue)).toBeCloseTo(0.8, 1);
    expect(new Set(records).size / 400).toBeCloseTo(0.8, 1);
    expect(new Set(drafts.map(({ question }) => question)).size).toBeGreaterThan(new Set(records).size); // reworded
  });

  it('drafts beside the field what the house wants nothing special of', async () => {
    const drafts: Draft[] = await ask(DRAFT_REPLY_KEYS.drafts, undefined, { draftErrorRate: 0 });
    expect(share(drafts, isTrue)).toBe(1);
    expect(share(drafts, ({ question }) => truthOf(readQuestion(question)!.topic.name) === undefined)).toBe(1);
  });

  it('solves what the target is asked, by the examples, and is wrong in a fifth', async () => {
    const system = `${folder['SKILL.md']}\n${folder['examples.md']}\nEnd with <answer></answer>.`;
    const solved = await Promise.all(
      Array.from({ length: 600 }, async (_, index) => {
        const { question } = world.items.train[index % world.items.train.length]!;
        const messages = [
          { role: 'system' as const, content: system },
          { role: 'user' as const, content: `Question: ${question}` },
        ];
        const { text } = await simulatedOptimizer().complete({ messages, sampleIndex: index });
        return isTrue({ question, answers: [text.match(/<answer>(.*)<\/answer>/)![1]!] });
      }),
    );
    expect(solved.filter(Boolean).length / 600).toBeCloseTo(0.8, 1);
  });
});
