import { SkillError } from '../../core/contracts/index.ts';
import { defined } from '../../core/text/index.ts';
import { namedEndpoint } from '../../project/index.ts';
import {
  isHandoff,
  isOfProject,
  type OpenSleep,
  projectFileOf,
  rolesOfProject,
  type SleepModels,
} from '../../sleep/index.ts';

const ADDRESS = 'an address, or a key for it, that a project names,';
const FOREIGN = {
  path: 'a program that a project names',
  baseURL: ADDRESS,
  resource: ADDRESS,
  apiKeyEnv: ADDRESS,
};

/** Where nobody typed the command, a project's file names no programs, addresses or keys, and no sessions of other projects. */
export function refuseForeign(sleep: OpenSleep, models: SleepModels): void {
  const file = projectFileOf(sleep);
  const hint = 'Write it into config.yaml in the state folder, or type the command in a terminal.';
  const refuse = (what: string) => new SkillError('CONFIG_INVALID', `${what} in ${file} is not taken here`, { hint });
  for (const role of rolesOfProject(sleep)) {
    const { path } = typeof models[role] === 'string' ? {} : (models[role] as { readonly path?: unknown });
    const named = { ...(isHandoff(models[role]) ? {} : namedEndpoint(models[role], role)), ...defined({ path }) };
    const [key] = Object.keys(named) as (keyof typeof FOREIGN)[];
    if (key !== undefined) throw refuse(`${role}.${key}: ${FOREIGN[key]}`);
  }
  for (const key of ['projects', 'homes'] as const)
    if (isOfProject(key, sleep)) throw refuse(`${key}: which sessions are read, as a project says,`);
}
