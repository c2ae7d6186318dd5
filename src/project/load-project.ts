import { dirname } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import { defined } from '../core/text/index.ts';
import { readSmallText } from '../stores/index.ts';
import { CONFIG_NAMES, findConfigFile, readConfigFile } from './config-file.ts';
import { type FindOrigin, originIn } from './origin.ts';
import { type Project, type ProjectInput, parseProject, refuseUnknownKeys } from './project.ts';
import { resolvePath } from './resolve-path.ts';
import { refuseSecrets } from './secrets.ts';
import { isSkillOptConfig, loadSkillOptConfig, overridesForProject } from './skillopt-config/load-skillopt-config.ts';

export type LoadedProject = {
  readonly project: Project;
  /** The folder of the project file, beside which runs are kept. For a SkillOpt config it is where the command runs. */
  readonly directory: string;
  /** The project file, absolute, if the caller named it. */
  readonly namedFile?: string | undefined;
  readonly isRunNamed?: boolean;
  readonly notes: readonly string[];
  /** Settings of the file that have no effect here. */
  readonly warnings: readonly string[];
  readonly findOrigin: FindOrigin;
};

type ProjectSource = {
  readonly flags: ProjectInput;
  /** The name of a setting's flag, for messages. */
  readonly flagOf?: (key: string) => string;
  readonly config?: string | undefined;
  readonly cwd: string;
  /** `key=value`, with keys of a SkillOpt config or with ours. */
  readonly overrides?: readonly string[] | undefined;
  /** Reads no project file unless one is named. */
  readonly isAlone?: boolean;
};

/** Flags override `--set`, which overrides the file. Every path in the answer is absolute. */
export async function loadProject(source: ProjectSource): Promise<LoadedProject> {
  const { flags, flagOf = String, config, cwd, overrides = [], isAlone = false } = source;
  const here = config === undefined && !isAlone ? findConfigFile(cwd) : undefined;
  const file = config === undefined ? here : resolvePath(cwd, config);
  if (file === undefined && flags.tasks === undefined && flags.env === undefined) throw noProject(cwd);
  const { input, findOrigin, ...rest } = await readProject(file, { cwd, overrides, flags });
  const find: FindOrigin = async (path) => {
    const typed = flags[String(path[0])];
    return typed === undefined
      ? findOrigin(path)
      : { place: 'command line', key: flagOf(String(path[0])), typed: withAgent({ target: typed }).target };
  };
  await refuseUnknownKeys(input, find);
  const project = await parseProject(withAgent(mergeInputs(input, anchorPaths(flags, cwd))), find);
  return {
    project,
    findOrigin: find,
    namedFile: config === undefined ? undefined : file,
    isRunNamed: flags.outRoot !== undefined,
    ...rest,
  };
}

/** `agent:claude` is short for `{ agent: claude }`, which no command line likes. */
function withAgent(input: ProjectInput): ProjectInput {
  const [, agent] = /^agent:(.+)$/.exec(String(input.target)) ?? [];
  return agent === undefined ? input : { ...input, target: { agent } };
}

type FileProject = Omit<LoadedProject, 'project'> & { readonly input: ProjectInput };
type CallerSettings = { readonly cwd: string; readonly overrides: readonly string[]; readonly flags: ProjectInput };

async function readProject(file: string | undefined, { cwd, overrides, flags }: CallerSettings): Promise<FileProject> {
  const raw = file === undefined ? {} : await readConfigFile(file);
  if (file !== undefined && isSkillOptConfig(raw)) {
    const theirs = await readConfigFile(file, { isSkillOpt: true });
    const { input, warning, ...rest } = await loadSkillOptConfig({ file, raw: theirs, overrides, flags });
    const warnings = warning === undefined ? [] : [warning];
    return { input: anchorPaths(input, cwd), directory: cwd, warnings, ...rest };
  }
  const directory = file === undefined ? cwd : dirname(file);
  if (file !== undefined) await refuseSecrets(raw, file);
  const set = overridesForProject(overrides);
  const over = withExtras(raw, anchorPaths(set, cwd));
  const input = mergeInputs(anchorPaths(raw, directory), over);
  return { input, directory, notes: [], warnings: [], findOrigin: originIn({ file, raw, set }) };
}

/** Setting one extra keeps the others. */
const withExtras = ({ extras }: ProjectInput, over: ProjectInput): ProjectInput =>
  over.extras === undefined ? over : { ...over, extras: { ...(extras as object), ...(over.extras as object) } };

/** Later inputs take precedence. Keys without a value do not count. */
const mergeInputs = (...inputs: readonly ProjectInput[]): ProjectInput => Object.assign({}, ...inputs.map(defined));

const PATH_KEYS = ['tasks', 'skill', 'outRoot', 'splitDir', 'dataPath'];

/** A path starts where it was written: at the folder of the file, or at the shell's folder. */
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

/** The prompts by name: those that are paths are read. */
export async function readPrompts<Prompts extends Readonly<Record<string, string>>>(
  overrides: Prompts,
): Promise<Prompts> {
  const read = async ([name, value]: [string, string]) => {
    if (!isPromptPath(value)) return [name, value];
    const text = await readSmallText(value).catch((cause: Error) => {
      const message = `promptOverrides.${name} cannot be read: ${cause.message}`;
      const hint = 'A value that ends in .md is the path of a file; any other is the prompt itself.';
      throw new SkillError('CONFIG_INVALID', message, { cause, hint });
    });
    return [name, text];
  };
  return Object.fromEntries(await Promise.all(Object.entries(overrides).map(read)));
}

function noProject(cwd: string): SkillError {
  const hint = 'Write one with: skillopt init. Or name an existing one: --config PATH.';
  return new SkillError('CONFIG_INVALID', `no project in ${cwd}: none of ${CONFIG_NAMES.join(', ')}`, { hint });
}
