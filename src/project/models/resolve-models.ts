import type { ChatModel } from '../../core/model.ts';
import type { LoadedProject } from '../load-project.ts';
import type { ModelRole } from './provider.ts';
import { type Environment, resolveModel } from './resolve-model.ts';

export type ProjectModels = {
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  readonly judge: ChatModel | undefined;
};

/** The models of a project, by role. Only the judge may be missing: most environments score by rule. */
export async function resolveModels(
  loaded: LoadedProject,
  variables: { readonly env: Environment },
): Promise<ProjectModels> {
  return {
    target: await resolveRole(loaded, 'target', variables),
    optimizer: await resolveRole(loaded, 'optimizer', variables),
    judge: loaded.project.judge === undefined ? undefined : await resolveRole(loaded, 'judge', variables),
  };
}

/** The model of one role. */
export function resolveRole(
  { project, directory, findOrigin }: LoadedProject,
  role: ModelRole,
  { env }: { readonly env: Environment },
): Promise<ChatModel> {
  return resolveModel(project[role], { role, env, directory, findOrigin });
}
