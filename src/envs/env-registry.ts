import { type SkillEnv, SkillError } from '../core/contracts/index.ts';
import type { EnvAdapter } from './adapter/env-adapter.ts';
import type { EnvProject } from './qa/load-qa-env.ts';

/** Makes an environment for a project that names it. */
export type EnvFactory = (project: EnvProject) => SkillEnv | EnvAdapter | Promise<SkillEnv | EnvAdapter>;

const factories = new Map<string, EnvFactory>([
  ['qa', async (project) => (await import('./qa/load-qa-env.ts')).loadQaEnv(project)],
]);

/** Lets projects of this process name an environment. Throws `ENV_INVALID` for a name that is taken or is a path. */
export function registerEnv(name: string, factory: EnvFactory): void {
  if (!/^[A-Za-z0-9][\w-]*$/.test(name)) {
    throw new SkillError('ENV_INVALID', `expected an environment name of letters, digits, - and _, got "${name}"`);
  }
  if (factories.has(name)) {
    throw new SkillError('ENV_INVALID', `an environment called "${name}" is there already`, {
      hint: `Choose another name. Taken: ${envNames().join(', ')}.`,
    });
  }
  factories.set(name, factory);
}

/** Every name that a project may use, in the order of registering. */
export const envNames = (): string[] => [...factories.keys()];

export const findEnvFactory = (name: string): EnvFactory | undefined => factories.get(name);
