import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, parse, relative, resolve } from 'node:path';
import { count, isObject } from '../../core/text/index.ts';
import { type PeekedTasks, peekTasks } from '../../envs/index.ts';
import { readHead, TASK_FILE_ENDINGS } from '../../imports/index.ts';
import { NO_SKILL_TEXT, parseFrontmatter, skillFileAt, skillHeader, skillTextOf } from '../../skills/index.ts';
import { readConfigFile } from '../config-file.ts';
import { isSkillOptConfig } from '../skillopt-config/load-skillopt-config.ts';

const MOST_OPENED = 60;
const MAX_SKILL_BYTES = 200_000;
const MAX_SOURCE_BYTES = 200_000;
const MAX_CONFIG_BYTES = 100_000;

// All paths are relative to the folder that was searched.

export type FoundSkill = {
  /** The folder, or `SKILL.md` for the searched folder itself. */
  readonly path: string;
  /** The name in its frontmatter, else the name of the folder. */
  readonly name: string;
  readonly problem?: string;
};

export type LeftOut = { readonly path: string; readonly why: string };

export type FoundTasks = PeekedTasks & { readonly path: string };

/** A module that may be an environment. It was read, not run. */
export type FoundEnv = { readonly path: string; readonly asksTarget: boolean; readonly asksJudge: boolean };

export type FolderFiles = {
  readonly skills: readonly FoundSkill[];
  readonly tasks: readonly FoundTasks[];
  readonly envs: readonly FoundEnv[];
  readonly skillOptConfigs: readonly string[];
  /** Files with the name of a skill that cannot be read. */
  readonly brokenSkills: readonly LeftOut[];
  readonly leftOut: readonly LeftOut[];
  readonly notes: readonly string[];
};

/** Whether there is nothing to make a project of. Keys alone are not enough. */
export const isEmpty = ({ skills, tasks, envs, skillOptConfigs }: FolderFiles): boolean =>
  skills.length + tasks.length + envs.length + skillOptConfigs.length === 0;

/** Finds what a project can be made of. Opens heads of files. Runs and changes nothing. */
export async function discoverFiles(directory: string, namedSkill?: string): Promise<FolderFiles> {
  const { skills, broken: brokenSkills, notes } = await findSkills(directory, namedSkill);
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

async function findSkills(directory: string, named: string | undefined) {
  const { folders, isCut } = await skillFolders(directory);
  const files: string[] = [];
  for (const folder of named === undefined ? folders : [...folders, named]) {
    const path = resolve(directory, folder);
    const file = await skillFileAt(path);
    if (file !== path && (await isFile(file))) files.push(relative(directory, file));
  }
  const looked = await Promise.all((await onceEach(directory, files)).map((file) => lookAtSkill(directory, file)));
  return {
    skills: looked.filter((found) => 'name' in found),
    broken: looked.filter((found) => 'why' in found),
    notes: isCut ? [`only ${count(MOST_FOLDERS)} folders were searched for skills: --skill PATH takes another`] : [],
  };
}

const isFile = async (path: string) => (await stat(path).catch(() => undefined))?.isFile() ?? false;

async function lookAtSkill(directory: string, file: string): Promise<FoundSkill | LeftOut> {
  try {
    const text = skillTextOf(await readHead(join(directory, file), MAX_SKILL_BYTES));
    if (text === undefined) return { path: file, why: NO_SKILL_TEXT };
    const folder = dirname(file);
    const [finding] = parseFrontmatter(text).findings;
    return {
      path: folder === '.' ? file : folder,
      name: skillHeader(text).name ?? basename(resolve(directory, folder)),
      ...(finding ? { problem: `${file}:${finding.line}: ${finding.message}` } : {}),
    };
  } catch (error) {
    return { path: file, why: `it cannot be read: ${(error as Error).message}` };
  }
}

const NO_TASKS = /^(package|package-lock|tsconfig.*|jsconfig.*|biome|composer|deno|pnpm-lock|skillopt\.config)\./i;
/** Problems are reported only for these: tables, and files with a name for tasks. */
const isMeantAsTasks = (path: string) =>
  /\.(jsonl|ndjson|csv|tsv|parquet)$/i.test(path) || /task|eval|question|promptfoo/i.test(parse(path).name);

async function findTasks(directory: string, files: readonly string[]) {
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
    else if (isMeantAsTasks(path)) broken.push({ path, why: peeked.problem.replaceAll(file, path) });
  }
  return { tasks, broken };
}

const isPromptfooCode = (path: string) => /^promptfooconfig\.[cm]?[jt]s$/.test(basename(path));

