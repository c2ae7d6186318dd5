import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import {
  configShape,
  type PromptOverrides,
  type SkillEnv,
  SkillError,
  type SkillOptConfigInput,
} from '../core/contracts/index.ts';
import {
  joinPackage,
  SKILL_FILE,
  type SkillPart,
  trainedFiles,
  trainedForm,
  trainsPackage,
} from '../core/document/index.ts';
import type { SkillSource } from '../core/run/index.ts';
import { skillHash } from '../core/text/index.ts';
import {
  isAgentSpec,
  isPromptPath,
  type KeyPath,
  type LoadedProject,
  loadEnv,
  type Project,
  withPlace,
} from '../project/index.ts';
import {
  digestOf,
  NO_SKILL_TEXT,
  readPackage,
  readSkillFiles,
  type SkillFile,
  skillFileAt,
  skillTextOf,
} from '../skills/index.ts';
import { shownPath } from '../stores/index.ts';
import { requireReadable } from '../train/index.ts';

/** A project with everything loaded that does not depend on a model. */
export type Wiring = {
  readonly env: SkillEnv;
  readonly config: SkillOptConfigInput;
  /** The run directory, absolute. */
  readonly path: string;
  readonly initialSkill: string | undefined;
  /** Where that was read from. */
  readonly skillSource: SkillSource | undefined;
  /** The project file from the run directory, where the caller named it. */
  readonly projectFile: string | undefined;
  /** Whether the caller named the run directory. */
  readonly isRunNamed: boolean;
  readonly promptOverrides: PromptOverrides;
  /** What the target reads behind the skill. */
  readonly skillFiles: readonly SkillFile[];
  /** What the project asks for and does not get. */
  readonly warnings: readonly string[];
};

export async function wireRun(loaded: LoadedProject): Promise<Wiring> {
  const { project, directory, namedFile, isRunNamed = false, findOrigin } = loaded;
  const bare = await loadEnv(loaded);
  const blame = async (error: unknown, path: KeyPath) => Promise.reject(await withPlace(error, path, findOrigin));
  const path = project.outRoot ?? join(directory, 'runs', project.name ?? bare.name);
  const skill =
    project.skill === undefined
      ? undefined
      : await readSkill(project.skill, project).catch((error: unknown) => blame(error, ['skill']));
  const { files, warnings } = await skillFilesOf(skill, loaded);
  return {
    env: withSkillFiles(bare, files),
    path,
    config: runConfig(project),
    initialSkill: skill?.text,
    skillSource: skill && { path: relative(path, skill.file), digest: skill.digest },
    projectFile: namedFile && relative(path, namedFile),
    isRunNamed,
    promptOverrides: await readPrompts(project.promptOverrides).catch((error) => blame(error, ['promptOverrides'])),
    skillFiles: files,
    warnings,
  };
}

/** What goes into prompts of the files that a skill refers to; what does not is said. */
async function skillFilesOf(skill: ReadSkill | undefined, { project, directory }: LoadedProject) {
  // An agent gets the folder itself, and a package has its files in it.
  if (skill === undefined || isAgentSpec(project.target) || trainsPackage(project)) return { files: [], warnings: [] };
  const { files, leftOut } = await readSkillFiles(skill);
  const isInline = project.skillFiles === 'inline';
  const unread = isInline ? leftOut : files.map(({ path }) => ({ path, why: 'skillFiles: none' }));
  const names = unread.map(({ path, why }) => `${path} (${why})`).join(', ');
  const warning = `${shownPath(skill.file, directory)} refers to files that the target does not see: ${names}`;
  return { files: isInline ? files : [], warnings: unread.length === 0 ? [] : [warning] };
}

/**
 * The project in which a document is scored that is not its own. The target reads the files that belong to it: a SKILL.md has
 * its own; a version in a run has those of the skill that it came from.
 */
export function withDocument(loaded: LoadedProject, file: string): LoadedProject {
  const own = loaded.project.skill;
  const kept = own !== undefined && existsSync(own) ? own : undefined;
  const skill = basename(file).toLowerCase() === 'skill.md' ? file : kept;
  return { ...loaded, project: { ...loaded.project, skill } };
}

