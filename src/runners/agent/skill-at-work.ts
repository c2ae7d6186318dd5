import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentRunner, isPlainPath, SkillError, type SkillPackage } from '../../core/contracts/index.ts';
import { skillHeader } from '../../skills/index.ts';
import { layFiles } from '../../workspaces/index.ts';

/** Installs skills in a folder that an agent looks into, each in a folder of its name. */
export async function installSkills(folder: string, skills: readonly SkillPackage[]): Promise<void> {
  for (const skill of skills) {
    const files = { ...skill.files, ...skill.binaries };
    const odd = Object.keys(files).find((path) => !isPlainPath(path));
    if (odd !== undefined) throw new SkillError('TASKS_INVALID', `${odd} is no path in a skill`);
    const own = join(folder, nameOf(skill));
    await mkdir(own, { recursive: true });
    await layFiles({ folder: own }, files);
  }
}

/** The name in its frontmatter. */
export function nameOf({ files }: SkillPackage): string {
  const { name } = skillHeader(files['SKILL.md'] ?? '');
  if (name !== undefined && isPlainPath(name) && !name.includes('/')) return name;
  throw new SkillError(
    'SKILL_NOT_FOUND',
    `a skill needs a name in its frontmatter that a folder can have, got ${JSON.stringify(name ?? null)}`,
    {
      hint: 'Begin SKILL.md with a block between two lines of --- that holds name (lowercase letters, digits and hyphens, at most 64, such as pdf-forms) and description.',
    },
  );
}

/** A skill among others. Another one of the same name is left out: it would be in the same folder. */
export const amongNeighbours = (skill: SkillPackage, neighbours: readonly SkillPackage[] = []): SkillPackage[] => [
  skill,
  ...neighbours.filter((other) => nameOf(other) !== nameOf(skill)),
];

export function requireAgent(agent: AgentRunner | undefined): AgentRunner {
  if (agent !== undefined) return agent;
  throw new SkillError('CONFIG_INVALID', 'these tasks are for an agent, and the target is none', {
    hint: 'Write target: { agent: claude }, or another agent that is installed: skillopt doctor lists them.',
  });
}
