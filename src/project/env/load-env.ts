import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { z } from 'zod';
import { BENCHMARK_NAMES, isBenchmark, whyNoAgent } from '../../benchmarks/index.ts';
import { type Item, type SkillEnv, SkillError, type SkillOptConfig } from '../../core/contracts/index.ts';
import type { Scoring, TaskScorer } from '../../core/judge/index.ts';
import { skillHash, suggestion } from '../../core/text/index.ts';
import {
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
import type { Project } from '../project.ts';
import { resolvePath } from '../resolve-path.ts';
import { loadTriggerEnv, loadWorkspaceEnv, questionsInWorkspace } from './agent-envs.ts';
import { importDoors, importHint, importModule } from './import-module.ts';
import { moduleFiles } from './module-files.ts';

/** The environment that a project names: a known one, or the default export of a module. */
export async function loadEnv(loaded: LoadedProject): Promise<SkillEnv> {
  const { project, directory, findOrigin } = loaded;
  const { env, tasks, columns, splitRatio, splitSeed, splitBy, extras } = project;
  const scoring = await readScoring(project.scoring, directory);
  await requireRowsToSplit(loaded);
  const settings = { directory, tasks, columns, scoring, splitRatio, splitSeed, splitBy, extras, ...dataKeys(project) };
  if (isModulePath(env)) return loadModuleEnv(env, settings, findOrigin);
  if (env === 'trigger') return loadTriggerEnv(loaded);
  if (env === 'workspace') return loadWorkspaceEnv(loaded);
  const isForAgent = env === 'qa' && isAgentSpec(project.target);
  if (env === 'qa' && !isForAgent && isNoTarget(project.target))
    throw await withPlace(needsTarget(), ['target'], findOrigin);
  if (tasks !== undefined && !existsSync(tasks)) throw await withPlace(noTasks(tasks), ['tasks'], findOrigin);
  if (isBenchmark(env)) return loadBenchmarkEnv(env, settings, loaded);
  if (!findEnvFactory(env)) throw await withPlace(unknownEnv(env), ['env'], findOrigin);
  const made = await loadNamedEnv(env, { ...settings, judges: await taskScorers(project) });
  return isForAgent ? questionsInWorkspace(made, loaded) : made;
}

/** Throws where `splitBy` would protect nothing: without rows that are drawn. */
async function requireRowsToSplit({ project, findOrigin }: LoadedProject): Promise<void> {
  if (project.splitBy === undefined || readsRows(project)) return;
  const problem = `splitBy names a column of a task file, and env: ${project.env} reads none here`;
  const hint = 'Remove splitBy, or name a task file of questions: tasks: tasks.csv';
  throw await withPlace(new SkillError('CONFIG_INVALID', problem, { hint }), ['splitBy'], findOrigin);
}

/** Modules and registered environments read their tasks as they like. */
function readsRows({ env, tasks }: Project): boolean {
  if (env === 'qa') return tasks !== undefined;
  return env !== 'workspace' && env !== 'trigger' && !isBenchmark(env);
}

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

async function taskScorers(project: Project): Promise<readonly TaskScorer[]> {
  const { sandbox, onVerifierCrash, verifierHosts } = project;
  const [{ commandJudge, rubricJudge }, { openSandbox }] = await Promise.all([
    import('../../judges/index.ts'),
    import('../../workspaces/index.ts'),
  ]);
  const closed = openSandbox(sandbox);
  const reach = async () => (await import('../../runners/index.ts')).reaching(verifierHosts, closed);
  const judged = { sandbox: verifierHosts.length === 0 ? closed : await reach(), onVerifierCrash };
  return [rubricJudge(), commandJudge(judged)] as TaskScorer[];
}

type DataKeys = Pick<EnvProject, 'splitMode' | 'splitDir' | 'dataPath'>;

export function dataKeys(project: object): DataKeys {
  const { splitMode, splitDir, dataPath } = project as DataKeys;
  return { ...(splitMode && { splitMode }), ...(splitDir && { splitDir }), ...(dataPath && { dataPath }) };
}

async function loadNamedEnv(name: string, project: EnvProject): Promise<SkillEnv> {
  const { tasks } = project;
  const made = await findEnvFactory(name)!({ ...project, tasks: tasks === undefined ? tasks : shownPath(tasks) });
  return isEnvAdapter(made) ? projectAdapterEnv(made, name, project) : (made as SkillEnv);
}

/** Loaders find the project's data settings among the extras, as they find those of a run. */
function projectAdapterEnv(adapter: EnvAdapter, name: string, project: EnvProject): SkillEnv {
  const { tasks, splitDir, splitRatio, splitSeed, dataPath = splitDir ? undefined : tasks } = project;
  const settings = { ...dataKeys(project), splitRatio, splitSeed, ...(dataPath && { dataPath }) };
  const env = adapterEnv(adapter, { name: adapter.name ?? name });
  return { ...env, setup: (config) => env.setup({ ...config, extras: { ...settings, ...config.extras } }) };
}

async function loadModuleEnv(path: string, project: EnvProject, findOrigin: FindOrigin): Promise<SkillEnv> {
  const name = basename(path);
  const sources = await moduleFiles(path).catch(async (cause: Error) => {
    throw await withPlace(unreadable(path, cause), ['env'], findOrigin);
  });
  const made = await makeDefault(path, project).catch((cause: unknown) => Promise.reject(unloadable(name, cause)));
  const env = isEnvAdapter(made) ? projectAdapterEnv(made, basename(path, extname(path)), project) : made;
  return guardEnv(env, { name, version: skillHash([...sources.values()].join('\0')) });
}

/** The name is for messages, and the version for an environment without one. */
type GuardOptions = { readonly name: string; readonly version: string };

/** Members that pass through. They are looked up when used: a class may keep its items in private fields. */
const MEMBERS = [
  ...(['prompts', 'isVersionWhole', 'judgeCalls', 'warnings', 'drafts', 'rolloutOne', 'rolloutMany'] as const),
  ...([
    'needsImages',
    'card',
    'targetCalls',
    'planTrainEpoch',
    'reflect',
    'close',
    'getTaskTypes',
    'surroundings',
    'checkSkill',
    'refuseText',
  ] as const),
];

/**
 * A user's export as an environment, or `ENV_INVALID`. Errors of its set-up become `ENV_INVALID` too, so that they do not
 * look like ours. Rollouts may throw any error.
 */
export function guardEnv(exported: unknown, { name, version }: GuardOptions): SkillEnv {
  const env = requireEnv(exported, name);
  const guard = <Args extends unknown[], Answer>(method: string, call: (...args: Args) => Answer | Promise<Answer>) => {
    return async (...args: Args): Promise<Answer> => {
      try {
        return await call(...args);
      } catch (cause) {
        throw cause instanceof SkillError ? cause : broken(name, method, cause);
      }
    };
  };
  const own = MEMBERS.filter((key) => env[key] !== undefined).map((key) => {
    const call = (...args: never[]) => (env[key] as (...args: never[]) => unknown).apply(env, args);
    return [key, typeof env[key] === 'function' ? call : env[key]];
  });
  return {
    name: env.name,
    get version() {
      return env.version ?? version; // some know it once they are set up
    },
    ...(Object.fromEntries(own) as Pick<SkillEnv, (typeof MEMBERS)[number]>),
    getItems: guard('getItems', async (split: string) => requireList(await env.getItems(split), name, split)),
    ...(env.setup ? { setup: guard('setup', (config: SkillOptConfig) => env.setup!(config)) } : {}),
    ...(env.getInitialSkill ? { getInitialSkill: guard('getInitialSkill', () => env.getInitialSkill!()) } : {}),
    ...(env.tryScoring ? { tryScoring: guard('tryScoring', () => env.tryScoring!()) } : {}),
  };
}

function requireEnv(exported: unknown, name: string): SkillEnv {
  const env = (typeof exported === 'object' ? exported : null) as Partial<SkillEnv> | null;
  const isEnv =
    typeof env?.name === 'string' && typeof env.getItems === 'function' && typeof env.rolloutOne === 'function';
  if (isEnv) return env as SkillEnv;
  const hint = 'export default ({ defineEnv, z }) => defineEnv({ name, schema, items, rolloutOne })';
  const expected = 'expected a default export with name, getItems and rolloutOne, or an EnvAdapter';
  throw new SkillError('ENV_INVALID', `${name}: ${expected}, got ${describe(exported)}`, { hint });
}

function describe(value: unknown): string {
  if (value === undefined) return 'none';
  if (typeof value !== 'object' || value === null) return `${value === null ? 'null' : typeof value}`;
  return Object.keys(value).length === 0 ? 'an empty object' : `an object with ${Object.keys(value).join(', ')}`;
}

function requireList(items: unknown, name: string, split: string): readonly Item[] {
  if (Array.isArray(items)) return items as readonly Item[];
  throw new SkillError('ENV_INVALID', `${name}: getItems("${split}") must return a list, got ${describe(items)}`, {
    hint: 'Return a list of objects that have an id, and [] for a split that does not exist.',
  });
}

function broken(name: string, method: string, cause: unknown): SkillError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new SkillError('ENV_INVALID', `${name}: ${method} failed: ${message}`, {
    cause,
    hint: `Fix it in ${name}. The run has not begun.`,
  });
}

