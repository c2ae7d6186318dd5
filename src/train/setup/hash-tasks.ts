import type { SkillEnv } from '../../core/env.ts';
import { skillHash } from '../../core/skill/skill-hash.ts';

/**
 * Names the tasks of a split by what is in them. All of them: who measures on the first few has still looked at this
 * set. The environment must be set up.
 */
export async function hashTasks(env: SkillEnv, split: string): Promise<string> {
  return skillHash(JSON.stringify([env.name, env.version ?? '', await env.getItems(split)]));
}
