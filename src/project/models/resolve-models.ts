import type { AgentRunner, ChatModel } from '../../core/contracts/index.ts';
import type { LoadedProject } from '../load-project.ts';
import { withPlace } from '../origin.ts';
import { resolveAgent } from './agent-target.ts';
import type { ModelRole, Notices } from './provider.ts';
import { checkModelSpec, type Environment, resolveModel } from './resolve-model.ts';

export type Caller = { readonly env: Environment; readonly notices?: Notices | undefined };

export type ProjectModels = {
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  readonly judge: ChatModel | undefined;
  readonly agent: AgentRunner | undefined;
};

/** Who attempts tasks and who scores them. Only the judge may be missing: most environments score by rule. */
export type ScoringModels = Omit<ProjectModels, 'optimizer'>;

/** The models of a project, by role. */
export async function resolveModels(loaded: LoadedProject, caller: Caller): Promise<ProjectModels> {
  return { ...(await resolveScoring(loaded, caller)), optimizer: await resolveRole(loaded, 'optimizer', caller) };
}

export async function resolveScoring(loaded: LoadedProject, caller: Caller): Promise<ScoringModels> {
  return {
    agent: await resolveAgent(loaded, caller),
    target: await resolveRole(loaded, 'target', caller),
    judge: loaded.project.judge === undefined ? undefined : await resolveRole(loaded, 'judge', caller),
  };
}

const NEEDED = ['target', 'optimizer'] as const;

/** The roles without a model. Throws if a model is named wrongly. Needs no key. */
export async function findUnnamed({ project, findOrigin }: LoadedProject): Promise<ModelRole[]> {
  for (const role of [...NEEDED, 'judge' as const]) {
    try {
      if (project[role] !== undefined) checkModelSpec(project[role], role);
    } catch (error) {
      throw await withPlace(error, [role], findOrigin);
    }
  }
  return NEEDED.filter((role) => project[role] === undefined);
}

/** The model of one role. */
export function resolveRole(
  { project, directory, findOrigin }: LoadedProject,
  role: ModelRole,
  { env, notices }: Caller,
): Promise<ChatModel> {
  return resolveModel(project[role], { role, env, directory, findOrigin, notices });
}
