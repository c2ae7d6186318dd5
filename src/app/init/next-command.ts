import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { shellWord } from '../../core/text/index.ts';
import { envNames } from '../../envs/index.ts';
import {
  type Choice,
  DRAFTS,
  type Environment,
  type FolderFindings,
  hasTasks,
  isModulePath,
  type LoadedProject,
  loadProject,
  type ModelOption,
  type ProjectInput,
  type Proposal,
  resolveModel,
  whatToSet,
} from '../../project/index.ts';
import { type CostEstimate, estimateLine } from '../../report/index.ts';
import { estimateProject } from '../estimate.ts';

/** What to type next, and what is to be known about it. */
export type Next = {
  /** What has to be done before, by hand. */
  readonly first?: string;
  readonly command: string;
  readonly why: string;
  /** What to type after that. */
  readonly afterwards?: string;
};

type Costed = Next & { readonly estimate: CostEstimate | null };

type ProjectPlace = {
  readonly found: FolderFindings;
  readonly file: string;
  /** `cd DIR && `, or nothing. */
  readonly goThere: string;
};

type Written = ProjectPlace & { readonly choice: Choice; readonly proposal: Proposal };

/** What to do after a project was written: what has to be set, and the command. */
export async function nextCommand(written: Written): Promise<Costed> {
  const { choice, proposal, found, file } = written;
  const next = hasTasks(choice) ? await toTrain(written) : toTasks(written);
  if (proposal.unset.length === 0) return { ...next, estimate: next.estimate ?? null };
  const first = `set ${namesOf(proposal.unset)} in ${file}: ${whatToSet(found.models)}`;
  return { first, ...next, estimate: null };
}

/** `target, optimizer and judge`. */
const namesOf = (names: readonly string[]) => names.join(', ').replace(/, ([^,]*)$/, ' and $1');

type Command = Next & { readonly estimate?: CostEstimate | null };

async function toTrain({ found, choice, proposal, file, goThere }: Written): Promise<Command> {
  const command = `${goThere}skillopt train`;
  if (proposal.unset.length > 0) return { command, why: '' };
  if (choice.source?.kind === 'env')
    return {
      command,
      why: `trains with ${choice.source.path}, which was not run yet; what it costs: skillopt estimate`,
    };
  if (choice.weighed?.largeBytes !== undefined)
    return { command, why: `reads all of ${choice.source?.path}; what it costs: skillopt estimate` };
  return { command, ...(await costOf({ directory: found.directory, config: join(found.directory, file) })) };
}

const COST = 'and says what that costs before it asks anything';

/** Ways to come by tasks. Only files with a task on each line can be added to, and only a skill that says something can be asked about. */
function toTasks({ choice: { skill, source }, file, goThere }: Written): Command {
  const afterwards = `${goThere}skillopt train`;
  const draft = `${goThere}skillopt tasks draft`;
  if (source === undefined) return { command: draft, why: `lets a model draft tasks from the skill, ${COST}.` };
  if (skill === undefined)
    return {
      command: `${goThere}skillopt tasks check`,
      why: `says whether they are enough: write more tasks into ${source.path}.`,
      afterwards,
    };
  if (/\.(jsonl|ndjson)$/i.test(source.path))
    return { command: draft, why: `lets a model draft more tasks into ${source.path}, ${COST}.`, afterwards };
  const why = `lets a model draft tasks into ${DRAFTS}, ${COST}. Add yours to it, and set tasks: ${DRAFTS} in ${file}.`;
  return { command: withFlags(draft, { out: DRAFTS }), why, afterwards };
}

type Costing = { readonly directory: string; readonly config: string; readonly flags?: ProjectInput };

/** What training will ask for, in one line, or why nobody can say. */
async function costOf({ directory, config, flags = {} }: Costing): Promise<Omit<Costed, 'command'>> {
  try {
    const estimate = await estimateProject(await loadProject({ flags, config, cwd: directory }));
    return { why: estimateLine(estimate), estimate };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    const why = `Fix this first: ${error.message}${error.hint ? ` (${error.hint})` : ''}`;
    return { why, estimate: null };
  }
}

/** A command with flags for what a file lacks. */
const withFlags = (command: string, flags: Readonly<Record<string, string>>): string =>
  [command, ...Object.entries(flags).map(([name, value]) => `--${name} ${shellWord(value)}`)].join(' ');

type SkillOptPlace = {
  readonly found: FolderFindings;
  readonly choice: Choice;
  readonly goThere: string;
  readonly env: Environment;
};

/** How to train by a config of SkillOpt: the file as it is, with flags for what it lacks here. */
export async function nextForSkillOpt({ found, choice, goThere, env }: SkillOptPlace): Promise<Costed> {
  const { directory } = found;
  const config = join(directory, choice.source!.path);
  const command = withFlags(`${goThere}skillopt train`, { config: choice.source!.path });
  try {
    const loaded = await loadProject({ flags: {}, config, cwd: directory });
    const flags = {
      ...envFlag(loaded),
      ...skillFlag(loaded, choice),
      ...(await modelFlags(loaded, choice.models, env)),
    };
    return { command: withFlags(command, flags), ...(await costOf({ directory, config, flags })) };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return { command, why: `Fix this first: ${error.message}`, estimate: null };
  }
}

/** Its benchmark of questions is scored as ours are. */
const envFlag = ({ project: { env } }: LoadedProject): Record<string, string> =>
  env === 'searchqa' && !envNames().includes(env) && !isModulePath(env) ? { env: 'qa' } : {};

function skillFlag({ project: { skill } }: LoadedProject, choice: Choice): Record<string, string> {
  const isThere = skill !== undefined && existsSync(skill);
  return isThere || choice.skill === undefined ? {} : { skill: choice.skill.path };
}

/** For roles whose model cannot be asked from here, one that can. */
async function modelFlags(loaded: LoadedProject, models: ModelOption | undefined, env: Environment) {
  const flags: Record<string, string> = {};
  for (const role of ['target', 'optimizer'] as const) {
    const word = models && oneWord(models[role]);
    if (word !== undefined && !(await isReady(loaded, role, env))) flags[role] = word;
  }
  return flags;
}

/** Azure may start a program to sign in: what is named there is believed. */
async function isReady(
  { project, directory }: LoadedProject,
  role: 'target' | 'optimizer',
  env: Environment,
): Promise<boolean> {
  const spec = project[role];
  if (/^azure/.test(typeof spec === 'string' ? spec : String(spec?.provider))) return true;
  return resolveModel(spec, { role, env, directory }).then(
    () => true,
    () => false,
  );
}

/** As a flag names it. A key that a variable holds cannot be named there; servers of this machine mostly want none. */
function oneWord(spec: ModelOption['target']): string | undefined {
  if (typeof spec === 'string') return spec;
  const { provider, model, baseURL } = spec;
  return `${provider}:${model}${baseURL === undefined ? '' : `@${baseURL}`}`;
}
