import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { type SkillEnv, SkillError } from '../../core/contracts/index.ts';
import type { Scoring, TaskScorer } from '../../core/judge/index.ts';
import { skillHash } from '../../core/text/index.ts';
import {
  type AdapterEnvOptions,
  adapterEnv,
  type EnvAdapter,
  type EnvProject,
  findEnvFactory,
  isEnvAdapter,
} from '../../envs/index.ts';
import { shownPath } from '../../stores/index.ts';
import { isModulePath, type LoadedProject } from '../load-project.ts';
import type { SandboxSpec } from '../models/agent-settings.ts';
import { isAgentSpec, isNoTarget } from '../models/providers.ts';
import { type FindOrigin, withPlace } from '../origin.ts';
import { resolvePath } from '../resolve-path.ts';
import { guardEnv } from './guard-env.ts';
import { importModule } from './import-module.ts';
import { unknownEnv } from './unknown-env.ts';
import { wrongDoor } from './wrong-door.ts';

/** What the default export of an environment module is called with when it is a function. */
type EnvLibrary = typeof import('../../index.ts') &
  typeof import('../../public/envs.ts') &
  typeof import('../../public/judges.ts') & {
    readonly z: typeof import('zod').z;
    readonly project: EnvProject;
  };

/** The environment that a project names: a registered one, or the default export of a module. */
export async function loadEnv(loaded: LoadedProject): Promise<SkillEnv> {
  const { project, directory, findOrigin } = loaded;
  const { env, tasks, splitRatio, splitSeed, extras } = project;
  const { columns } = project;
  const scoring = await readScoring(project.scoring, directory);
  const parts = { directory, tasks, columns, scoring, splitRatio, splitSeed, extras, ...dataKeys(project) };
  if (isModulePath(env)) return loadModuleEnv(env, parts, findOrigin);
  if (env === 'trigger') return (await import('./load-workspace-env.ts')).loadTriggerEnv(loaded);
  if (env === 'workspace') return (await import('./load-workspace-env.ts')).loadWorkspaceEnv(loaded);
  const isForAgent = env === 'qa' && isAgentSpec(project.target);
  if (env === 'qa' && !isForAgent && isNoTarget(project.target))
    throw await withPlace(needsTarget(), ['target'], findOrigin);
  if (tasks !== undefined && !existsSync(tasks)) throw await withPlace(noTasks(tasks), ['tasks'], findOrigin);
  if (!findEnvFactory(env)) throw await withPlace(unknownEnv(env), ['env'], findOrigin);
  const made = await loadNamedEnv(env, { ...parts, judges: await taskScorers(project.sandbox) });
  return isForAgent ? (await import('./load-workspace-env.ts')).questionsInWorkspace(made, loaded) : made;
}

/** A schema may stand in a file of its own, beside the project file. */
async function readScoring(scoring: Scoring | undefined, directory: string): Promise<Scoring | undefined> {
  if (typeof scoring?.schema !== 'string') return scoring;
  const path = resolvePath(directory, scoring.schema);
  try {
    return { ...scoring, schema: JSON.parse(await readFile(path, 'utf8')) };
  } catch (cause) {
    const problem = `scoring.schema: ${shownPath(path)} cannot be read as JSON: ${(cause as Error).message}`;
    throw new SkillError('CONFIG_INVALID', problem, {
      cause,
      hint: 'Name a file with a JSON schema, or write it here.',
    });
  }
}

/** Who carries out the judges of tasks. Nothing is started before a task needs it. */
async function taskScorers(sandbox: SandboxSpec): Promise<readonly TaskScorer[]> {
  const [{ commandJudge, rubricJudge }, { openSandbox }] = await Promise.all([
    import('../../judges/index.ts'),
    import('../../workspaces/index.ts'),
  ]);
  return [rubricJudge(), commandJudge({ sandbox: openSandbox(sandbox) })] as TaskScorer[];
}

