import {
  type AgentLimits,
  type AgentRunner,
  type Sandbox,
  SkillError,
  type SkillPackage,
} from '../../core/contracts/index.ts';
import { openTemplate, openWorkspace } from '../../workspaces/index.ts';

type Canary = {
  readonly agent: AgentRunner;
  readonly sandbox: Sandbox;
  /** Of the skill whose loading is to be seen. */
  readonly name: string;
  readonly limits: AgentLimits;
  readonly signal: AbortSignal;
};

const WANTED = 'Please do the canary check now, with the skill for canary checks.';
const UNWANTED = 'Say hello.';

/** Under the name of the trained skill, so that all but the words is as it will be. */
const canarySkill = (name: string): SkillPackage => ({
  files: {
    'SKILL.md': `---
name: ${name}
description: Does the canary check. Use it whenever the user asks for the canary check.
---

Answer with the word canary.
`,
  },
});

/**
 * Whether loading a skill can be seen at all: one that is asked for by name must be seen to load, and must be left alone when
 * nobody asks. Otherwise every figure would be about the harness, and not about a description.
 */
export async function requireVisibleLoading(canary: Canary): Promise<void> {
  const [isSeen, isAlways] = [await isLoaded(WANTED, canary), await isLoaded(UNWANTED, canary)];
  if (isSeen && !isAlways) return;
  const what = isSeen
    ? 'a skill is seen to load that nobody asked for'
    : 'a skill that was asked for by name was not seen to load';
  throw new SkillError('ENV_FAILED', `whether a skill triggers cannot be measured with ${canary.agent.id}: ${what}`, {
    hint: 'Try by hand: skillopt try. A model that is too weak to follow a skill, or a skill folder where the agent does not look, has the same effect.',
  });
}

async function isLoaded(prompt: string, { agent, sandbox, name, limits, signal }: Canary): Promise<boolean> {
  const template = await openTemplate({ sandbox });
  await using workspace = await openWorkspace({ template, sandbox });
  const skills = [canarySkill(name)];
  const until = (step: { readonly type: string }) => step.type === 'skill-loaded';
  const run = await agent.run({ workspace: workspace.view, prompt, skills, limits, sampleIndex: 0, signal, until });
  return run.skillsLoaded.includes(name);
}
