import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import { defined, shellWord } from '../core/text/index.ts';
import type { Columns } from '../envs/index.ts';
import { readHead } from '../imports/index.ts';
import {
  type Choice,
  checkModelSpec,
  DRAFTS,
  describeSource,
  type Environment,
  type FolderFindings,
  type FoundTasks,
  hasTasks,
  type LoadedProject,
  loadProject,
  type ModelOption,
  mappingOf,
  modelOptions,
  type ProjectInput,
  type Proposal,
  type ProposedScoring,
  proposeScoring,
  resolveModel,
  SCORINGS,
  SIMULATED,
  type Source,
  STARTER_TASKS,
  skillsOf,
  sourcesOf,
  starterProject,
  weighTasks,
  whatToSet,
} from '../project/index.ts';
import { type CostEstimate, estimateLine } from '../report/index.ts';
import { checkInputs, hasOwnTasks, inputWarnings, refusalOf } from './check-inputs.ts';
import { estimateProject } from './estimate.ts';

type Asker = {
  /** The first option is the likeliest. */
  choose<Value>(question: string, options: readonly ChoiceOption<Value>[]): Promise<Value>;
  /** A line; an empty one is an answer too. `problemWith` says what is wrong with one. */
  write(question: string, placeholder: string, problemWith: (text: string) => string | undefined): Promise<string>;
};

type ChoiceOption<Value> = { readonly value: Value; readonly label: string; readonly hint?: string };

/** The likeliest choices, or those of a person: at most five questions, and only those with more than one answer. */
export async function chooseProject(found: FolderFindings, asker?: Asker): Promise<Choice> {
  const pick = <Value>(question: string, options: readonly ChoiceOption<Value>[]) =>
    asker && options.length > 1 ? asker.choose(question, options) : Promise.resolve(options[0]?.value);
  const skill = await pick(
    'Which skill is to be trained?',
    skillsOf(found).map((value) => ({ value, label: value.path, hint: value.name })),
  );
  const sources = sourcesOf(found, skill).map((value) => ({ value, label: describeSource(value) }));
  const source = await pick<Source>('What is it trained on?', sources);
  const tasks = source?.kind === 'tasks' ? source.tasks : undefined;
  const columns = (tasks && (await pick('Which column is which?', mappings(tasks)))) ?? {};
  const scoring = tasks && (await pick('How are answers scored?', scorings(tasks)));
  const options = await modelsFor(found, source);
  const models = await pick(
    'Which models?',
    options.map((value) => ({ value, label: value.label, hint: value.why })),
  );
  const path = tasks && join(found.directory, tasks.path);
  const weighed = path && (await weighTasks(path, { columns, scoring: toScoring(scoring) }));
  const chosen = { skill, source, columns, scoring, models: models ?? (await typedModel(asker)) };
  return { ...chosen, weighed: weighed || undefined };
}

const toScoring = (proposed: ProposedScoring | undefined) =>
  typeof proposed?.scoring === 'string'
    ? { kind: proposed.scoring }
    : (proposed?.scoring as { kind: string } | undefined);

function mappings({ guessed }: FoundTasks): ChoiceOption<Columns>[] {
  const { question, answers } = guessed;
  const isComplete = question !== undefined && answers !== undefined;
  const all = isComplete ? [guessed, { ...guessed, question: answers, answers: question }] : [guessed];
  return all.map((value) => ({ value, label: mappingOf(value) || 'as they are called' }));
}

/** Only long answers leave a choice. */
function scorings({ answers }: FoundTasks): ChoiceOption<ProposedScoring>[] {
  const proposed = proposeScoring(answers);
  const first = { value: proposed, label: proposed.name, hint: proposed.why };
  if (proposed.name !== 'rubric') return [first];
  const exact = { ...SCORINGS.exact, why: 'one of the answers must be given, word for word' };
  return [first, { value: exact, label: 'exact', hint: exact.why }];
}

