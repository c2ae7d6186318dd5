import type { ChatModel } from '../../../src/index.ts';
import { createSimulatedModel, textOf } from '../../../src/sim/simulated-model.ts';
import { readSkill } from './sentences.ts';
import { chanceOf } from './true-score.ts';
import type { RulesWorld } from './world.ts';

const DONE = 'Done.';

export const isDone = (reply: string) => reply === DONE;

/** The frozen agent. Its luck depends on the seed, the job, the whole text of the skill and the sample index. */
export function rulesTarget(world: RulesWorld): ChatModel {
  const { seed, noise, nullMode, tasks } = world;
  const byQuestion = new Map([...tasks.train, ...tasks.val].map((task) => [task.question, task]));
  return createSimulatedModel({
    id: `rules-target/1 seed=${seed} ${nullMode ? 'null' : `noise=${noise}`}`,
    seed,
    latencyMs: 0,
    failureRate: 0,
    answer({ messages }, draw) {
      const task = byQuestion.get(textOf(messages, 'user'));
      if (!task) return 'No such job.';
      return draw('luck') < chanceOf(task, readSkill(textOf(messages, 'system')), world) ? DONE : 'Not done.';
    },
  });
}
