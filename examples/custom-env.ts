// An environment of your own: a zod schema types the items, `rolloutOne` attempts and scores one of them.
import assert from 'node:assert/strict';
import { defineEnv, memoryRun, SkillOptTrainer } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { z } from 'zod';

const words = [
  'lamp',
  'river',
  'stone',
  'cloud',
  'paper',
  'green',
  'mouse',
  'table',
  'plant',
  'chair',
  'bread',
  'night',
];
const items = words.map((word) => ({ id: word, word }));

const shout = defineEnv({
  name: 'shout',
  schema: z.object({ id: z.string(), word: z.string().min(1) }),
  items: { train: items.slice(0, 6), val: items.slice(6, 9), test: items.slice(9) },
  initialSkill: '# Shout\n\nSay the word.\n',
  async rolloutOne({ item, skill, target, signal }) {
    const messages = [
      { role: 'system' as const, content: skill },
      { role: 'user' as const, content: item.word },
    ];
    const { text } = await target.complete({ messages, signal });
    const hard = text === item.word.toUpperCase() ? 1 : 0;
    return { hard, soft: hard, failReason: `expected ${item.word.toUpperCase()}, got ${text}`, conversation: messages };
  },
});

// Stand-ins: the target shouts when it is told to; the optimizer has one idea.
const target = scripted('target', ({ messages: [system, user] }) =>
  system!.content.includes('capital letters') ? user!.content.toUpperCase() : user!.content,
);
const optimizer = scripted('optimizer', () =>
  JSON.stringify({
    patch: { reasoning: 'The word is expected loud.', edits: [{ op: 'append', content: 'Use capital letters.' }] },
  }),
);

const config = { numEpochs: 1, batchSize: 6 };
const summary = await new SkillOptTrainer({ config, env: shout, target, optimizer, store: memoryRun() }).train();
console.log(summary.bestSkill);
assert.equal(summary.testHard, 1);
