import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { shellWord } from '../../core/text/index.ts';
import { envNames } from '../../envs/index.ts';
import {
  type Choice,
  type Found,
  isModulePath,
  type LoadedProject,
  loadProject,
  type ModelOption,
  resolveModel,
} from '../../project/index.ts';
import type { Io } from '../terminal/io.ts';
import { type Costed, costOf, withFlags } from './next-command.ts';

type Place = { readonly found: Found; readonly choice: Choice; readonly goThere: string; readonly env: Io['env'] };

/** How to train by a config of SkillOpt: the file as it is, with flags for what it lacks here. */
export async function nextForSkillOpt({ found, choice, goThere, env }: Place): Promise<Costed> {
  const { directory } = found;
  const config = join(directory, choice.source!.path);
  const command = `${goThere}skillopt train --config ${shellWord(choice.source!.path)}`;
  try {
    const loaded = await loadProject({ flags: {}, config, cwd: directory });
    const flags = {
      ...envFlag(loaded),
      ...skillFlag(loaded, choice),
      ...(await modelFlags(loaded, choice.models, env)),
    };
    return { command: withFlags(command, flags), ...(await costOf({ directory, config, flags })) };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return { command, why: `It will not begin before this is mended: ${error.message}`, estimate: null };
  }
}

/** Its benchmark of questions is scored as ours are. */
const envFlag = ({ project: { env } }: LoadedProject): Record<string, string> =>
  env === 'searchqa' && !envNames().includes(env) && !isModulePath(env) ? { env: 'qa' } : {};

function skillFlag({ project: { skill } }: LoadedProject, choice: Choice): Record<string, string> {
  const isThere = skill !== undefined && existsSync(skill);
  return isThere || choice.skill === undefined ? {} : { skill: choice.skill.path };
}

/** For roles whose model cannot be asked from here, one that can. */
async function modelFlags(loaded: LoadedProject, models: ModelOption | undefined, env: Io['env']) {
  const flags: Record<string, string> = {};
  for (const role of ['target', 'optimizer'] as const) {
    const word = models && oneWord(models[role]);
    if (word !== undefined && !(await isReady(loaded, role, env))) flags[role] = word;
  }
  return flags;
}

/** Azure may start a program to sign in: what is named there is believed. */
async function isReady(
  { project, directory }: LoadedProject,
  role: 'target' | 'optimizer',
  env: Io['env'],
): Promise<boolean> {
  const spec = project[role];
  if (/^azure/.test(typeof spec === 'string' ? spec : String(spec?.provider))) return true;
  return resolveModel(spec, { role, env, directory }).then(
    () => true,
    () => false,
  );
}

/** As a flag names it. A key that a variable holds cannot be named there; servers of this machine mostly want none. */
function oneWord(spec: ModelOption['target']): string | undefined {
  if (typeof spec === 'string') return spec;
  const { provider, model, baseURL } = spec;
  return `${provider}:${model}${baseURL === undefined ? '' : `@${baseURL}`}`;
}
