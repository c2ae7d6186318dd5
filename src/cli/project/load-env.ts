import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SkillEnv } from '../../core/env.ts';
import { SkillError } from '../../core/errors.ts';
import { skillHash } from '../../core/skill-hash.ts';
import { suggestion } from '../closest-name.ts';
import { shownPath } from '../terminal/shown-path.ts';
import { guardEnv } from './guard-env.ts';
import { isModulePath, type LoadedProject } from './load-project.ts';
import { resolveSelfImports } from './self-import.ts';

/** What the default export of an environment module is called with when it is a function. */
type EnvLibrary = typeof import('../../index.ts') &
  typeof import('../../envs/index.ts') & {
    readonly z: typeof import('zod').z;
    readonly project: EnvProject;
  };

/** The parts of a project that are an environment's business. Paths are absolute. */
type EnvProject = {
  readonly directory: string;
  readonly tasks: string | undefined;
  readonly splitRatio: string;
  readonly splitSeed: number;
  readonly extras: Readonly<Record<string, unknown>>;
};

const builtIn: Readonly<Record<string, (project: EnvProject) => Promise<SkillEnv>>> = { qa: loadQaEnv };

/** The environment that a project names: a built-in one, or the default export of a module. */
export async function loadEnv({ project, directory }: LoadedProject): Promise<SkillEnv> {
  const { tasks, splitRatio, splitSeed, extras } = project;
  const parts = { directory, tasks, splitRatio, splitSeed, extras };
  if (isModulePath(project.env)) return loadModuleEnv(project.env, parts);
  const load = Object.hasOwn(builtIn, project.env) ? builtIn[project.env] : undefined;
  if (load) return load(parts);
  const names = Object.keys(builtIn);
  throw new SkillError('ENV_INVALID', `unknown environment "${project.env}"${suggestion(project.env, names)}`, {
    hint: `Built in: ${names.join(', ')}. Your own: the path of a module, such as ./env.mjs.`,
  });
}

async function loadQaEnv({ tasks, splitRatio, splitSeed, extras }: EnvProject): Promise<SkillEnv> {
  if (tasks === undefined) {
    const hint = 'Add "tasks: tasks.jsonl" to the project file, or pass --tasks PATH.';
    throw new SkillError('CONFIG_INVALID', 'The qa environment needs tasks, and no file is named.', { hint });
  }
  const { loadQaItems, SimpleQAEnv, splitItems } = await import('../../envs/index.ts');
  const { train, val, test } = splitItems(await loadQaItems(shownPath(tasks, process.cwd())), {
    ratio: splitRatio,
    seed: splitSeed,
  });
  const { maxCompletionTokens } = extras as { maxCompletionTokens?: number };
  const limit = maxCompletionTokens === undefined ? {} : { maxCompletionTokens };
  return new SimpleQAEnv({ trainItems: train, valItems: val, testItems: test, ...limit }) as unknown as SkillEnv;
}

async function loadModuleEnv(path: string, project: EnvProject): Promise<SkillEnv> {
  const name = basename(path);
  const source = await readFile(path, 'utf8').catch((cause: Error) => Promise.reject(unreadable(path, cause)));
  resolveSelfImports();
  const made = await importDefault(path, project).catch((cause: unknown) => Promise.reject(unloadable(name, cause)));
  return guardEnv(made, { name, version: skillHash(source) });
}

async function importDefault(path: string, project: EnvProject): Promise<unknown> {
  const module = (await import(pathToFileURL(path).href)) as { default?: unknown };
  if (typeof module.default !== 'function') return module.default;
  const make = module.default as (library: EnvLibrary) => unknown;
  const [library, envs, { z }] = await Promise.all([
    import('../../index.ts'),
    import('../../envs/index.ts'),
    import('zod'),
  ]);
  return make({ ...library, ...envs, z, project });
}

function unreadable(path: string, cause: NodeJS.ErrnoException): SkillError {
  const problem = cause.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${cause.message}`;
  const hint = 'In the project file the path is read from its folder, as a flag from this one.';
  return new SkillError('ENV_INVALID', `the environment module ${path} ${problem}`, { cause, hint });
}

function unloadable(name: string, cause: unknown): SkillError {
  if (cause instanceof SkillError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  const hint = 'Its default export must be an environment, or a function (library) => environment.';
  return new SkillError('ENV_INVALID', `${name} cannot be loaded: ${message}`, { cause, hint });
}
