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
export async function resolveModels({ project, directory }: LoadedProject, { env }: Io): Promise<ProjectModels> {
  const resolve = (role: ModelRole) => resolveModel(project[role], { role, env, directory });
  return {
    target: await resolve('target'),
    optimizer: await resolve('optimizer'),
    judge: project.judge === undefined ? undefined : await resolve('judge'),
  };
}
