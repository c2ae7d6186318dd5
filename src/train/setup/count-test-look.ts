import type { RunState } from '../../core/run/index.ts';
import { skillHash } from '../../core/text/index.ts';
import type { Run } from '../run.ts';
import { hashTasks } from './run-items.ts';

/**
 * Counts a run's look at the test tasks, one for all its skills, before the first of the tasks is attempted. A run that
 * is resumed has looked already, and one that is made again from what is known shows nothing new.
 */
export async function countTestLook(
  state: RunState,
  skills: Readonly<Record<string, string>>,
  { env, config, commit, lookAtTest, deps: { target, judge } }: Run,
): Promise<RunState> {
  if (state.testLooks !== undefined) return state;
  const tasks = await hashTasks(env, config.testSplit);
  const subjects = Object.fromEntries(Object.entries(skills).map(([name, skill]) => [name, skillHash(skill)]));
  const measurement = skillHash(JSON.stringify([target.id, judge?.id, subjects]));
  const looks = await lookAtTest({ measurement, tasks, subjects });
  return commit({ type: 'test-look', looks, tasks });
}
