import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  appendRows,
  checkTasks,
  readTaskLines,
  saveDecision,
  unreviewedLines,
  withoutRepeated,
} from '../../../src/tasks/index.ts';
import type { CheckedTask } from '../../../src/tasks/load-for-check.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const word = fc.constantFrom('red', 'blue', 'ticket', 'bill', 'who', '12', '4711', 'paid', 'the', 'signed');
const task = fc.record({
  question: fc.array(word, { maxLength: 8 }).map((words) => words.join(' ')),
  answers: fc.array(fc.constantFrom('yes', 'no', '4711'), { minLength: 1, maxLength: 2 }),
  taskType: fc.constantFrom('', 'a', 'b'),
  split: fc.constantFrom('train' as const, 'val' as const, 'test' as const),
  isUnreviewed: fc.boolean(),
  isDoubtful: fc.boolean(),
});
const tasks = fc
  .array(task, { maxLength: 25 })
  .map((list) => list.map((one, n): CheckedTask => ({ ...one, id: `t${n}`, scoredBy: one.answers.join() })));

const asked = (question: string, n: number): CheckedTask => ({
  ...{ id: `t${n}`, question, answers: [`no ${n}`], taskType: '', split: 'train', scoredBy: `no ${n}` },
  ...{ isUnreviewed: false, isDoubtful: false },
});

describe('the check of tasks', () => {
  it('does not depend on their order, and changes nothing', () => {
    fc.assert(
      fc.property(tasks, fc.infiniteStream(fc.nat()), (list, numbers) => {
        const before = JSON.stringify(list);
        const order = new Map(list.map((one) => [one, numbers.next().value as number]));
        const other = list.toSorted((a, b) => order.get(a)! - order.get(b)!);
        const skill = 'The ticket 4711 is red.';
        expect(checkTasks({ tasks: other, skill })).toEqual(checkTasks({ tasks: list, skill }));
        expect([...withoutRepeated(other)].sort()).toEqual([...withoutRepeated(list)].sort());
        expect(JSON.stringify(list)).toBe(before);
      }),
    );
  });

  it('leaves nothing behind that it would find repeated again', () => {
    fc.assert(
      fc.property(tasks, (list) => {
        const stay = withoutRepeated(list);
        const rest = list.filter(({ id }) => stay.has(id));
        expect([...withoutRepeated(rest)]).toHaveLength(rest.length);
      }),
    );
  });

  it('counts a question once, however often it names what was to be filled in', () => {
    const names = (times: number) => '{{name}} '.repeat(times);
    for (const times of [2, 100_000]) {
      const list = [asked(names(times), 0), asked('Who signed?', 1), asked('Who paid?', 2)];
      expect(checkTasks({ tasks: list }).filter(({ code }) => code === 'unfilled')).toEqual([]);
    }
    const all = checkTasks({ tasks: [asked(names(2), 0), asked(`${names(3)} more`, 1)] });
    expect(all.find(({ code }) => code === 'unfilled')).toMatchObject({ tasks: ['t0', 't1'] });
  });

  it.each(['“', '„', '.', '{', '.files'])('reads a question of a hundred thousand %s', (sign) => {
    const question = `${sign.repeat(100_000)}\x01`;
    const told = [{ where: question, what: question, why: question, kind: 'check' as const }];
    const codes = checkTasks({ tasks: [asked(question, 0)], leftOut: told }).map(({ code }) => code);
    expect(codes).toContain('weaker');
  });
});

const row = fc.record({ question: fc.string(), drafted: fc.boolean(), reviewed: fc.boolean(), n: fc.nat() });

describe('a file of tasks', () => {
  it('loses no line to a draft or a review, and holds no half of one', async () => {
    using folder = tempFolder({});
    const path = join(folder.path, 'tasks.jsonl');
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(row, { selector: ({ n }) => n }),
        fc.array(row, { maxLength: 3 }),
        fc.array(fc.constantFrom('keep' as const, 'drop' as const), { maxLength: 5 }),
        async (rows, added, decisions) => {
          writeFileSync(path, rows.map((one) => ` ${JSON.stringify(one)}\n`).join('\n'));
          const before = readFileSync(path, 'utf8');
          await appendRows(path, added);
          expect(readFileSync(path, 'utf8').startsWith(before)).toBe(true);
          const open = unreviewedLines(await readTaskLines(path));
          for (const [n, decision] of decisions.entries()) if (open[n]) await saveDecision(path, open[n], decision);
          const left = new Set(readFileSync(path, 'utf8').split('\n'));
          const others = before.split('\n').filter((text) => !open.some((line) => line.text === text));
          expect(others.filter((text) => !left.has(text))).toEqual([]);
          expect(readdirSync(folder.path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });
});
