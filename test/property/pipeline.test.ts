import { setImmediate as tick } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RawPatch, UpdateItem } from '../../src/core/document/index.ts';
import { fence } from '../../src/core/text/index.ts';
import { scripted } from '../../src/models/index.ts';
import {
  createLimit,
  createStageDeps,
  createStop,
  mergePatches,
  rankAndSelect,
  runMinibatchReflect,
} from '../../src/pipeline/index.ts';
import { renderTrajectory } from '../../src/pipeline/reflect/trajectory.ts';

const sourceType = fc.constantFrom('failure' as const, 'success' as const);
const edit: fc.Arbitrary<UpdateItem> = fc.record({
  op: fc.constantFrom('append', 'replace'),
  target: fc.constantFrom('', 'x'),
  content: fc.constantFrom('a', 'b', 'c'),
  sourceType,
  supportCount: fc.integer({ min: 1, max: 9 }),
});
const rawPatch: fc.Arbitrary<RawPatch> = fc.record({
  patch: fc.record({ reasoning: fc.string(), edits: fc.array(edit, { maxLength: 3 }) }),
  sourceType,
  batchSize: fc.constant(9),
});

/** What models really say: JSON, nearly JSON, the right keys with the wrong values, and prose. */
const patchLike = fc.record(
  {
    reasoning: fc.oneof(fc.string(), fc.jsonValue()),
    edits: fc.oneof(fc.array(fc.oneof(edit, fc.jsonValue())), fc.jsonValue()),
    patch: fc.oneof(fc.record({ edits: fc.array(edit) }), fc.jsonValue()),
    selected_indices: fc.oneof(fc.array(fc.oneof(fc.integer({ min: -2, max: 12 }), fc.jsonValue())), fc.jsonValue()),
  },
  { requiredKeys: [] },
);
const babble = fc.oneof(
  patchLike.map((value) => JSON.stringify(value)),
  fc.tuple(patchLike, fc.nat()).map(([value, cut]) => JSON.stringify(value).slice(0, cut % 200)),
  patchLike.map((value) => `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``),
  fc.string(),
);
const finishReason = fc.constantFrom('stop' as const, 'length' as const, 'content-filter' as const, 'other' as const);
const replies = fc.array(fc.record({ text: babble, finishReason }), { minLength: 1 });

function depsWith(answers: readonly { text: string; finishReason: 'stop' | 'length' | 'content-filter' | 'other' }[]) {
  let turn = 0;
  const optimizer = scripted('optimizer', () => answers[turn++ % answers.length]!);
  return createStageDeps({ target: scripted('target', () => ''), optimizer, promptOverrides: noPrompts });
}
/** Reading six files for each run would be most of the work. */
const noPrompts = {
  analyst_error: '',
  analyst_success: '',
  merge_failure: '',
  merge_success: '',
  merge_final: '',
  ranking: '',
};

describe('limit.map', () => {
  it('keeps the order and never exceeds the workers', async () => {
    const delays = fc.array(fc.nat(3), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(delays, fc.integer({ min: 1, max: 5 }), async (ticks, workers) => {
        let [now, most] = [0, 0];
        const answers = await createLimit(workers, createStop()).map(ticks, async (count, index) => {
          most = Math.max(most, ++now);
          for (let left = count; left > 0; left--) await tick();
          now--;
          return index;
        });
        expect(answers).toEqual([...ticks.keys()]);
        expect(most).toBeLessThanOrEqual(workers);
      }),
      { numRuns: 50 },
    );
  });
});

describe('a fence', () => {
  it('is closed once, at its end, whatever is inside', () => {
    const inside = fc
      .array(fc.oneof(fc.string(), fc.constantFrom('</skill-', '>', '\n', '</skill-00000000>')))
      .map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(inside, (text) => {
        const fenced = fence('skill', text);
        const [, tag] = fenced.match(/^<(skill-[0-9a-f]{8})>\n/)!;
        expect(fenced.indexOf(`</${tag}>`)).toBe(fenced.length - `</${tag}>`.length);
        expect(fenced).toBe(`<${tag}>\n${text}\n</${tag}>`);
      }),
    );
  });

  it('goes round every trajectory, of whatever turns', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.string(), (conversation, question) => {
        const text = renderTrajectory({ id: 'a', hard: 0, soft: 0, question, conversation });
        expect(text).toMatch(/^<trajectory-[0-9a-f]{8}>\nid: a\n[\s\S]*\n<\/trajectory-[0-9a-f]{8}>$/);
      }),
    );
  });
});

describe('an optimizer that says anything at all', () => {
  it('as an analyst gives at most the budget of edits, each with a source and honest support', async () => {
    const results = ['a', 'b', 'c'].map((id) => ({ id, hard: 0, soft: 0 }));
    await fc.assert(
      fc.asyncProperty(replies, fc.integer({ min: 1, max: 4 }), async (answers, editBudget) => {
        const input = { skill: '', results, minibatchSize: 2, editBudget, seed: 1 };
        for (const { patch, batchSize } of await runMinibatchReflect(input, depsWith(answers))) {
          expect(patch.edits.length).toBeLessThanOrEqual(editBudget);
          for (const one of patch.edits) {
            expect(one.sourceType).toBe('failure');
            expect(one.supportCount).toBeGreaterThanOrEqual(1);
            expect(one.supportCount).toBeLessThanOrEqual(batchSize);
          }
        }
      }),
    );
  });

  it('while merging gives no edit more support than there were trajectories', async () => {
    await fc.assert(
      fc.asyncProperty(replies, fc.array(rawPatch, { maxLength: 6 }), async (answers, patches) => {
        const merged = await mergePatches({ skill: '', patches, mergeBatchSize: 2 }, depsWith(answers));
        const read = patches.reduce((sum, { batchSize }) => sum + batchSize, 0);
        for (const one of merged.edits) expect(one.supportCount).toBeLessThanOrEqual(read);
      }),
    );
  });

  it('in prose alone loses no edit in a merge, and failures stay first', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rawPatch, { maxLength: 6 }),
        fc.integer({ min: 2, max: 4 }),
        async (patches, mergeBatchSize) => {
          const merged = await mergePatches(
            { skill: '', patches, mergeBatchSize },
            depsWith([{ text: 'no', finishReason: 'stop' }]),
          );
          const editsOf = (source: string) =>
            patches.filter((raw) => raw.sourceType === source).flatMap(({ patch }) => patch.edits);
          const withoutLevel = merged.edits.map(({ mergeLevel: _, ...one }) => one);
          expect(withoutLevel).toEqual([...editsOf('failure'), ...editsOf('success')]);
        },
      ),
    );
  });

  it('as a ranking picks at most the budget, of the edits there are, each once', async () => {
    await fc.assert(
      fc.asyncProperty(replies, fc.array(edit, { maxLength: 9 }), fc.nat(9), async (answers, edits, editBudget) => {
        const { edits: chosen } = await rankAndSelect(
          { skill: '', patch: { edits, reasoning: '' }, editBudget },
          depsWith(answers),
        );
        expect(chosen.length).toBeLessThanOrEqual(editBudget);
        expect(chosen.length > 0).toBe(edits.length > 0 && editBudget > 0);
        const places = chosen.map((one) => edits.indexOf(one));
        expect(places).not.toContain(-1);
        expect(new Set(places).size).toBe(places.length);
      }),
    );
  });
});
