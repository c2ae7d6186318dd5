import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toEvaluation } from '../../../src/core/contracts/index.ts';
import { journalLines, type RunEvent } from '../../../src/core/run/index.ts';

const id = fc.oneof(fc.constantFrom('a', 'b', 'c', '=0', '1A', '__proto__', ''), fc.string({ maxLength: 3 }));
const unit = fc.oneof(fc.constantFrom(0, 1, 0.5), fc.double({ min: 0, max: 1, noNaN: true }));
const result = fc.record(
  {
    id,
    hard: unit,
    soft: unit,
    errored: fc.boolean(),
    unjudged: fc.boolean(),
    taskType: fc.constantFrom('x', 'y', ''),
  },
  { requiredKeys: ['id', 'hard', 'soft'] },
);
const evaluation = fc.array(result, { maxLength: 80 }).map(toEvaluation);
const ids = fc.array(id, { maxLength: 80 });
const stamp = { at: 'now', ms: 1, usage: {} };
const stepStart = ids.map((itemIds) => {
  const place = { step: 1, epoch: 1, stepInEpoch: 1, editBudget: null, seed: 1 };
  return { type: 'step-start' as const, ...place, itemIds, ...stamp };
});
const rollout = evaluation.map((measured) => {
  return { type: 'stage-end' as const, step: 1, stage: 'rollout' as const, evaluation: measured, ...stamp };
});
const baseline = fc.array(evaluation, { minLength: 1, maxLength: 3 }).map(([first, ...passes]) => {
  return { type: 'baseline-end' as const, evaluation: first!, score: 1, passes, ...stamp };
});
const journal: fc.Arbitrary<RunEvent[]> = fc.array(fc.oneof(stepStart, rollout, baseline), { maxLength: 12 });

it('what was written is read again letter by letter, and can be gone on with from any line, with or without those before it', () => {
  fc.assert(
    fc.property(journal, fc.nat(), (events, cut) => {
      const texts = events.map((event) => JSON.stringify(event));
      const writer = journalLines();
      const lines = events.map(writer.write);
      const reader = journalLines();
      expect(lines.map((line) => JSON.stringify(reader.read(line)))).toEqual(texts);
      const resumed = journalLines();
      const at = cut % (events.length + 1);
      lines.slice(0, at).forEach(resumed.read);
      const soFar = JSON.parse(JSON.stringify(resumed.soFar()));
      expect(events.slice(at).map(resumed.write)).toEqual(lines.slice(at));
      if (at === 0) return; // there is no line with a check to go on after
      const tail = journalLines(undefined, soFar);
      expect(lines.slice(at).map((line) => JSON.stringify(tail.read(line)))).toEqual(texts.slice(at));
      expect(events.slice(at).map(journalLines(undefined, soFar).write)).toEqual(lines.slice(at));
    }),
  );
});
