import { basename, dirname } from 'node:path';
import { SkillError } from '../../core/errors.ts';
import { resolvePath } from '../resolve-path.ts';
import { isSkillOptConfig } from '../skillopt-config/is-skillopt-config.ts';
import { loadSkillOptConfig, overridesForProject } from '../skillopt-config/load-skillopt-config.ts';
import { CONFIG_NAMES, findConfigFile, readConfigFile } from './config-file.ts';
import { type Project, type ProjectInput, parseProject, refuseUnknownKeys } from './project.ts';
import { refuseSecrets } from './secrets.ts';

export type LoadedProject = {
  readonly project: Project;
  /** Where the project file is: runs are kept beside it. For a SkillOpt config: where the command runs, as over there. */
  readonly directory: string;
  /** What the file says and nothing here does. */
  readonly warnings: readonly string[];
};

type ProjectSource = {
  readonly flags: ProjectInput;
  readonly config?: string | undefined;
  readonly cwd: string;
  /** `key=value` in the words of a SkillOpt config, or in ours. */
  readonly overrides?: readonly string[] | undefined;
};

/** Flags over overrides over file over defaults. Every path in the answer is absolute. */
export async function loadProject({ flags, config, cwd, overrides = [] }: ProjectSource): Promise<LoadedProject> {
  const file = config === undefined ? findConfigFile(cwd) : resolvePath(cwd, config);
  if (file === undefined && flags.tasks === undefined && flags.env === undefined) throw noProject(cwd);
  const { input, directory, warnings } = await readProject(file, { cwd, overrides });
  refuseUnknownKeys(input, file === undefined ? 'The command line' : basename(file));
  return { project: parseProject(mergeInputs(input, anchorPaths(flags, cwd))), directory, warnings };
}

type FileProject = Omit<LoadedProject, 'project'> & { readonly input: ProjectInput };
type Place = { readonly cwd: string; readonly overrides: readonly string[] };

async function readProject(file: string | undefined, place: Place): Promise<FileProject> {
  const { cwd } = place;
  const raw = file === undefined ? {} : await readConfigFile(file);
  if (file !== undefined && isSkillOptConfig(raw)) return readSkillOpt(file, raw, place);
  const directory = file === undefined ? cwd : dirname(file);
  if (file !== undefined) refuseSecrets(raw, basename(file));
  const over = anchorPaths(overridesForProject(place.overrides), cwd);
  return { input: mergeInputs(anchorPaths(raw, directory), withExtras(raw, over)), directory, warnings: [] };
}

/** Such files lie in folders of their own, and their paths are read from where the command runs. */
async function readSkillOpt(file: string, raw: ProjectInput, { cwd, overrides }: Place): Promise<FileProject> {
  const { input, warning } = await loadSkillOptConfig({ file, raw, overrides });
  return { input: anchorPaths(input, cwd), directory: cwd, warnings: warning === undefined ? [] : [warning] };
}

/** Setting one extra keeps the others. */
const withExtras = ({ extras }: ProjectInput, over: ProjectInput): ProjectInput =>
  over.extras === undefined ? over : { ...over, extras: { ...(extras as object), ...(over.extras as object) } };

/** Later ones win; a key that was not given does not. */
function mergeInputs(...inputs: readonly ProjectInput[]): ProjectInput {
  const given = inputs.flatMap((input) => Object.entries(input).filter(([, value]) => value !== undefined));
  return Object.fromEntries(given);
}

const PATH_KEYS = ['tasks', 'skill', 'outRoot', 'splitDir', 'dataPath'];

/** Paths mean what they meant where they were written: beside the file, or in the shell's folder. */
function anchorPaths(input: ProjectInput, directory: string): ProjectInput {
  const anchor = (value: unknown, key: string) =>
    typeof value === 'string' ? resolvePath(directory, value, 'CONFIG_INVALID', `${key}: `) : value;
  const entries = Object.entries(input).map(([key, value]) => {
    if (PATH_KEYS.includes(key) || (key === 'env' && isModulePath(value))) return [key, anchor(value, key)];
    if (key === 'promptOverrides') return [key, anchorPrompts(value, anchor)];
    return [key, value];
  });
  return Object.fromEntries(entries) as ProjectInput;
}

function anchorPrompts(value: unknown, anchor: (value: unknown, key: string) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, text]) => [name, isPromptPath(text) ? anchor(text, name) : text]),
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
