import { basename, dirname, resolve } from 'node:path';
import { SkillError } from '../../core/errors.ts';
import { CONFIG_NAMES, findConfigFile, readConfigFile } from './config-file.ts';
import { type Project, type ProjectInput, parseProject, refuseUnknownKeys } from './project.ts';

export type LoadedProject = {
  readonly project: Project;
  /** Where the project file is: runs are kept beside it. */
  readonly directory: string;
};

type ProjectSource = { readonly flags: ProjectInput; readonly config?: string | undefined; readonly cwd: string };

/** Flags over file over defaults. Every path in the answer is absolute. */
export async function loadProject({ flags, config, cwd }: ProjectSource): Promise<LoadedProject> {
  const file = config === undefined ? findConfigFile(cwd) : resolve(cwd, config);
  if (file === undefined && flags.tasks === undefined && flags.env === undefined) throw noProject(cwd);
  const directory = file === undefined ? cwd : dirname(file);
  const fromFile = file === undefined ? {} : anchorPaths(await readConfigFile(file), directory);
  const source = file === undefined ? 'The command line' : basename(file);
  refuseUnknownKeys(fromFile, source);
  return { project: parseProject(mergeInputs(fromFile, anchorPaths(flags, cwd))), directory };
}

/** Later ones win; a key that was not given does not. */
function mergeInputs(...inputs: readonly ProjectInput[]): ProjectInput {
  const given = inputs.flatMap((input) => Object.entries(input).filter(([, value]) => value !== undefined));
  return Object.fromEntries(given);
}

const PATH_KEYS = ['tasks', 'skill', 'outRoot'];

/** Paths mean what they meant where they were written: beside the file, or in the shell's folder. */
function anchorPaths(input: ProjectInput, directory: string): ProjectInput {
  const anchor = (value: unknown) => (typeof value === 'string' ? resolve(directory, value) : value);
  const entries = Object.entries(input).map(([key, value]) => {
    if (PATH_KEYS.includes(key) || (key === 'env' && isModulePath(value))) return [key, anchor(value)];
    if (key === 'promptOverrides') return [key, anchorPrompts(value, anchor)];
    return [key, value];
  });
  return Object.fromEntries(entries) as ProjectInput;
}

function anchorPrompts(value: unknown, anchor: (value: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, text]) => [name, isPromptPath(text) ? anchor(text) : text]),
  );
}

export const isModulePath = (value: unknown): value is string =>
  typeof value === 'string' && /[/\\]|\.[cm]?[jt]s$/.test(value);

export const isPromptPath = (value: unknown): value is string =>
  typeof value === 'string' && /^[^\n]+\.md$/.test(value);

function noProject(cwd: string): SkillError {
  const hint = 'Write one with: skillopt init. Or say where it is: --config PATH.';
  return new SkillError('CONFIG_INVALID', `no project in ${cwd}: none of ${CONFIG_NAMES.join(', ')}`, { hint });
}
