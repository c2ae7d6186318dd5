import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jaccard, nearDuplicateGroups, wordsOf } from '../../../src/core/text/index.ts';
import {
  archiveTasks,
  assignSplits,
  mineTasks,
  poolValidation,
  prepareTasks,
  recallTasks,
  type TaskRecord,
} from '../../../src/sleep/index.ts';
import { withoutQuotes } from '../../../src/sleep/mine/heuristic-miner.ts';
import { planShots } from '../../../src/sleep/night/shots.ts';
import { dedupeTasks } from '../../../src/sleep/splits.ts';
import { session, sleepTask } from '../../support/sleep/sleep-tasks.ts';

/** Few words, so that near-duplicates are common. */
const intent = fc.array(fc.constantFrom(...'fix add the a login form test page now 7'.split(' ')), { maxLength: 8 });
const task = fc
  .record({
    id: fc.integer({ min: 0, max: 40 }),
    intent: intent.map((words) => words.join(' ')),
    origin: fc.constantFrom('real' as const, 'real' as const, 'real' as const, 'dream' as const),
    split: fc.constantFrom('train' as const, 'val' as const, 'test' as const),
    skillHint: fc.constantFrom('', 'x', ' x', 'y'),
    outcome: fc.constantFrom('success' as const, 'fail' as const, 'mixed' as const, 'unknown' as const),
    sourceSessions: fc.array(fc.constantFrom('1', '2', '3'), { maxLength: 3 }),
  })
  .map(({ id, ...fields }) => sleepTask(`t${id}`, fields));
const tasks = fc.uniqueArray(task, { selector: ({ id }) => id, maxLength: 14 });
const fractions = fc.record({
  valFraction: fc.double({ min: 0, max: 0.6, noNaN: true }),
  testFraction: fc.double({ min: 0, max: 0.39, noNaN: true }),
});

const isNear = (a: TaskRecord, b: TaskRecord) => jaccard(wordsOf(a.intent), wordsOf(b.intent)) >= 0.7;
const straddles = (learned: readonly TaskRecord[], heldOut: readonly TaskRecord[]) =>
  heldOut.some(
    (one) => one.split !== 'train' && learned.some((other) => other.split === 'train' && isNear(one, other)),
  );
const byId = (a: TaskRecord, b: TaskRecord) => (a.id < b.id ? -1 : 1);

describe('splits of sleep', () => {
  test('no near-duplicate of what is learned from is held out, over nights too', () => {
    fc.assert(
      fc.property(tasks, tasks, fractions, (first, second, parts) => {
        const one = assignSplits(first, parts);
        expect(straddles(one, one)).toBe(false);
        expect(one).toHaveLength(first.length);
        const archive = archiveTasks([], one);
        const two = assignSplits(second, { ...parts, earlier: archive });
        expect(straddles(two, two)).toBe(false);
        expect(straddles(archive, two)).toBe(false);
        expect(straddles(two, poolValidation(archive, two))).toBe(false);
        expect(straddles(recallTasks(archive, two, 5), two)).toBe(false);
      }),
    );
  });

  test('the order of the tasks does not matter', () => {
    fc.assert(
      fc.property(tasks, tasks, fractions, (given, earlier, parts) => {
        const options = { ...parts, earlier };
        const there = assignSplits(given, options).sort(byId);
        const back = assignSplits([...given].reverse(), { ...parts, earlier: [...earlier].reverse() }).sort(byId);
        expect(back).toEqual(there);
      }),
    );
  });

  test('a split is for ever, and assigning again changes nothing', () => {
    fc.assert(
      fc.property(tasks, tasks, fractions, (given, others, parts) => {
        const first = assignSplits(given, parts);
        const again = assignSplits(dedupeTasks([...given, ...others]), { ...parts, earlier: first });
        const before = new Map(first.map(({ id, split }) => [id, split]));
        for (const { id, split } of again) expect([split, undefined]).toContain(before.get(id));
        expect(assignSplits(given, { ...parts, earlier: first })).toEqual(first);
      }),
    );
  });
});