const ENV_NAMES = ['env.ts', 'env.mts', 'env.mjs', 'env.js'];
const DEFAULT_EXPORT = /^[ \t]*export[ \t]+default\b|^[ \t]*export\s{0,20}\{[^{}]*\bas\s+default\b/m;
const MEMBERS = /\brolloutOne\b|\brollout\b|\bEnvAdapter\b|\bgetItems\b/;
const NOT_EXPORTED = 'it has no default export, and an environment is a default export (docs/own-env.md)';
const NO_MEMBERS = 'its default export has no getItems and no rolloutOne, which an environment has (docs/own-env.md)';

/** Only beside the project file: a module of that name elsewhere has another purpose. */
async function findEnvs(directory: string, files: readonly string[]) {
  const envs: FoundEnv[] = [];
  const others: LeftOut[] = [];
  for (const path of files.filter((file) => dirname(file) === '.' && ENV_NAMES.includes(file))) {
    const text = (await readHead(join(directory, path), MAX_SOURCE_BYTES)).toString('utf8');
    const code = text.replace(/\/\*[\s\S]*?(?:\*\/|(?![\s\S]))|^[ \t]*\/\/.*$/gm, '');
    const [isExported, hasMembers] = [DEFAULT_EXPORT.test(code), MEMBERS.test(code)];
    if (isExported && hasMembers)
      envs.push({ path, asksTarget: /\btarget\b/.test(code), asksJudge: /\bjudge\b/.test(code) });
    else if (isExported || hasMembers) others.push({ path, why: isExported ? NO_MEMBERS : NOT_EXPORTED });
  }
  return { envs, others };
}

/** Without `env`, which promptfoo configs may have too. */
const SKILLOPT_SECTIONS = ['model', 'train', 'gradient', 'optimizer', 'evaluation'];

async function findSkillOptConfigs(directory: string, files: readonly string[]): Promise<string[]> {
  const likely = files.filter((path) => /\.ya?ml$/i.test(path) && !NO_TASKS.test(basename(path)));
  const found: string[] = [];
  for (const path of likely.slice(0, MOST_OPENED)) {
    const file = join(directory, path);
    const { size } = await stat(file).catch(() => ({ size: Number.POSITIVE_INFINITY }));
    if (size > MAX_CONFIG_BYTES) continue;
    const raw = await readConfigFile(file, { isSkillOpt: true }).catch(() => ({}) as Record<string, unknown>);
    const isTheirs = '_base_' in raw || SKILLOPT_SECTIONS.filter((name) => isObject(raw[name])).length > 1;
    if (isTheirs && isSkillOptConfig(raw) && !('prompts' in raw) && !('tests' in raw)) found.push(path);
  }
  return found;
}

const SKILL_PLACES = ['.claude/skills', '.agents/skills', '.codex/skills', '.github/skills', 'skills'];
const SKIPPED = /^(node_modules|runs|dist|build|coverage|vendor|target|venv|__pycache__|\..*)$/;
const MOST_ENTRIES = 500;
/** How many levels of folders are searched for skills. */
export const DEEPEST = 4;
const MOST_FOLDERS = 1000;
const MOST_NEAR = 100;

/** The names in a folder, sorted. Links are not followed. A folder that cannot be read counts as empty. */
async function list(folder: string) {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const sorted = entries.sort((one, other) => (one.name < other.name ? -1 : 1)).slice(0, MOST_ENTRIES);
  const names = (keep: (entry: (typeof sorted)[number]) => boolean) => sorted.filter(keep).map(({ name }) => name);
  return {
    files: names((entry) => entry.isFile()),
    folders: names((entry) => entry.isDirectory()),
    links: names((entry) => entry.isSymbolicLink()),
  };
}

const isSearched = (name: string) => !SKIPPED.test(name);

/** Folders that may be skills, the nearest first: this one, those below it, and those where agents keep skills. */
async function skillFolders(directory: string) {
  const found = ['.'];
  let level = ['.', ...SKILL_PLACES];
  for (let depth = 1; depth <= DEEPEST && found.length <= MOST_FOLDERS; depth += 1) {
    const below = await Promise.all(level.map((folder) => foldersIn(directory, folder)));
    found.push(...below.flatMap(({ folders, links }) => [...folders, ...links].sort()));
    level = [...new Set(below.flatMap(({ folders }) => folders))].slice(0, MOST_FOLDERS);
  }
  const folders = [...new Set(found)];
  return { folders: folders.slice(0, MOST_FOLDERS), isCut: folders.length > MOST_FOLDERS };
}

/** A skill is not searched for further skills. A link may be a skill, but is not followed: it may lead in circles. */
async function foldersIn(directory: string, folder: string) {
  const { files, folders, links } = await list(join(directory, folder));
  if (folder !== '.' && [...files, ...links].some((name) => /^skill\.md$/i.test(name)))
    return { folders: [], links: [] };
  const below = (names: readonly string[]) => names.filter(isSearched).map((name) => join(folder, name));
  return { folders: below(folders), links: below(links) };
}

/** The files here, in the folders here, and in these skills and their `evals`, each once. */
async function filesToLookAt(directory: string, skills: readonly string[]): Promise<string[]> {
  const { folders, links } = await list(directory);
  const near = [...folders, ...links].sort().filter(isSearched).slice(0, MOST_NEAR);
  const places = new Set(['.', ...skills, ...skills.map((path) => join(path, 'evals')), ...near]);
  const found: string[] = [];
  for (const place of places) {
    const listed = await list(join(directory, place));
    found.push(...[...listed.files, ...listed.links].sort().map((name) => join(place, name)));
  }
  return onceEach(directory, found);
}

/** Each file once, even if several links lead to it. Its real path is preferred. */
async function onceEach(directory: string, paths: readonly string[]): Promise<string[]> {
  const root = await realpath(directory).catch(() => directory);
  const kept = new Map<string, string>();
  for (const path of new Set(paths)) {
    const real = await realpath(join(directory, path)).catch(() => undefined);
    if (real !== undefined && (!kept.has(real) || real === join(root, path))) kept.set(real, path);
  }
  return [...kept.values()];
}
