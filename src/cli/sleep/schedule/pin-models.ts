import { realpath } from 'node:fs/promises';
import {
  type AgentCliName,
  agentClis,
  agentPrograms,
  detectAgents,
  homeIn,
  isForeign,
  projectFolders,
} from '../../../agents/index.ts';
import { SkillError } from '../../../core/contracts/index.ts';
import { agentTargetOf, type ModelSpec, pinAgents } from '../../../project/index.ts';
import type { PinnedProgram, SleepModels } from '../../../sleep/index.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Where = { readonly env: Environment; readonly project: string };
type Role = 'target' | 'optimizer' | 'judge';

export type PinnedModels = {
  /** What the job says about models; nothing when none of them is a program: the project file may change them then. */
  readonly specs: Partial<Record<Role, ModelSpec>>;
  readonly programs: readonly PinnedProgram[];
};

/** The same models, with the program of each agent CLI by its absolute real path. */
export async function pinModels({ target, optimizer, judge }: SleepModels, where: Where): Promise<PinnedModels> {
  const specs = { target, optimizer, judge };
  if (!Object.values(specs).some((spec) => cliOf(spec) !== undefined)) return { specs: {}, programs: [] };
  const installed = await detectAgents(where.env, where.project);
  await pinAgents(installed, where.env);
  const pin = async (spec: ModelSpec) => {
    const cli = cliOf(spec);
    if (cli === undefined) return { spec };
    const { path, version } = installed.find((agent) => agent.cli === cli) ?? { path: undefined, version: undefined };
    const block = typeof spec === 'string' ? blockOf(spec) : spec;
    const real = await realProgram(cli, typeof block.path === 'string' ? block.path : path, where);
    const isFound = block.path === undefined || block.path === path;
    const program = { name: cli, path: real, version: (isFound && version) || '(version unknown)' };
    return { spec: { ...block, path: real }, program };
  };
  const pinned = { target: await pin(target), optimizer: await pin(optimizer), judge: await pin(judge) };
  const programs = Object.values(pinned).flatMap(({ program }) => program ?? []);
  return {
    specs: { target: pinned.target.spec, optimizer: pinned.optimizer.spec, judge: pinned.judge.spec },
    programs: programs.filter(({ path }, at) => programs.findIndex((one) => one.path === path) === at),
  };
}

function cliOf(spec: ModelSpec): AgentCliName | undefined {
  const agent = agentTargetOf({ target: spec });
  if (agent !== undefined) return agentPrograms[agent.agent].cli;
  const name = typeof spec === 'string' ? spec.split(':')[0]! : String(spec.provider);
  return Object.hasOwn(agentClis, name) ? (name as AgentCliName) : undefined;
}

function blockOf(spec: string): Readonly<Record<string, unknown>> {
  const [provider = '', model = ''] = spec.split(/:(.*)/s);
  return { provider, ...(model === '' ? {} : { model }) };
}

/** A program inside the project could be changed by an agent that works there, and would run at night with a sign-in. */
async function realProgram(cli: AgentCliName, path: string | undefined, { env, project }: Where): Promise<string> {
  const home = homeIn(env);
  const { binary, installCommand } = agentClis[cli];
  const real = path === undefined ? undefined : await realpath(path).catch(() => undefined);
  if (real !== undefined && !isForeign(real, projectFolders(project, home))) return real;
  const found = real === undefined ? `no program ${path ?? binary} was found` : `${real} lies inside the project`;
  throw new SkillError('CONFIG_INVALID', `${cli} cannot be run at night: ${found}`, {
    hint: `Folders of a project, node_modules/.bin and relative entries of PATH are never used. Install it for yourself: ${installCommand}`,
  });
}
