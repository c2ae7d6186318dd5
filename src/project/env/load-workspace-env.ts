import { existsSync } from 'node:fs';
import type { SkillEnv } from '../../core/env.ts';
import { SkillError } from '../../core/errors.ts';
import { splitItems } from '../../envs/index.ts';
import { loadWorkspaceTasks, workspaceEnv } from '../../runners/index.ts';
import { findSkillFiles, readPackage } from '../../skills/index.ts';
import { shownPath } from '../../stores/shown-path.ts';
import { openSandbox } from '../../workspaces/index.ts';
import type { LoadedProject } from '../load-project.ts';
import { agentTargetOf } from '../models/agent-target.ts';
import { withPlace } from '../origin.ts';
import { resolvePath } from '../resolve-path.ts';

/** `env: workspace`: tasks that the target, an agent, does in a workspace. */
export async function loadWorkspaceEnv({ project, directory, findOrigin }: LoadedProject): Promise<SkillEnv> {
  const { tasks, skill, splitRatio, splitSeed, workspace = {} } = project;
  const target = agentTargetOf(project);
  if (target === undefined) throw await withPlace(needsAgent(), ['target'], findOrigin);
  if (tasks === undefined || !existsSync(tasks)) throw await withPlace(noTasks(tasks), ['tasks'], findOrigin);
  const { rows, folder } = await loadWorkspaceTasks(tasks);
  const limits = { ...target.limits, ...workspace.limits };
  return workspaceEnv({
    name: 'workspace',
    items: { ...splitItems(rows, { ratio: splitRatio, seed: splitSeed }) },
    folder,
    sandbox: openSandbox(target.sandbox ?? project.sandbox),
    limits,
    ...(skill === undefined ? {} : { package: await readPackage(skill, [tasks]) }),
    neighbours: await readNeighbours(workspace.neighbours ?? [], directory),
  }) as unknown as SkillEnv;
}

async function readNeighbours(paths: readonly string[], directory: string) {
  const files = await Promise.all(paths.map((path) => findSkillFiles(resolvePath(directory, path))));
  return Promise.all(files.flat().map((file) => readPackage(file)));
}

function needsAgent(): SkillError {
  const hint = 'Write target: { agent: claude }, or another agent that is installed: skillopt doctor lists them.';
  return new SkillError('CONFIG_INVALID', 'env: workspace gives tasks to an agent, and the target is none', { hint });
}

function noTasks(path: string | undefined): SkillError {
  const problem = path === undefined ? 'no tasks are named' : `the tasks ${shownPath(path)} do not exist`;
  return new SkillError('TASKS_INVALID', `env: workspace needs tasks, and ${problem}`, {
    hint: 'Name a file with a task a line, or a folder with a folder per task: docs/agents.md.',
  });
}