describe('tasks of a night', () => {
  const wanted = { recallK: 5, dreamFactor: 1 };
  const ownerOf = ({ skillHint }: TaskRecord) => skillHint.trim();
  /** Of a file with splits of its own, or of an archive that such a file got into: anything may stand anywhere. */
  const real = tasks.map((given) => given.map((one) => ({ ...one, origin: 'real' as const })));

  test('a request counts once in a proof, and never when it was learned from: tonight, on an earlier night, for another skill', () => {
    fc.assert(
      fc.property(real, real, (day, archive) => {
        const prepared = prepareTasks(day, archive, wanted, { ownerOf });
        const learned = [...prepared.tasks, ...archive].filter(({ split }) => split === 'train');
        const held = prepared.tasks.filter(({ split }) => split !== 'train');
        expect(straddles(learned, held)).toBe(false);
        const isTwice = (one: TaskRecord) =>
          held.some((other) => other.id !== one.id && ownerOf(other) === ownerOf(one) && isNear(one, other));
        expect(held.filter(isTwice)).toEqual([]);
        const leftOut = day.filter((one) => one.split !== 'train' && !held.includes(one));
        expect(leftOut).toHaveLength(prepared.repeated);
        for (const one of leftOut) expect([...learned, ...held].some((other) => isNear(one, other))).toBe(true);
      }),
    );
  });

  test('the memory, which tasks of all skills judge, is not judged by a request twice', () => {
    fc.assert(
      fc.property(real, real, (own, others) => {
        const given = { name: 'x', text: '', tasks: others.map((one) => ({ ...one, id: `o-${one.id}` })) };
        const { shots } = planShots(own, { others: [given], leastHeldOut: 0 });
        const held = (shots.at(-1)?.tasks ?? []).filter(({ split }) => split === 'val');
        const isTwice = (one: TaskRecord) => held.some((other) => other !== one && isNear(one, other));
        if (shots.at(-1)?.trained === 'memory') expect(held.filter(isTwice)).toEqual([]);
      }),
    );
  });
});

describe('tasks of sleep', () => {
  test('groups hold exactly what comparing all with all would join', () => {
    fc.assert(
      fc.property(tasks, (given) => {
        const groups = nearDuplicateGroups(given.map((one) => one.intent));
        const near = given.map((one) => given.map((other) => isNear(one, other)));
        const isSplit = near.some((row, a) => row.some((isClose, b) => isClose && groups[a] !== groups[b]));
        const alone = near.flatMap((row, a) => (row.some((isClose, b) => isClose && a !== b) ? [] : [groups[a]!]));
        expect(isSplit).toBe(false);
        for (const group of alone) expect(groups.filter((other) => other === group)).toHaveLength(1);
      }),
    );
  });

  test('deduping twice is deduping once', () => {
    fc.assert(
      fc.property(fc.array(task), (given) => {
        const once = dedupeTasks(given);
        expect(dedupeTasks(once)).toEqual(once);
      }),
    );
  });

  test('what is mined does not depend on the order of the sessions', async () => {
    const prompts = fc.array(
      fc.oneof(
        intent.map((words) => words.join(' ')),
        fc.string({ unit: 'binary' }),
      ),
      { maxLength: 4 },
    );
    const sessions = fc.array(fc.tuple(prompts, fc.integer({ min: 1, max: 5 })), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(sessions, async (given) => {
        const digests = given.map(([userPrompts, day], at) =>
          session(`s${at}`, { userPrompts, endedAt: `2026-01-0${day}T00:00:00.000Z` }),
        );
        const mined = await mineTasks(digests, { miner: 'heuristic', maxTasks: 4 });
        expect(await mineTasks([...digests].reverse(), { miner: 'heuristic', maxTasks: 4 })).toEqual(mined);
      }),
    );
  });

  test('no line that begins as a quotation is left', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('> evil', '  >evil', '```', '~~~~', 'fine', '', '`', '>')), (lines) => {
        expect(withoutQuotes(lines.join('\n'))).not.toMatch(/^\s*>/m);
      }),
    );
  });
});
