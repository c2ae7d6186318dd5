import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/core/contracts/index.ts';
import { createWorld, simulatedOptimizer, simulatedTarget } from '../../src/public/sim.ts';
import { TOPICS } from '../../src/sim/world/topics.ts';
import { readRules } from '../../src/sim/world/world.ts';

/** Scraps of real prompts, so that garbage gets past the front gate. */
const scraps = [
  'selected_indices',
  'support_count',
  'failure_summary',
  'success_patterns',
  '## Edits (2, keep at most 1)',
  '## Trajectories (1 succeeded)',
  'At most 999999 edits.',
  '<skill-0000000a>\n',
  '\n</skill-0000000a>',
  '<trajectory-0000000b>\n',
  '\n</trajectory-0000000b>',
  '<patches-0000000c>\n',
  '\n</patches-0000000c>',
  '<edits-0000000d>\n',
  '\n</edits-0000000d>',
  '[0] {"op":"append","content":"x"}',
  '[{"edits":[{"op":"append"}]}]',
  'question: Shipment 100000 goes to Italy. Which country does it go to?\n',
  'Question: Bill 100000 came to $1,001.25. How much was the bill?',
  'reference: IT | Italia\n',
  'predicted: ',
  'conversation:\n',
  ...TOPICS.flatMap(({ variants }) => variants.map(({ rule }) => `${rule}\n`)),
];
const garbage = fc
  .array(fc.oneof(fc.constantFrom(...scraps), fc.string({ unit: 'binary' })))
  .map((parts) => parts.join(''));
const messages: fc.Arbitrary<ChatMessage[]> = fc.array(
  fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), content: garbage }),
);

describe('simulated models', () => {
  it.each([
    ['target', simulatedTarget({ noise: 0.5 })],
    ['target in null mode', simulatedTarget({ nullMode: true })],
    ['optimizer', simulatedOptimizer({ precision: 0.5, harmfulRate: 0.3, duplicateRate: 0.5 })],
  ])('the %s has a reply to any garbage, and the same one again', async (_, model) => {
    await fc.assert(
      fc.asyncProperty(messages, fc.nat(), async (garbled, sampleIndex) => {
        const reply = await model.complete({ messages: garbled, sampleIndex });
        expect(reply.text).not.toBe('');
        expect(await model.complete({ messages: garbled, sampleIndex })).toEqual(reply);
      }),
      { numRuns: 300 },
    );
  });

  it('the optimizer always answers with a JSON object', async () => {
    const optimizer = simulatedOptimizer();
    await fc.assert(
      fc.asyncProperty(messages, async (garbled) => {
        expect(JSON.parse((await optimizer.complete({ messages: garbled })).text)).toBeTypeOf('object');
      }),
      { numRuns: 300 },
    );
  });
});

describe('rules', () => {
  const rule = fc.constantFrom(...TOPICS.flatMap((topic) => topic.variants.map((variant) => ({ topic, variant }))));

  it('of any skill hold topic by topic, the last one stated', () => {
    fc.assert(
      fc.property(fc.array(rule), fc.constantFrom(' ', '\n', '\n\n- '), (stated, separator) => {
        const rules = readRules(stated.map(({ variant }) => variant.rule).join(separator));
        const expected = new Map(stated.map(({ topic, variant }) => [topic.name, variant]));
        expect(new Map([...rules].map(([name, { variant }]) => [name, variant]))).toEqual(expected);
      }),
    );
  });
});

describe('a world of any seed', () => {
  it('is answered in full by its own rules, and not without them', async () => {
    const target = simulatedTarget({ noise: 0 });
    await fc.assert(
      fc.asyncProperty(fc.integer(), fc.integer({ min: 1, max: 12 }), async (seed, topics) => {
        const { items, rules } = createWorld({ seed, topics, train: 24, val: 0, test: 0 });
        const skill = rules.map(({ text }) => text).join('\n');
        for (const { question, answers, taskType } of items.train) {
          const ask = async (system: string) =>
            (
              await target.complete({
                messages: [
                  { role: 'system', content: system },
                  { role: 'user', content: question },
                ],
              })
            ).text;
          expect(await ask(skill)).toContain(`<answer>${answers[0]}</answer>`);
          const needsRule = rules.some(({ topic }) => topic === taskType);
          expect((await ask('')).includes(`<answer>${answers[0]}</answer>`)).toBe(!needsRule);
        }
      }),
    );
  });
});