/** The keys of a project that are settings of a run. */
function runConfig(project: Project): SkillOptConfigInput {
  const entries = Object.entries(project).filter(([key, value]) => key in configShape && value !== undefined);
  return Object.fromEntries(entries) as SkillOptConfigInput;
}

type ReadSkill = { readonly file: string; readonly text: string; readonly digest: string };

type TrainedParts = { readonly parts?: readonly SkillPart[] | undefined; readonly tasks?: string | undefined };

/**
 * The document at a path, or the SKILL.md of a folder, with the files beside it that are trained. Throws for one that is not
 * there, or that no model could read.
 */
export async function readSkill(path: string, trained: TrainedParts = {}): Promise<ReadSkill> {
  const file = await skillFileAt(path);
  const bytes = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new SkillError('SKILL_NOT_FOUND', `the skill document ${shownPath(path)} ${unreadableBecause(cause)}`, {
      cause,
      hint: 'Check the path: a Markdown file, or a folder with a SKILL.md. An empty file is a fine start.',
    });
  });
  const document = trainedForm(skillTextOf(bytes) ?? refuseBytes(path));
  const isPackage = trainsPackage(trained) && basename(file).toLowerCase() === 'skill.md';
  const text = isPackage ? await packageText(file, document, trained) : document;
  requireReadable(text); // here already: the estimate would count its tokens
  return { file, text, digest: digestOf(bytes) };
}

async function packageText(file: string, document: string, { tasks, parts }: TrainedParts): Promise<string> {
  const { files } = await readPackage(file, tasks === undefined ? [] : [tasks]);
  const trained = Object.entries(trainedFiles(files, { parts })).map(([path, text]) => [path, trainedForm(text)]);
  return joinPackage({ ...Object.fromEntries(trained), [SKILL_FILE]: document });
}

function refuseBytes(path: string): never {
  const hint = 'Check that it is the right file, and save it as UTF-8.';
  throw new SkillError('CONFIG_INVALID', `the skill document ${shownPath(path)} cannot be read: ${NO_SKILL_TEXT}`, {
    hint,
  });
}

function unreadableBecause({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'does not exist';
  return code === 'EISDIR' ? 'is a folder without a SKILL.md' : `cannot be read: ${message}`;
}

async function readPrompts(overrides: Project['promptOverrides']): Promise<PromptOverrides> {
  const entries = Object.entries(overrides).map(
    async ([name, value]) => [name, await readPrompt(name, value)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

async function readPrompt(name: string, value: string): Promise<string> {
  if (!isPromptPath(value)) return value;
  return readFile(value, 'utf8').catch((cause: Error) => {
    const hint = 'A value that ends in .md is the path of a file; any other is the prompt itself.';
    throw new SkillError('CONFIG_INVALID', `promptOverrides.${name} cannot be read: ${cause.message}`, { cause, hint });
  });
}

/** The same environment with some parts of it replaced. It may be an instance of a class with private fields, so that it is not copied. */
export function overlayEnv(env: SkillEnv, parts: Partial<SkillEnv>): SkillEnv {
  return new Proxy(env, {
    get(target, key) {
      if (Object.hasOwn(parts, key)) return parts[key as keyof SkillEnv];
      const value = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The same environment, whose target reads these files behind the skill. They are no part of what is trained. */
function withSkillFiles(env: SkillEnv, files: readonly SkillFile[]): SkillEnv {
  if (files.length === 0) return env;
  const behind = inlineFiles(files);
  return overlayEnv(env, {
    version: `${env.version ?? ''} skill files ${skillHash(behind)}`.trimStart(),
    surroundings: [env.surroundings, knownFiles(files)].filter(Boolean).join('\n\n'),
    rolloutOne: (context) => env.rolloutOne({ ...context, skill: context.skill + behind }),
    ...(env.rolloutMany
      ? { rolloutMany: (context) => env.rolloutMany!({ ...context, skill: context.skill + behind }) }
      : {}),
  });
}

export const inlineFiles = (files: readonly SkillFile[]) =>
  ['\n\nFiles of this skill:', ...files.map(({ path, text }) => `<file path="${path}">\n${text}\n</file>`)].join(
    '\n\n',
  );

const knownFiles = (files: readonly SkillFile[]) =>
  `The agent reads these files of the skill, too, which no edit can change: ${files.map(({ path }) => path).join(', ')}.`;
