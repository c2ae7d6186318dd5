import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SimulatedPerson, simulatedPerson } from '../../../../src/public/sim.ts';
import { type TaskRecord, tasksFileText } from '../../../../src/sleep/index.ts';
import type { SleepHome } from '../../../support/sleep/sleep-home.ts';

const ROLES = ['target', 'optimizer', 'judge'] as const;
export type Role = (typeof ROLES)[number];

type Pending = {
  readonly id: string;
  readonly draw: number;
  readonly answer_file: string;
  readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[];
};

export type PendingAnswer = {
  readonly handoffPending: true;
  readonly prompts: number;
  readonly byRole: Partial<Record<Role, number>>;
  readonly answersDir: string;
  readonly files: readonly string[];
};

const WISHES = { seed: 5, precision: 1, harmfulRate: 0, judgeSd: 0.05 };
/** A person whose agent can learn what they want. */
const person = simulatedPerson(WISHES);
/** The same, and the agent does not listen: no change helps. */
export const deafPerson = simulatedPerson({ ...WISHES, usefulness: 'nothing-helps' });

/** So many different tasks of the person's days, every second held out, as a reviewed file in the home. */
export function writeTasks(
  home: SleepHome,
  count: number,
  fields: Partial<TaskRecord> = {},
  judgedBy: 'rubric' | 'rule' = 'rubric',
): string {
  const found = new Map<string, TaskRecord>();
  for (let day = 1; found.size < count; day++) {
    for (const task of person.tasksOf(day, { judgedBy }))
      if (found.size < count) found.set(task.id, task as TaskRecord);
  }
  const tasks = [...found.values()].map((task, index) => {
    const split = index % 2 === 0 ? ('train' as const) : ('val' as const);
    return { ...task, split, ...fields };
  });
  const text = tasksFileText({ project: home.shop, transcriptSource: 'claude', tasks } as never);
  return home.write('tasks.json', text.replace('"reviewed": false', '"reviewed": true'));
}

/** What waits for a role. */
export function questionsFor(role: Role, { answersDir }: PendingAnswer): readonly Pending[] {
  return JSON.parse(readFileSync(join(answersDir, '..', `${role}.json`), 'utf8')).pending;
}

/** Answers all that waits, each question by itself. */
export async function answerAll(pending: PendingAnswer, brain: SimulatedPerson = person): Promise<void> {
  for (const role of ROLES.filter((one) => pending.byRole[one])) {
    for (const question of questionsFor(role, pending)) {
      const { text } = await brain[role].complete({ messages: question.messages, sampleIndex: question.draw });
      writeFileSync(question.answer_file, `${text}\n`);
    }
  }
}
