import { expect, it } from 'vitest';
import { simulatedPerson } from '../../../../src/public/sim.ts';
import { consolidate, TaskRecord } from '../../../../src/public/sleep.ts';

it('asks the agent again for every attempt at the same task', async () => {
  const person = simulatedPerson({ seed: 3 });
  const tasks = [1, 2, 3].flatMap((day) => person.tasksOf(day, { judgedBy: 'rule' }));
  const unique = [...new Map(tasks.map((task) => [task.id, task])).values()].slice(0, 12);
  const split = unique.map((task, at) => TaskRecord.parse({ ...task, split: at < 6 ? 'val' : 'train' }));
  const asked = new Map<string, number>();
  const target = {
    id: 'counted',
    complete(request: Parameters<typeof person.target.complete>[0]) {
      const intent = request.messages.at(-1)!.content;
      asked.set(intent, (asked.get(intent) ?? 0) + 1);
      return person.target.complete(request);
    },
  };
  await consolidate({ target, optimizer }, split, { skill: '', memory: '' }, { rolloutsK: 3, evolveMemory: false });
  const learned = split.filter((task) => task.split === 'train').map(({ intent }) => asked.get(intent));
  expect(learned).toEqual([3, 3, 3, 3, 3, 3]);
});

const usage = { input: 1, cached: 0, output: 1, reasoning: 0 };
const text = '{"patch": {"reasoning": "", "edits": []}}';
/** Proposes nothing. */
const optimizer = { id: 'silent', complete: async () => ({ text, usage, finishReason: 'stop' as const }) };
