import { existsSync } from 'node:fs';
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
import { isAgentSpec, type KeyPath, type LoadedProject, loadEnv, readPrompts, withPlace } from '../project/index.ts';
import {
  digestOf,
  NO_SKILL_TEXT,
  readPackage,
  readSkillFiles,
  type SkillFile,
  skillFileAt,
  skillTextOf,
} from '../skills/index.ts';
import { readSmallFile, requireRunName, shownPath } from '../stores/index.ts';
import { requireReadable } from '../train/index.ts';

/** A project with everything loaded except its models. */
export type Wiring = {
  readonly env: SkillEnv;
  readonly config: SkillOptConfigInput;
  /** The run directory, absolute. */
  readonly path: string;
  readonly initialSkill: string | undefined;
  readonly skillSource: SkillSource | undefined;
  /** The project file relative to the run directory, if the caller named it. */
  readonly projectFile: string | undefined;
  readonly isRunNamed: boolean;
  readonly promptOverrides: PromptOverrides;
  readonly skillFiles: readonly SkillFile[];
  /** What the project asks for and does not get. */
  readonly warnings: readonly string[];
  /** Why no true number can be measured with its tasks. Commands that measure throw it, unless they are forced. */
  readonly refusal: SkillError | undefined;
};

/** A project that is trained, or whose documents are only scored: then it may have too few tasks to learn from. */
export async function wireRun(loaded: LoadedProject, purpose: 'train' | 'score' = 'train'): Promise<Wiring> {
  const { project, directory, namedFile, isRunNamed = false, findOrigin } = loaded;
  const bare = await loadEnv(loaded);
  const blame = (path: KeyPath) => async (error: unknown) => Promise.reject(await withPlace(error, path, findOrigin));
  const path = project.outRoot ?? join(directory, 'runs', project.name ?? bare.name);
  if (purpose === 'train') await requireRunName(path).catch(blame([project.outRoot ? 'outRoot' : 'name']));
  const reading = project.skill === undefined ? undefined : readSkill(project.skill, project).catch(blame(['skill']));
  const skill = await reading;
  const { files, warnings } = await skillFilesOf(skill, loaded);
  const { checkProject, inputWarnings, refusalOf } = await import('./check-inputs.ts'); // brings every reader of task files
  const findings = await checkProject(loaded, skill ? skill.text + inlineFiles(files) : '');
  const checked = findings
    ? overlayEnv(bare, { warnings: [...inputWarnings(findings, purpose), ...(bare.warnings ?? [])] })
    : bare;
  return {
    env: withSkillFiles(checked, files),
    path,
    config: configOf(project),
    initialSkill: skill?.text,
    skillSource: skill && { path: relative(path, skill.file), digest: skill.digest },
    projectFile: namedFile && relative(path, namedFile),
    isRunNamed,
    promptOverrides: await readPrompts(project.promptOverrides).catch(blame(['promptOverrides'])),
    skillFiles: files,
    warnings,
    refusal: refusalOf(findings ?? []),
  };
}

/** The settings of a run that a project or flags name. */
export const configOf = (named: object): SkillOptConfigInput =>
  Object.fromEntries(Object.entries(named).filter(([key, value]) => key in configShape && value !== undefined));

/** The files that the skill refers to, for prompts, and warnings about those that are left out. */
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
 * The project for scoring another document. The target reads the files that belong to the document: a SKILL.md has its own, a
 * version in a run has those of the skill that it came from.
 */
export function withDocument(loaded: LoadedProject, file: string): LoadedProject {
  const own = loaded.project.skill;
  const kept = own !== undefined && existsSync(own) ? own : undefined;
  const skill = basename(file).toLowerCase() === 'skill.md' ? file : kept;
  return { ...loaded, project: { ...loaded.project, skill } };
}

type ReadSkill = { readonly file: string; readonly text: string; readonly digest: string };

type TrainedParts = { readonly parts?: readonly SkillPart[] | undefined; readonly tasks?: string | undefined };

/** The document at a path, or the SKILL.md of a folder with the files beside it that are trained. Throws if no model could read it. */
export async function readSkill(path: string, trained: TrainedParts = {}): Promise<ReadSkill> {
  const file = await skillFileAt(path);
  const bytes = await readSmallFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new SkillError('SKILL_NOT_FOUND', `the skill document ${shownPath(path)} ${unreadableBecause(cause)}`, {
      cause,
      hint: 'Check the path: a Markdown file, or a folder with a SKILL.md. An empty file is a fine start.',
    });
  });
  const document = trainedForm(skillTextOf(bytes) ?? refuseBytes(path));
  const isPackage = trainsPackage(trained) && basename(file).toLowerCase() === 'skill.md';
  const text = isPackage ? await packageText(file, document, trained) : document;
  requireReadable(text); // before the estimate counts its tokens
  return { file, text, digest: digestOf(bytes) };
}

async function packageText(file: string, document: string, { tasks, parts }: TrainedParts): Promise<string> {
  const { files } = await readPackage(file, tasks === undefined ? [] : [tasks]);
  const trained = Object.entries(trainedFiles(files, { parts })).map(([path, text]) => [path, trainedForm(text)]);
  return joinPackage({ ...Object.fromEntries(trained), [SKILL_FILE]: document });
}

function refuseBytes(path: string): never {
  const message = `the skill document ${shownPath(path)} cannot be read: ${NO_SKILL_TEXT}`;
  throw new SkillError('CONFIG_INVALID', message, { hint: 'Check that it is the right file, and save it as UTF-8.' });
}

function unreadableBecause({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'does not exist';
  return code === 'EISDIR' ? 'is a folder without a SKILL.md' : `cannot be read: ${message}`;
}

/** The environment with some parts replaced. It is not copied, because it may be an instance of a class with private fields. */
export function overlayEnv(env: SkillEnv, parts: Partial<SkillEnv>): SkillEnv {
  return new Proxy(env, {
    get(target, key) {
      if (Object.hasOwn(parts, key)) return parts[key as keyof SkillEnv];
      const value = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The environment whose target reads these files after the skill. They are not trained. */
function withSkillFiles(env: SkillEnv, files: readonly SkillFile[]): SkillEnv {
  if (files.length === 0) return env;
  const behind = inlineFiles(files);
  const names = files.map(({ path }) => path).join(', ');
  const known = `The agent reads these files of the skill, too, which no edit can change: ${names}.`;
  return overlayEnv(env, {
    version: `${env.version ?? ''} skill files ${skillHash(behind)}`.trimStart(),
    surroundings: [env.surroundings, known].filter(Boolean).join('\n\n'),
    rolloutOne: (context) => env.rolloutOne({ ...context, skill: context.skill + behind }),
    ...(env.rolloutMany && {
      rolloutMany: (context) => env.rolloutMany!({ ...context, skill: context.skill + behind }),
    }),
  });
}

export const inlineFiles = (files: readonly SkillFile[]) =>
  ['\n\nFiles of this skill:', ...files.map(({ path, text }) => `<file path="${path}">\n${text}\n</file>`)].join(
    '\n\n',
  );
