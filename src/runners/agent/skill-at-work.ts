import type { AgentRunner, SkillPackage } from '../../core/agent-runner.ts';
import { SkillError } from '../../core/errors.ts';

/** A skill's folder with another SKILL.md. */
export const packageWith = (base: SkillPackage | undefined, skill: string): SkillPackage => ({
  ...base,
  files: { ...base?.files, 'SKILL.md': skill },
});

export function requireAgent(agent: AgentRunner | undefined): AgentRunner {
  if (agent !== undefined) return agent;
  throw new SkillError('CONFIG_INVALID', 'these tasks are for an agent, and the target is none', {
    hint: 'Write target: { agent: claude }, or another agent that is installed: skillopt doctor lists them.',
  });
}
