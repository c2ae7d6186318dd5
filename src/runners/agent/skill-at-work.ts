import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type AgentRunner, isPlainPath, SkillError, type SkillPackage } from '../../core/contracts/index.ts';
import { skillHeader } from '../../skills/index.ts';

/** Lays skills where an agent looks for them, each in a folder of its name. Gives the names. */
export async function installSkills(folder: string, skills: readonly SkillPackage[]): Promise<void> {
  for (const skill of skills) await installSkill(join(folder, nameOf(skill)), skill);
}

/** As its frontmatter says. */
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

/** A skill among others. One of its own name would lie in its place. */
export const amongNeighbours = (skill: SkillPackage, neighbours: readonly SkillPackage[] = []): SkillPackage[] => [
  skill,
  ...neighbours.filter((other) => nameOf(other) !== nameOf(skill)),
];

async function installSkill(folder: string, { files, binaries = {} }: SkillPackage): Promise<void> {
  for (const [path, content] of [...Object.entries(files), ...Object.entries(binaries)]) {
    if (!isPlainPath(path)) throw new SkillError('TASKS_INVALID', `${path} is no path in a skill`);
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    if (isScript(content)) await chmod(file, 0o755);
  }
}

/** What names its interpreter is meant to be run. */
const isScript = (content: string | Uint8Array) =>
  typeof content === 'string' ? content.startsWith('#!') : content[0] === 0x23 && content[1] === 0x21;

export function requireAgent(agent: AgentRunner | undefined): AgentRunner {
  if (agent !== undefined) return agent;
  throw new SkillError('CONFIG_INVALID', 'these tasks are for an agent, and the target is none', {
    hint: 'Write target: { agent: claude }, or another agent that is installed: skillopt doctor lists them.',
  });
}
