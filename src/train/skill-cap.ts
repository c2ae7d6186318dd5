import type { SkillOptConfig } from '../core/config.ts';
import { countTokens } from '../models/index.ts';

type SkillCap = { readonly maxSkillTokens: number; readonly warnings: readonly string[] };

/** The longest skill of a run. Who brings a longer one does not want it cut: then that is the limit. */
export async function skillCap(
  { maxSkillTokens }: Pick<SkillOptConfig, 'maxSkillTokens'>,
  initialSkill: string,
): Promise<SkillCap> {
  const size = maxSkillTokens === 0 ? 0 : await countTokens(initialSkill);
  if (size <= maxSkillTokens) return { maxSkillTokens, warnings: [] };
  const warning = `The initial skill has ${size} tokens, more than maxSkillTokens (${maxSkillTokens}): its size is the limit now.`;
  return { maxSkillTokens: size, warnings: [warning] };
}
