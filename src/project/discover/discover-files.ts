import { stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { peekTasks, readHead, TASK_FILE_ENDINGS } from '../../envs/index.ts';
import { readConfigFile } from '../config-file.ts';
import { isSkillOptConfig } from '../skillopt-config/layer.ts';
import { findSkills } from './find-skills.ts';
import type { FoundEnv, FoundFiles, FoundTasks, LeftOut } from './found.ts';
import { filesToLookAt } from './list-files.ts';

/** A folder of data may hold thousands of files: so many are opened. */
const MOST_OPENED = 60;
const MAX_SOURCE_BYTES = 200_000;
const MAX_CONFIG_BYTES = 100_000;

/** Files that are known to be something else. */
const NO_TASKS = /^(package|package-lock|tsconfig.*|jsconfig.*|biome|composer|deno|pnpm-lock|skillopt\.config)\./i;

/** What a folder holds that a project can be made of. Opens heads of files; runs and changes nothing. */
export async function discoverFiles(directory: string, named?: string): Promise<FoundFiles> {
  const { skills, broken: brokenSkills, notes } = await findSkills(directory, named);
  const folders = skills.map(({ path }) => (path === 'SKILL.md' ? '.' : path));
  const files = await filesToLookAt(directory, folders);
  const skillOptConfigs = await findSkillOptConfigs(directory, files);
  const others = files.filter((path) => !skillOptConfigs.includes(path));
  const { tasks, broken } = await findTasks(directory, others);
  const code = files.filter(isPromptfooCode).map((path) => ({ path, why: 'it is code, and only data is read' }));
  const { envs, others: otherModules } = await findEnvs(directory, others);
  const leftOut = [...code, ...broken, ...otherModules];
  return { skills, brokenSkills, tasks, envs, skillOptConfigs, leftOut, notes };
}

const isFile = (path: string) =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );

/** Files of tables, and trees whose name says that they hold tasks: what is wrong with other files is not our business. */
const MEANT_AS_TASKS = /\.(jsonl|ndjson|csv|tsv|parquet)$|(task|eval|question|promptfoo)[^/]*\.\w+$/i;

type TaskSearch = { readonly tasks: readonly FoundTasks[]; readonly broken: readonly LeftOut[] };

async function findTasks(directory: string, files: readonly string[]): Promise<TaskSearch> {
  const likely = files.filter(
    (path) => TASK_FILE_ENDINGS.includes(extname(path).toLowerCase()) && !NO_TASKS.test(basename(path)),
  );
  const tasks: FoundTasks[] = [];
  const broken: LeftOut[] = [];
  for (const path of likely.slice(0, MOST_OPENED)) {
    const file = join(directory, path);
    if (!(await isFile(file))) continue;
    const peeked = await peekTasks(file);
    if (peeked === undefined) continue;
    if (!('problem' in peeked)) tasks.push({ path, ...peeked });
    else if (MEANT_AS_TASKS.test(path)) broken.push({ path, why: peeked.problem.replaceAll(file, path) });
  }
  return { tasks, broken };
}

const isPromptfooCode = (path: string) => /^promptfooconfig\.[cm]?[jt]s$/.test(basename(path));

const ENV_NAMES = ['env.ts', 'env.mts', 'env.mjs', 'env.js'];
const DEFAULT_EXPORT = /^\s*export\s+default\b|^\s*export\s*\{[^}]*\bas\s+default\b/m;
const MEMBERS = /\brolloutOne\b|\brollout\b|\bEnvAdapter\b|\bgetItems\b/;
const NOT_EXPORTED = 'it exports nothing by default, and an environment is a default export (docs/own-env.md)';
const NO_MEMBERS = 'its default export has no getItems and no rolloutOne, which an environment has (docs/own-env.md)';

type EnvSearch = { readonly envs: readonly FoundEnv[]; readonly others: readonly LeftOut[] };

/** Only beside the project file: a module of that name elsewhere is somebody's settings. */
async function findEnvs(directory: string, files: readonly string[]): Promise<EnvSearch> {
  const envs: FoundEnv[] = [];
  const others: LeftOut[] = [];
  for (const path of files.filter((file) => dirname(file) === '.' && ENV_NAMES.includes(file))) {
    const text = (await readHead(join(directory, path), MAX_SOURCE_BYTES)).toString('utf8');
    const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
    const [isExported, hasMembers] = [DEFAULT_EXPORT.test(code), MEMBERS.test(code)];
    if (isExported && hasMembers)
      envs.push({ path, asksTarget: /\btarget\b/.test(code), asksJudge: /\bjudge\b/.test(code) });
    else if (isExported || hasMembers) others.push({ path, why: isExported ? NO_MEMBERS : NOT_EXPORTED });
  }
  return { envs, others };
}

const SECTIONS = ['model', 'train', 'gradient', 'optimizer', 'evaluation'];

/** Its sections, and no file of promptfoo, which may have an `env` too. */
async function findSkillOptConfigs(directory: string, files: readonly string[]): Promise<string[]> {
  const likely = files.filter((path) => /\.ya?ml$/i.test(path) && !NO_TASKS.test(basename(path)));
  const found: string[] = [];
  for (const path of likely.slice(0, MOST_OPENED)) {
    const file = join(directory, path);
    const { size } = await stat(file).catch(() => ({ size: Number.POSITIVE_INFINITY }));
    if (size > MAX_CONFIG_BYTES) continue;
    const raw = await readConfigFile(file, { isSkillOpt: true }).catch(() => ({}));
    const isTheirs = '_base_' in raw || SECTIONS.filter((name) => isMap(raw, name)).length > 1;
    if (isTheirs && isSkillOptConfig(raw) && !('prompts' in raw) && !('tests' in raw)) found.push(path);
  }
  return found;
}

const isMap = (raw: Readonly<Record<string, unknown>>, name: string) =>
  typeof raw[name] === 'object' && raw[name] !== null && !Array.isArray(raw[name]);