function needsTarget(): SkillError {
  const hint = 'Name a model: target: provider:model. Or bring your own agent: env: ./env.ts.';
  return new SkillError('CONFIG_INVALID', 'env: qa puts its questions to the target, and target: none names no model', {
    hint,
  });
}

function noTasks(path: string): SkillError {
  const hint =
    'Check its path. Where there are no tasks yet, a model drafts them: skillopt tasks draft. A starter with tasks in a new folder: skillopt init DIR';
  return new SkillError('TASKS_INVALID', `the task file ${shownPath(path)} does not exist`, { hint });
}

type DataKeys = Pick<EnvProject, 'splitMode' | 'splitDir' | 'dataPath'>;

/** Where a SkillOpt config says that its data is. */
function dataKeys(project: object): DataKeys {
  const { splitMode, splitDir, dataPath } = project as DataKeys;
  return { ...(splitMode && { splitMode }), ...(splitDir && { splitDir }), ...(dataPath && { dataPath }) };
}

async function loadNamedEnv(name: string, project: EnvProject): Promise<SkillEnv> {
  const { tasks } = project;
  const made = await findEnvFactory(name)!({
    ...project,
    tasks: tasks === undefined ? tasks : shownPath(tasks),
  });
  return isEnvAdapter(made) ? projectAdapterEnv(made, { name }, project) : (made as SkillEnv);
}

/** Loaders find the project's data settings where they find a run's: among the extras. */
function projectAdapterEnv(adapter: EnvAdapter, options: AdapterEnvOptions, project: EnvProject): SkillEnv {
  const { tasks, splitDir, splitRatio, splitSeed, dataPath = splitDir ? undefined : tasks } = project;
  const settings = { ...dataKeys(project), splitRatio, splitSeed, ...(dataPath && { dataPath }) };
  const env = adapterEnv(adapter, { ...options, name: adapter.name ?? options.name! });
  return { ...env, setup: (config) => env.setup({ ...config, extras: { ...settings, ...config.extras } }) };
}

async function loadModuleEnv(path: string, project: EnvProject, findOrigin: FindOrigin): Promise<SkillEnv> {
  const name = basename(path);
  const source = await readFile(path, 'utf8').catch(async (cause: Error) => {
    throw await withPlace(unreadable(path, cause), ['env'], findOrigin);
  });
  const made = await importDefault(path, project).catch((cause: unknown) => Promise.reject(unloadable(name, cause)));
  const plainName = basename(path, extname(path));
  const env = isEnvAdapter(made) ? projectAdapterEnv(made, { name: plainName }, project) : made;
  return guardEnv(env, { name, version: skillHash(source) });
}

async function importDefault(path: string, project: EnvProject): Promise<unknown> {
  const module = await importModule(path);
  if (typeof module.default !== 'function') return module.default;
  if (isEnvAdapter(module.default.prototype)) return new (module.default as new () => EnvAdapter)();
  const make = module.default as (library: EnvLibrary) => unknown;
  const [library, envs, judges, { z }] = await Promise.all([
    import('../../index.ts'),
    import('../../public/envs.ts'),
    import('../../public/judges.ts'),
    import('zod'),
  ]);
  return make({ ...library, ...envs, ...judges, z, project });
}

function unreadable(path: string, cause: NodeJS.ErrnoException): SkillError {
  const problem = cause.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${cause.message}`;
  const hint = 'In the project file the path is read from its folder, as a flag from this one.';
  return new SkillError('ENV_INVALID', `the environment module ${path} ${problem}`, { cause, hint });
}

function unloadable(name: string, cause: unknown): SkillError {
  if (cause instanceof SkillError) return cause;
  const message = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
  const usual = 'Its default export must be an environment, an adapter, or a function (library) => either.';
  const hint = wrongDoor(cause) ?? usual;
  return new SkillError('ENV_INVALID', `${name} cannot be loaded: ${message}`, { cause, hint });
}
