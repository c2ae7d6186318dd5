import { type Item, noTarget, type PromptOverrides, type SkillOptConfig } from '../../core/contracts/index.ts';
import { trainsMore } from '../../core/document/index.ts';
import { hideSecrets } from '../../core/guard/index.ts';
import type { RunFact } from '../../core/run/index.ts';
import { loadPackagePrompts, loadPrompts } from '../../pipeline/index.ts';
import { countSteps } from '../plan.ts';
import { requireReadable } from '../step/skill-cap.ts';
import type { TrainerOptions } from '../trainer-options.ts';
import { runIdentity } from './run-identity.ts';
import type { RunItems } from './run-items.ts';

export type Start = Extract<RunFact, { type: 'run-start' }>;

type StartOptions<I extends Item> = Omit<TrainerOptions<I>, 'config' | 'promptOverrides'> & {
  readonly config: SkillOptConfig;
  readonly items: RunItems;
  readonly promptOverrides: PromptOverrides;
};

/** The first line of a journal: all that a run is made of. */
export async function describeStart<I extends Item>(options: StartOptions<I>): Promise<Start> {
  const { config, items, promptOverrides, env, target = noTarget, optimizer, judge, agent } = options;
  const { skillSource, projectFile, isRunNamed } = options;
  const initialSkill = options.initialSkill ?? (await env.getInitialSkill?.()) ?? '';
  requireReadable(initialSkill);
  const more = trainsMore(config) ? loadPackagePrompts() : {};
  const prompts = { ...loadPrompts(promptOverrides, config.extras), ...more };
  return {
    type: 'run-start',
    format: 1,
    identity: runIdentity({ config, env, items, initialSkill, target, optimizer, judge, agent, prompts }),
    config: { ...config, extras: hideSecrets(config.extras) as SkillOptConfig['extras'] },
    env: env.name,
    target: target.id,
    optimizer: optimizer.id,
    initialSkill,
    ...(skillSource ? { skillSource } : {}),
    ...(projectFile ? { projectFile } : {}),
    ...(isRunNamed ? { isRunNamed } : {}),
    totalSteps: countSteps(config, items.train.length, items.val.length),
    items: { train: items.train.length, val: items.val.length, test: items.test.length },
    ...(env.drafts && env.drafts.drafted > 0 ? { drafts: env.drafts } : {}),
  };
}