/** The default export. A class of adapters is created, and any other function gets the library and the project. */
async function makeDefault(path: string, project: EnvProject): Promise<unknown> {
  const { default: exported } = await importModule(path);
  if (typeof exported !== 'function') return exported;
  if (isEnvAdapter(exported.prototype)) return new (exported as new () => EnvAdapter)();
  const library = await importDoors('skillopt', 'skillopt/envs', 'skillopt/judges');
  return exported({ ...library, z, project });
}

function needsTarget(): SkillError {
  const hint = 'Name a model: target: provider:model. Or bring your own agent: env: ./env.ts.';
  const problem = 'env: qa puts its questions to the target, and target: none names no model';
  return new SkillError('CONFIG_INVALID', problem, { hint });
}

function noTasks(path: string): SkillError {
  const hint =
    'Check its path. If you have no tasks yet, a model drafts them: skillopt tasks draft. For a starter with tasks in a new folder: skillopt init DIR';
  return new SkillError('TASKS_INVALID', `the task file ${shownPath(path)} does not exist`, { hint });
}

function unknownEnv(name: string): SkillError {
  const names = [...envNames(), 'workspace', 'trigger', ...BENCHMARK_NAMES];
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

/** The items of a benchmark, for a model, or for an agent in a workspace. */
async function loadBenchmarkEnv(name: string, settings: EnvProject, loaded: LoadedProject): Promise<SkillEnv> {
  const { project, findOrigin } = loaded;
  const isForAgent = isAgentSpec(project.target);
  const why = isForAgent ? whyNoAgent(name) : undefined;
  if (why !== undefined) throw await withPlace(needsModel(name, why), ['target'], findOrigin);
  const [{ benchmarkEnv, findBenchmark }, { openSandbox }] = await Promise.all([
    import('../../benchmarks/index.ts'),
    import('../../workspaces/index.ts'),
  ]);
  const benchmark = (await findBenchmark(name))!;
  const env = await benchmarkEnv(benchmark, { ...settings, sandbox: openSandbox(project.sandbox) });
  return isForAgent ? questionsInWorkspace(env, loaded) : (env as unknown as SkillEnv);
}

function needsModel(name: string, why: string): SkillError {
  const hint = 'Name a model: target: provider:model. An agent can be asked about: searchqa, livemath, officeqa.';
  return new SkillError('CONFIG_INVALID', `env: ${name} is not for an agent: ${why}`, { hint });
}
