import { dirname } from 'node:path';
import { parseConfig, SkillError } from '../core/contracts/index.ts';
import { skillHash } from '../core/text/index.ts';
import { countTestLook } from '../stores/index.ts';
import { hashTasks } from '../train/index.ts';
import type { Wiring } from './wire-run.ts';

/** A measurement outside a run. The same one again shows nothing new, and is counted once. */
type Look = {
  readonly by: 'eval' | 'calibrate';
  readonly document: string;
  readonly skill: string;
  /** Whatever else the scores depend on. */
  readonly conditions: readonly unknown[];
};

/** The hash of the test tasks when `split` holds them, whatever it is called. The environment must be set up. */
export async function testTasksOf({ env, config }: Wiring, split: string): Promise<string | undefined> {
  const { testSplit } = parseConfig(config);
  const tasks = await hashTasks(env, split);
  if (split === testSplit) return tasks;
  const testTasks = await hashTasks(env, testSplit).catch(() => undefined); // an environment may have none
  return tasks === testTasks ? tasks : undefined;
}

/**
 * Counts a look at the test tasks from outside a run, if it is one, and answers how many there are. A folder that cannot
 * be written is no reason to hide a score: then a warning says that it is not counted.
 */
export async function countLook(
  testTasks: string | undefined,
  { by, document, skill, conditions }: Look,
  { path }: Wiring,
  onWarning: (message: string) => void,
): Promise<number | undefined> {
  if (testTasks === undefined) return undefined;
  const hash = skillHash(skill);
  const run = `${by} ${skillHash(JSON.stringify([hash, ...conditions]))}`;
  const entry = { at: new Date().toISOString(), by, run, tasks: testTasks, subjects: { [document]: hash } };
  try {
    return (await countTestLook(dirname(path), entry)).total;
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    onWarning(`this look at the test tasks is not counted: ${error.message}`);
    return undefined;
  }
}
