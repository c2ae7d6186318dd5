import { z } from 'zod';
import { defineEnv, type RolloutOutput, type SkillEnv } from '../../../src/index.ts';
import { isDone } from './rules-target.ts';
import type { RulesWorld, Task } from './world.ts';

const Job = z.object({ id: z.string(), question: z.string() });
type Job = z.infer<typeof Job>;

/** The jobs of a world: one call each, done or not. What a job needs stands in its question alone. */
export function rulesEnv({ seed, tasks, initialSkill }: RulesWorld): SkillEnv<Job> {
  const asked = (split: readonly Task[]) => split.map(({ id, question }) => ({ id, question }));
  return defineEnv({
    name: 'rules-world',
    version: `seed ${seed}`,
    schema: Job,
    items: { train: asked(tasks.train), val: asked(tasks.val) },
    initialSkill,
    async rolloutOne({ item, skill, target, signal }) {
      const messages = [
        { role: 'system', content: skill },
        { role: 'user', content: item.question },
      ] as const;
      const { text } = await target.complete({ messages, stage: 'rollout', signal });
      return toResult(item, text);
    },
  });
}

function toResult({ question }: Job, reply: string): RolloutOutput {
  const score = Number(isDone(reply));
  const failure = score === 1 ? {} : { failReason: 'the job was not done' };
  return { hard: score, soft: score, nTurns: 1, question, predictedAnswer: reply, ...failure };
}