/** The tasks of the starter project can be answered by simulated models. */
async function modelsFor({ directory, models }: FolderFindings, source: Source | undefined): Promise<ModelOption[]> {
  if (source?.kind !== 'tasks' || source.path !== STARTER_TASKS) return modelOptions(models);
  const starter = Buffer.from(starterProject('json', 'starter')[STARTER_TASKS]!);
  const isStarter = (await readHead(join(directory, source.path), starter.length + 1)).equals(starter);
  return [...(isStarter ? [SIMULATED] : []), ...modelOptions(models)];
}

async function typedModel(asker: Asker | undefined): Promise<ModelOption | undefined> {
  const question = 'Which model? Nothing was found that could be asked.';
  const spec = asker ? await asker.write(question, 'openai:MODEL, or later', problemWith) : '';
  return spec === '' ? undefined : { label: spec, why: 'you named it', target: spec, optimizer: spec, judge: spec };
}

function problemWith(spec: string): string | undefined {
  try {
    checkModelSpec(spec, 'target');
    return undefined;
  } catch (error) {
    return error instanceof SkillError ? `${error.message}. ${error.hint ?? ''}` : String(error);
  }
}

export type Next = {
  /** What has to be done by hand before. */
  readonly first?: string;
  readonly command: string;
  readonly why: string;
  readonly afterwards?: string;
};

type NextWithCost = Next & { readonly estimate: CostEstimate | null };

type WrittenProject = {
  readonly found: FolderFindings;
  readonly file: string;
  /** `cd DIR && `, or nothing. */
  readonly goThere: string;
  readonly choice: Choice;
  readonly proposal: Proposal;
};

export async function nextCommand(written: WrittenProject): Promise<NextWithCost> {
  const { choice, proposal, found, file } = written;
  const next = hasTasks(choice) ? await toTrain(written) : { ...toTasks(written), estimate: null };
  if (proposal.unset.length === 0) return next;
  const names = proposal.unset.join(', ').replace(/, ([^,]*)$/, ' and $1');
  return { first: `set ${names} in ${file}: ${whatToSet(found.models)}`, ...next, estimate: null };
}

async function toTrain({ found, choice, proposal, file, goThere }: WrittenProject): Promise<NextWithCost> {
  const command = `${goThere}skillopt train`;
  const { source, weighed } = choice;
  const unknown = (why: string) => ({ command, why, estimate: null });
  if (proposal.unset.length > 0) return unknown('');
  if (source?.kind === 'env')
    return unknown(`trains with ${source.path}, which was not run yet; what it costs: skillopt estimate`);
  if (weighed?.largeBytes !== undefined)
    return unknown(`reads all of ${source?.path}; what it costs: skillopt estimate`);
  return { command, ...(await costOf({ directory: found.directory, config: join(found.directory, file) })) };
}

const COST = 'and says what that costs before it asks anything';

/** How to get tasks. Only files with a task on each line can be added to, and drafting needs a skill that says something. */
function toTasks({ choice: { skill, source }, file, goThere }: WrittenProject): Next {
  const afterwards = `${goThere}skillopt train`;
  const draft = `${goThere}skillopt tasks draft`;
  if (source === undefined) return { command: draft, why: `lets a model draft tasks from the skill, ${COST}.` };
  if (skill === undefined) {
    const why = `says whether they are enough: write more tasks into ${source.path}.`;
    return { command: `${goThere}skillopt tasks check`, why, afterwards };
  }
  if (/\.(jsonl|ndjson)$/i.test(source.path))
    return { command: draft, why: `lets a model draft more tasks into ${source.path}, ${COST}.`, afterwards };
  const why = `lets a model draft tasks into ${DRAFTS}, ${COST}. Add yours to it, and set tasks: ${DRAFTS} in ${file}.`;
  return { command: withFlags(draft, { out: DRAFTS }), why, afterwards };
}

