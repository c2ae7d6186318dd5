import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { z } from 'zod';
import { type SkillEnv, SkillError } from '../../core/contracts/index.ts';
import type { Scoring, TaskScorer } from '../../core/judge/index.ts';
import { skillHash, suggestion } from '../../core/text/index.ts';
import {
  type AdapterEnvOptions,
  adapterEnv,
  type EnvAdapter,
  type EnvProject,
  envNames,
  findEnvFactory,
  isEnvAdapter,
} from '../../envs/index.ts';
import { shownPath } from '../../stores/index.ts';
import { isModulePath, type LoadedProject } from '../load-project.ts';
import { isAgentSpec, isNoTarget } from '../models/providers.ts';
import { type FindOrigin, withPlace } from '../origin.ts';
import type { SandboxSpec } from '../project.ts';
import { resolvePath } from '../resolve-path.ts';
import { guardEnv } from './guard-env.ts';
import { importDoors, importHint, importModule } from './import-module.ts';

/** The environment that a project names: a registered one, or the default export of a module. */
export async function loadEnv(loaded: LoadedProject): Promise<SkillEnv> {
  const { project, directory, findOrigin } = loaded;
  const { env, tasks, columns, splitRatio, splitSeed, extras } = project;
  const scoring = await readScoring(project.scoring, directory);
  const settings = { directory, tasks, columns, scoring, splitRatio, splitSeed, extras, ...dataKeys(project) };
  if (isModulePath(env)) return loadModuleEnv(env, settings, findOrigin);
  if (env === 'trigger') return (await import('./load-workspace-env.ts')).loadTriggerEnv(loaded);
  if (env === 'workspace') return (await import('./load-workspace-env.ts')).loadWorkspaceEnv(loaded);
  const isForAgent = env === 'qa' && isAgentSpec(project.target);
  if (env === 'qa' && !isForAgent && isNoTarget(project.target))
    throw await withPlace(needsTarget(), ['target'], findOrigin);
  if (tasks !== undefined && !existsSync(tasks)) throw await withPlace(noTasks(tasks), ['tasks'], findOrigin);
  if (!findEnvFactory(env)) throw await withPlace(unknownEnv(env), ['env'], findOrigin);
  const made = await loadNamedEnv(env, { ...settings, judges: await taskScorers(project.sandbox) });
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

/** They carry out the judges of tasks. Nothing is started before a task needs it. */
async function taskScorers(sandbox: SandboxSpec): Promise<readonly TaskScorer[]> {
  const [{ commandJudge, rubricJudge }, { openSandbox }] = await Promise.all([
    import('../../judges/index.ts'),
    import('../../workspaces/index.ts'),
  ]);
  return [rubricJudge(), commandJudge({ sandbox: openSandbox(sandbox) })] as TaskScorer[];
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
  const made = await makeDefault(path, project).catch((cause: unknown) => Promise.reject(unloadable(name, cause)));
  const plainName = basename(path, extname(path));
  const env = isEnvAdapter(made) ? projectAdapterEnv(made, { name: plainName }, project) : made;
  return guardEnv(env, { name, version: skillHash(source) });
}

/** What the default export is, or makes: a class of adapters is created, another function gets the library and the project. */
async function makeDefault(path: string, project: EnvProject): Promise<unknown> {
  const { default: exported } = await importModule(path);
  if (typeof exported !== 'function') return exported;
  if (isEnvAdapter(exported.prototype)) return new (exported as new () => EnvAdapter)();
  const library = await importDoors('skillopt', 'skillopt/envs', 'skillopt/judges');
  return exported({ ...library, z, project });
}

function needsTarget(): SkillError {
  const hint = 'Name a model: target: provider:model. Or bring your own agent: env: ./env.ts.';
  return new SkillError('CONFIG_INVALID', 'env: qa puts its questions to the target, and target: none names no model', {
    hint,
  });
}

function noTasks(path: string): SkillError {
  const hint =
    'Check its path. If you have no tasks yet, a model drafts them: skillopt tasks draft. For a starter with tasks in a new folder: skillopt init DIR';
  return new SkillError('TASKS_INVALID', `the task file ${shownPath(path)} does not exist`, { hint });
}

/** SkillOpt's own environments. Each needs data, games or documents that no package may bring along. */
const BENCHMARKS = ['searchqa', 'spreadsheetbench', 'officeqa', 'docvqa', 'livemathematicianbench', 'alfworld'];

const OWN = 'Write it as a module, an EnvAdapter or a defineEnv(…), and name its path, such as env: ./env.mjs.';
const QA_DATA =
  'Its data works with env: qa, which scores in the same way: a row has id, question, context and answers.';

function unknownEnv(name: string): SkillError {
  if (BENCHMARKS.includes(name)) {
    const hint = name === 'searchqa' ? QA_DATA : OWN;
    return new SkillError('ENV_INVALID', `the benchmark "${name}" does not come with this package`, { hint });
  }
  const names = [...envNames(), 'workspace', 'trigger'];
  return new SkillError('ENV_INVALID', `unknown environment "${name}"${suggestion(name, names)}`, {
    hint: `There are: ${names.join(', ')}. For your own, give the path of a module, such as ./env.mjs.`,
  });
}

function unreadable(path: string, cause: NodeJS.ErrnoException): SkillError {
  const problem = cause.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${cause.message}`;
  const hint = 'A path in the project file starts at the folder of that file. A path in a flag starts here.';
  return new SkillError('ENV_INVALID', `the environment module ${path} ${problem}`, { cause, hint });
}

function unloadable(name: string, cause: unknown): SkillError {
  if (cause instanceof SkillError) return cause;
  const message = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
  const usual = 'Its default export must be an environment, an adapter, or a function (library) => either.';
  return new SkillError('ENV_INVALID', `${name} cannot be loaded: ${message}`, {
    cause,
    hint: importHint(cause) ?? usual,
  });
}
