import type { ChatModel } from '../../core/model.ts';
import type { LoadedProject } from '../load-project.ts';
import type { ModelRole, Notices } from './provider.ts';
import { type Environment, resolveModel } from './resolve-model.ts';

export type Caller = { readonly env: Environment; readonly notices?: Notices | undefined };

export type ProjectModels = {
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  readonly judge: ChatModel | undefined;
};

/** The models of a project, by role. Only the judge may be missing: most environments score by rule. */
export async function resolveModels(loaded: LoadedProject, caller: Caller): Promise<ProjectModels> {
  return {
    target: await resolveRole(loaded, 'target', caller),
    optimizer: await resolveRole(loaded, 'optimizer', caller),
    judge: loaded.project.judge === undefined ? undefined : await resolveRole(loaded, 'judge', caller),
  };
}

/** The model of one role. */
export function resolveRole(
  { project, directory, findOrigin }: LoadedProject,
  role: ModelRole,
  { env, notices }: Caller,
): Promise<ChatModel> {
  return resolveModel(project[role], { role, env, directory, findOrigin, notices });
}
