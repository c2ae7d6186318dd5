import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { type Item, type SkillEnv, SkillError } from '../../core/contracts/index.ts';
import { splitItems } from '../../envs/index.ts';
import type { QaInWorkspaceOptions } from '../../runners/index.ts';
import { findSkillFiles, readPackage } from '../../skills/index.ts';
import { shownPath } from '../../stores/index.ts';
import type { LoadedProject } from '../load-project.ts';
import { type AgentTarget, requireAgentTarget } from '../models/agent-target.ts';
import { withPlace } from '../origin.ts';
import { resolvePath } from '../resolve-path.ts';

/** Tasks whose work is judged by what an agent leaves behind. */
export async function loadWorkspaceEnv(loaded: LoadedProject): Promise<SkillEnv> {
  const { loadWorkspaceTasks, workspaceEnv } = await import('../../runners/index.ts');
  const { tasks, ...common } = await tasksAndOptions(loaded, 'workspace');
  const { splitRatio: ratio, splitSeed: seed } = loaded.project;
  const { rows, folder } = await loadWorkspaceTasks(shownPath(tasks));
  const items = { ...splitItems(rows, { ratio, seed }) };
  return workspaceEnv({ name: 'workspace', items, folder, ...common }) as unknown as SkillEnv;
}

/** Requests that show whether an agent loads the skill. */
export async function loadTriggerEnv(loaded: LoadedProject): Promise<SkillEnv> {
  const { loadTriggerQueries, triggerEnv } = await import('../../runners/index.ts');
  const { tasks, ...common } = await tasksAndOptions(loaded, 'trigger');
  const { splitRatio: ratio, splitSeed: seed, workspace } = loaded.project;
  const items = { ...(await loadTriggerQueries(shownPath(tasks), { ratio, seed })) };
  return triggerEnv({ items, ...common, runs: workspace?.runs ?? 1 }) as unknown as SkillEnv;
}

/** Questions that are put to the agent of a project, with the files that they are about in its workspace. */
export async function questionsInWorkspace<I extends Item>(
  questions: SkillEnv<I> & Pick<QaInWorkspaceOptions<I>, 'workspaceFiles'>,
  loaded: LoadedProject,
): Promise<SkillEnv> {
  const { qaInWorkspace } = await import('../../runners/index.ts');
  const common = await workspaceOptions((await requireAgentTarget(loaded))!, loaded);
  const { workspaceFiles } = questions;
  return qaInWorkspace({ questions, workspaceFiles, ...common }) as unknown as SkillEnv;
}

async function tasksAndOptions(loaded: LoadedProject, env: string) {
  const { project, findOrigin } = loaded;
  const { tasks } = project;
  const target = await requireAgentTarget(loaded);
  if (target === undefined) throw await withPlace(needsAgent(env), ['target'], findOrigin);
  if (tasks === undefined || !existsSync(tasks)) throw await withPlace(needsTasks(tasks, env), ['tasks'], findOrigin);
  return { tasks, ...(await workspaceOptions(target, loaded)) };
}

async function workspaceOptions({ sandbox, limits }: AgentTarget, { project, directory }: LoadedProject) {
  const { openSandbox } = await import('../../workspaces/index.ts');
  const { tasks, skill, onVerifierCrash, verifierHosts, workspace = {} } = project;
  return {
    onVerifierCrash,
    verifierHosts,
    sandbox: openSandbox(sandbox ?? project.sandbox),
    limits: { ...limits, ...workspace.limits },
    ...(skill === undefined ? {} : { package: await readPackage(skill, tasks === undefined ? [] : [tasks]) }),
    neighbours: await readNeighbours(workspace.neighbours ?? [], directory),
  };
}

async function readNeighbours(paths: readonly string[], directory: string) {
  const files = paths.map(async (path) => {
    const folder = resolvePath(directory, path.replace(/^~(?=\/|$)/, homedir()));
    if (existsSync(folder)) return findSkillFiles(folder);
    throw new SkillError('CONFIG_INVALID', `workspace.neighbours: the folder ${path} does not exist`, {
      hint: 'Name existing folders with skills, or remove neighbours.',
    });
  });
  return Promise.all((await Promise.all(files)).flat().map((file) => readPackage(file)));
}

const needsAgent = (env: string) =>
  new SkillError('CONFIG_INVALID', `env: ${env} gives tasks to an agent, and the target is not an agent`, {
    hint: 'Write target: { agent: claude }, or another agent that is installed: skillopt doctor lists them.',
  });

function needsTasks(path: string | undefined, env: string): SkillError {
  const problem = path === undefined ? 'no tasks are named' : `the tasks ${shownPath(path)} do not exist`;
  return new SkillError('TASKS_INVALID', `env: ${env} needs tasks, and ${problem}`, {
    hint: 'Name a file with one task per line, or a folder with one folder per task: docs/agents.md.',
  });
}