/** `init` says itself whether tasks are enough, and names a judge. */
const SAID_ELSEWHERE: readonly string[] = ['too-few', 'hardly-any', 'not-judged'];

/** What is wrong with the tasks of a proposed project. `train` checks a large file, and says what cannot be read at all. */
export async function checkProposal(directory: string, { weighed }: Choice, { settings }: Proposal) {
  const { tasks, env, columns, scoring, judge } = settings as Partial<LoadedProject['project']>;
  if (tasks === undefined || !hasOwnTasks(env) || weighed?.largeBytes !== undefined)
    return { warnings: [], refusal: undefined };
  const scored = typeof scoring === 'string' ? { scoring: { kind: scoring } as never } : { scoring };
  try {
    const { findings } = await checkInputs(join(directory, tasks), defined({ env, columns, judge, ...scored }));
    const told = findings.filter(({ code }) => !SAID_ELSEWHERE.includes(code));
    return { warnings: inputWarnings(told), refusal: refusalOf(told) };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return { warnings: [], refusal: undefined };
  }
}

type CostInput = { readonly directory: string; readonly config: string; readonly flags?: ProjectInput };

/** What training will ask for, in one line, or why that is unknown. */
async function costOf({ directory, config, flags = {} }: CostInput): Promise<Omit<NextWithCost, 'command'>> {
  try {
    const estimate = await estimateProject(await loadProject({ flags, config, cwd: directory }));
    return { why: estimateLine(estimate), estimate };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    const why = `Fix this first: ${error.message}${error.hint ? ` (${error.hint})` : ''}`;
    return { why, estimate: null };
  }
}

const withFlags = (command: string, flags: Readonly<Record<string, string>>): string =>
  [command, ...Object.entries(flags).map(([name, value]) => `--${name} ${shellWord(value)}`)].join(' ');

type SkillOptFolder = Pick<WrittenProject, 'found' | 'choice' | 'goThere'> & { readonly env: Environment };

/** How to train by a config of SkillOpt: the file as it is, with flags for what it lacks here. */
export async function nextForSkillOpt({ found, choice, goThere, env }: SkillOptFolder): Promise<NextWithCost> {
  const { directory } = found;
  const config = join(directory, choice.source!.path);
  const command = withFlags(`${goThere}skillopt train`, { config: choice.source!.path });
  try {
    const loaded = await loadProject({ flags: {}, config, cwd: directory });
    const flags = await missingFlags(loaded, choice, env);
    return { command: withFlags(command, flags), ...(await costOf({ directory, config, flags })) };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return { command, why: `Fix this first: ${error.message}`, estimate: null };
  }
}

async function missingFlags(loaded: LoadedProject, { skill, models }: Choice, caller: Environment) {
  const flags: Record<string, string> = {};
  const { skill: named } = loaded.project;
  if (skill !== undefined && (named === undefined || !existsSync(named))) flags.skill = skill.path;
  // For roles whose model cannot be asked from here, one that can.
  for (const role of ['target', 'optimizer'] as const) {
    if (models && !(await isReady(loaded, role, caller))) flags[role] = inOneWord(models[role]);
  }
  return flags;
}

/** Azure may start a program to sign in, so its models are not tried. */
async function isReady({ project, directory }: LoadedProject, role: 'target' | 'optimizer', env: Environment) {
  const spec = project[role];
  if (/^azure/.test(typeof spec === 'string' ? spec : String(spec?.provider))) return true;
  return (await resolveModel(spec, { role, env, directory }).catch(() => undefined)) !== undefined;
}

/** As a flag names it. A flag cannot name a variable that holds a key; servers of this machine mostly need none. */
function inOneWord(spec: ModelOption['target']): string {
  if (typeof spec === 'string') return spec;
  const { provider, model, baseURL } = spec;
  return `${provider}:${model}${baseURL === undefined ? '' : `@${baseURL}`}`;
}
