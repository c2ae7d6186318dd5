import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { defineEnv, memoryRun, type SkillOptConfigInput, SkillOptTrainer } from '../../../../src/index.ts';
import { rubricJudge } from '../../../../src/public/judges.ts';
import { type SimulatedPerson, simulatedPerson } from '../../../../src/public/sim.ts';
import { TaskRecord } from '../../../../src/public/sleep.ts';

/** The person's tasks of some weeks, scored by a rubric as nights do it. */
function personEnv(person: SimulatedPerson) {
  const tasks = Array.from({ length: 16 }, (_, at) => person.tasksOf(at + 1)).flat();
  const distinct = [...new Map(tasks.map((task) => [task.id, task])).values()];
  const scorer = rubricJudge();
  return defineEnv({
    name: 'person',
    schema: TaskRecord as unknown as z.ZodType<TaskRecord>,
    items: { train: distinct.slice(0, 36), val: distinct.slice(36, 66), test: [] },
    initialSkill: '---\nname: rig\ndescription: Helps at the rig.\n---\n\n# Rig\n',
    async rolloutOne({ item, skill, target, judge: model, signal }) {
      const messages = [
        { role: 'system' as const, content: skill },
        { role: 'user' as const, content: item.intent },
      ];
      const { text: answer } = await target.complete({ messages, signal });
      const judge = { kind: 'rubric' as const, rubric: item.reference };
      const scored = await scorer.score({ judge, question: item.intent, answer, model, signal });
      return { ...scored, question: item.intent, referenceText: item.reference, predictedAnswer: answer };
    },
  });
}

async function train(person: SimulatedPerson, config: SkillOptConfigInput = {}) {
  const { target, judge, optimizer } = person;
  const settings = { numEpochs: 2, batchSize: 12, evalTest: false, gateMetric: 'soft' as const, ...config };
  const trainer = new SkillOptTrainer({
    config: settings,
    env: personEnv(person),
    target,
    judge,
    optimizer,
    store: memoryRun(),
  });
  return (await trainer.train()).bestSkill;
}

describe('training with a simulated person', () => {
  it('learns what the person wants, by the prompts that analysts really get', async () => {
    const person = simulatedPerson({ seed: 2 });
    const skill = await train(person);
    const [start, best] = [person.trueScore('', ''), person.bestScore()];
    expect((person.trueScore(skill, '') - start) / (best - start)).toBeGreaterThan(0.4);
  });

  it.each(['rewrite_from_suggestions', 'full_rewrite_minibatch'] as const)('also by %s', async (skillUpdateMode) => {
    const person = simulatedPerson({ seed: 2, precision: 1 });
    const skill = await train(person, { skillUpdateMode, numEpochs: 1 });
    expect(person.trueScore(skill, '')).toBeGreaterThan(person.trueScore('', '') + 0.05);
  });
});
