// Tasks that no rule can score: a judge model compares each answer with a reference, blind and in both places.
import assert from 'node:assert/strict';
import { defineEnv, memoryRun, SkillOptTrainer } from 'skillopt';
import { judgeAnswer, judgedOutput } from 'skillopt/judges';
import { scripted } from 'skillopt/testing';
import { z } from 'zod';

const complaints = ['late parcel', 'broken lamp', 'wrong size', 'missing key', 'torn bag', 'cold soup'];
const tasks = (split: string) => complaints.map((complaint) => ({ id: `${split}: ${complaint}`, complaint }));

const letters = defineEnv({
  name: 'letters',
  schema: z.object({ id: z.string(), complaint: z.string() }),
  items: { train: tasks('train'), val: tasks('val'), test: tasks('test') },
  initialSkill: '# Letters\n\nAnswer complaints of customers.\n',
  judgeCalls: 2, // for `skillopt estimate`
  async rolloutOne({ item, skill, target, judge, signal }) {
    const messages = [
      { role: 'system' as const, content: skill },
      { role: 'user' as const, content: item.complaint },
    ];
    const { text } = await target.complete({ messages, signal });
    const judgement = await judgeAnswer({
      judge,
      question: item.complaint,
      answer: text,
      reference: `We are sorry about the ${item.complaint}.`,
      rubric: 'A letter that says sorry and offers a remedy beats one that only says sorry.',
      signal,
    });
    // Without a judgement the result is missing, and not a failure of the skill.
    return { ...judgedOutput(judgement), conversation: [...messages, { role: 'assistant', content: text }] };
  },
});

// Stand-ins. The judge likes a remedy; of two equal letters it likes the first, which must not matter; and it cannot
// speak of soup.
const target = scripted('target', ({ messages: [system, user] }) => {
  const remedy = system!.content.includes('remedy') ? ' Here is your money.' : '';
  return `We are sorry about the ${user!.content}.${remedy}`;
});
const judge = scripted('judge', ({ messages: [, user] }) => {
  if (user!.content.includes('soup')) return 'I would rather not.';
  const [, first = '', second = ''] = user!.content.split('## Answer ');
  const isBetter = (letter: string) => letter.includes('money');
  return JSON.stringify({ reason: 'the remedy', winner: isBetter(second) && !isBetter(first) ? 'B' : 'A' });
});
const optimizer = scripted('optimizer', ({ messages }) => {
  const isSaid = messages.some(({ content }) => content.includes('Offer a remedy.'));
  const edits = isSaid ? [] : [{ op: 'append', content: 'Offer a remedy.' }];
  return JSON.stringify({ patch: { reasoning: 'Sorry is not enough.', edits } });
});

const config = { numEpochs: 1, batchSize: 6, gateMetric: 'soft' } as const;
const store = memoryRun();
const summary = await new SkillOptTrainer({ config, env: letters, target, judge, optimizer, store }).train();

console.log(summary.bestSkill);
const { baseline, best } = summary.tests;
console.log(`judged against the reference: ${baseline!.soft} before, ${best!.soft} after`);
assert.equal(baseline!.soft, 0.5); // as good as the reference, whichever stands first
assert.equal(best!.soft, 1);
assert.equal(best!.buckets.overall!.total, 5); // nobody could judge the soup: it is missing, and not zero
