import type { Item, SkillEnv, SkillOptConfig } from '../../core/contracts/index.ts';

/** Does `work` with an environment that is set up, and closes it whatever happens. */
export async function withEnv<I extends Item, T>(
  env: SkillEnv<I>,
  config: SkillOptConfig,
  work: () => Promise<T>,
): Promise<T> {
  await env.setup?.(config);
  try {
    return await work();
  } finally {
    await env.close?.();
  }
}
