import { stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { peekTasks } from '../../envs/qa/peek-tasks.ts';
import { TASK_FILE_ENDINGS } from '../../envs/read/load-items.ts';
import { readHead } from '../../envs/read/peek-rows.ts';
import { skillFileAt } from '../../skills/index.ts';
import { parseFrontmatter } from '../../skills/parse-frontmatter.ts';
import { readConfigFile } from '../config-file.ts';
import { isSkillOptConfig } from '../skillopt-config/layer.ts';
import type { FoundEnv, FoundFiles, FoundSkill, FoundTasks } from './found.ts';
import { filesToLookAt, skillFolders } from './list-files.ts';

/** A folder of data may hold thousands of files: so many are opened. */
const MOST_OPENED = 60;
const MAX_SOURCE_BYTES = 200_000;
const MAX_CONFIG_BYTES = 100_000;

/** Files that are known to be something else. */
const NO_TASKS = /^(package|package-lock|tsconfig.*|jsconfig.*|biome|composer|deno|pnpm-lock|skillopt\.config)\./i;

/** What a folder holds that a project can be made of. Opens heads of files; runs and changes nothing. */
export async function discoverFiles(directory: string): Promise<FoundFiles> {
  const skills = await findSkills(directory);
  const folders = skills.map(({ path }) => (path === 'SKILL.md' ? '.' : path));
  const files = await filesToLookAt(directory, folders);
  const skillOptConfigs = await findSkillOptConfigs(directory, files);
  const others = files.filter((path) => !skillOptConfigs.includes(path));
  const { tasks, broken } = await findTasks(directory, others);
  const code = files.filter(isPromptfooCode).map((path) => ({ path, why: 'it is code, and only data is read' }));
  return { skills, tasks, envs: await findEnvs(directory, others), skillOptConfigs, leftOut: [...code, ...broken] };
}

async function findSkills(directory: string): Promise<FoundSkill[]> {
  const found: FoundSkill[] = [];
  for (const folder of await skillFolders(directory)) {
    const path = join(directory, folder);
    const file = await skillFileAt(path);
    if (file === resolve(path) || !(await isFile(file))) continue;
    const name = nameIn((await readHead(file, MAX_SOURCE_BYTES)).toString('utf8'));
    found.push({ path: folder === '.' ? basename(file) : folder, name: name ?? basename(resolve(path)) });
  }
  return found;
}

function nameIn(text: string): string | undefined {
  const field = parseFrontmatter(text).fields?.find(({ key }) => key === 'name');
  return field?.value.kind === 'text' && field.value.text.trim() !== '' ? field.value.text.trim() : undefined;
}

const isFile = (path: string) =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );

/** Files of tables, and trees whose name says that they hold tasks: what is wrong with other files is not our business. */
const MEANT_AS_TASKS = /\.(jsonl|ndjson|csv|tsv|parquet)$|(task|eval|question|promptfoo)[^/]*\.\w+$/i;

type TaskSearch = { readonly tasks: readonly FoundTasks[]; readonly broken: FoundFiles['leftOut'] };

async function findTasks(directory: string, files: readonly string[]): Promise<TaskSearch> {
  const likely = files.filter(
    (path) => TASK_FILE_ENDINGS.includes(extname(path).toLowerCase()) && !NO_TASKS.test(basename(path)),
  );
  const tasks: FoundTasks[] = [];
  const broken: { path: string; why: string }[] = [];
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

/** Only beside the project file: a module of that name elsewhere is somebody's settings. */
async function findEnvs(directory: string, files: readonly string[]): Promise<FoundEnv[]> {
  const found: FoundEnv[] = [];
  for (const path of files.filter((file) => dirname(file) === '.' && ENV_NAMES.includes(file))) {
    const text = (await readHead(join(directory, path), MAX_SOURCE_BYTES)).toString('utf8');
    const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
    if (!DEFAULT_EXPORT.test(code) || !/\brolloutOne\b|\brollout\b|\bEnvAdapter\b|\bgetItems\b/.test(code)) continue;
    found.push({ path, asksTarget: /\btarget\b/.test(code), asksJudge: /\bjudge\b/.test(code) });
  }
  return found;
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
