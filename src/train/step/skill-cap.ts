import { SkillError, type SkillOptConfig } from '../../core/contracts/index.ts';
import { countTokens } from '../../models/index.ts';

type SkillCap = { readonly maxSkillTokens: number; readonly warnings: readonly string[] };

/** A document for a model to read with every task. A megabyte is more than any context holds. */
const MAX_SKILL_LENGTH = 1_000_000;

/** Refuses a document that no model could read, before anything is paid for. */
export function requireReadable(skill: string): void {
  if (skill.length <= MAX_SKILL_LENGTH) return;
  const [size, most] = [skill.length, MAX_SKILL_LENGTH].map((length) => length.toLocaleString('en-US'));
  throw new SkillError('CONFIG_INVALID', `the skill document has ${size} characters, and at most ${most} can be used`, {
    hint: 'Check that it is the right file. A model reads all of it with every task.',
  });
}

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
