import type { ChatModel } from '../../core/model.ts';
import type { Io } from '../terminal/io.ts';
import type { LoadedProject } from './load-project.ts';
import type { ModelRole } from './provider.ts';
import { resolveModel } from './resolve-model.ts';

export type ProjectModels = {
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  readonly judge: ChatModel | undefined;
};

/** The models of a project, by role. Only the judge may be missing: most environments score by rule. */
export async function resolveModels(loaded: LoadedProject, io: Pick<Io, 'env'>): Promise<ProjectModels> {
  return {
    target: await resolveRole(loaded, 'target', io),
    optimizer: await resolveRole(loaded, 'optimizer', io),
    judge: loaded.project.judge === undefined ? undefined : await resolveRole(loaded, 'judge', io),
  };
}

/** The model of one role. */
export function resolveRole(
  { project, directory, findOrigin }: LoadedProject,
  role: ModelRole,
  { env }: Pick<Io, 'env'>,
): Promise<ChatModel> {
  return resolveModel(project[role], { role, env, directory, findOrigin });
}
