import { isAbsolute, relative, sep } from 'node:path';
import { agentPrograms, type Environment } from '../../agents/index.ts';
import {
  type AgentRun,
  type AgentRunner,
  type RolloutContext,
  type RolloutOutput,
  type Sandbox,
  SkillError,
  type SkillPackage,
  type WorkspaceDiff,
  type WorkspaceView,
} from '../../core/contracts/index.ts';
import type { TaskScorer } from '../../core/judge/index.ts';
import { memoize } from '../../core/text/index.ts';
import { commandJudge } from '../../judges/index.ts';
import { priceOf } from '../../models/index.ts';
import { type AgentTarget, type Notices, namedProgram, openAgentTarget, pinnedProgram } from '../../project/index.ts';
import {
  limitsOf,
  requireAgent,
  toOutput,
  trajectoryOf,
  type WorkspaceEnvOptions,
  workText,
} from '../../runners/index.ts';
import { readPackage, skillHeader } from '../../skills/index.ts';
import { mostTokensOf } from '../../train/index.ts';
import {
  openProjectTemplate,
  openSandbox,
  openTemplate,
  openWorkspace,
  type ProjectTemplate,
  removeStale,
  type Template,
} from '../../workspaces/index.ts';
import type { LiveDocument } from '../documents/live-document.ts';
import { firstDrawOf } from '../dream/contrast.ts';
import { realPathOf } from '../harvest/scope.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import { type TaskRecord, taughtBy } from '../task-record.ts';
import { type Documents, noScore, scorersOf, taskJudgeOf, taskText, taskTypeOf } from './replay.ts';

export type FoundWork = {
  readonly agent: AgentRunner;
  readonly sandbox: Sandbox;
  readonly maxTokens: number;
  /** Maximum time per attempt, with its judgement. */
  readonly longestMs: number;
  /** Copies the project as it was at a commit, or as it is. */
  readonly open: (commit?: string) => Promise<OpenedWork>;
};

/** Default maximum number of tokens per attempt: several attempts must fit into the limit of a night. */
const ATTEMPT_TOKENS = 500_000;
const JUDGING_MS = 600_000;

type WorkPlace = {
  readonly env: Environment;
  readonly project: string;
  readonly settings: Pick<SleepSettings, 'prices'>;
  readonly notices?: Notices | undefined;
  /** Whether the person names the target, and not a project. */
  readonly isSpecOwn?: boolean;
};

/** The agent of a night by the program that is pinned for it, and its sandbox. Calls no model. */
export async function findWork(
  spec: AgentTarget,
  { env, project, settings, notices, isSpecOwn = false }: WorkPlace,
): Promise<FoundWork> {
  const sandbox = openSandbox(spec.sandbox);
  await sandbox.ready();
  const wanted = { cli: agentPrograms[spec.agent].cli, env, project, notices };
  const { path } = spec.path === undefined ? await pinnedProgram(wanted) : namedProgram(spec.path, wanted);
  const price = spec.model === undefined ? undefined : priceOf(spec.model, settings.prices);
  const agent = await openAgentTarget(
    { ...spec, path },
    { env, directory: project, sandbox, price, isAddressOwn: true, isSpecOwn },
  );
  const { maxTokens = ATTEMPT_TOKENS } = spec.limits ?? {};
  const limits = { ...spec.limits, maxTokens };
  return {
    ...{ agent, sandbox, maxTokens, longestMs: limitsOf(limits).timeoutMs + JUDGING_MS },
    async open(commit) {
      await removeStale();
      return { agent, sandbox, limits, project: await openProjectTemplate({ folder: project, commit, sandbox }) };
    },
  };
}

export function requireRoom({ maxTokens }: Pick<FoundWork, 'maxTokens'>, maxTokensPerNight: number): void {
  const least = mostTokensOf(maxTokens);
  if (maxTokensPerNight >= least) return;
  const [allowed, needed] = [maxTokensPerNight, least].map((tokens) => tokens.toLocaleString('en-US'));
  const message = `one attempt with tools may take ${needed} tokens, and maxTokensPerNight is ${allowed}`;
  const hint =
    'Raise maxTokensPerNight, or allow an attempt less: target: { agent: claude, limits: { maxTokens: NUMBER } }.';
  throw new SkillError('USAGE', message, { hint });
}

/** An agent with tools that attempts the tasks of a night, and the copy of the project that it begins from. */
export type OpenedWork = {
  readonly agent: AgentRunner;
  readonly sandbox: Sandbox;
  readonly limits: NonNullable<WorkspaceEnvOptions['limits']>;
  readonly project: ProjectTemplate;
};

export type NightWork = Pick<OpenedWork, 'agent' | 'sandbox' | 'limits'> & {
  /** Names what workspaces begin from: scores with another key cannot be compared. */
  readonly key: string;
  begin(read: Documents): Promise<{ readonly template: Template; readonly skills: readonly SkillPackage[] }>;
};

/**
 * Puts the documents where the agent looks for them: the memory into the copy of the project, the skill into the agent's
 * home. A skill of the project goes into the copy too, so that no older text of it is found there.
 */
export function nightWork(
  opened: OpenedWork,
  { documents, folder }: { readonly documents: readonly LiveDocument[]; readonly folder: string },
): NightWork {
  const { agent, sandbox, limits, project } = opened;
  const source = project.template.path;
  const git = project.commit !== undefined;
  const templateWith = memoize((files: string) => openTemplate({ source, files: JSON.parse(files), git, sandbox }));
  const packageOf = memoize(
    async ({ live }: LiveDocument): Promise<SkillPackage> =>
      live.bytes === null ? { files: {} } : readPackage(live.path),
  );
  const folders = [folder, realPathOf(folder)];
  const memory = documents.find(({ kind }) => kind === 'memory');
  const skills = documents.filter(({ kind }) => kind === 'skill');
  return {
    ...{ agent, sandbox, limits, key: project.template.key },
    async begin(read) {
      const { name } = skillHeader(read.skill);
      const skill = skills.find((one) => one.name === name);
      const files = { ...laid(memory, read.memory, folders), ...laid(skill, read.skill, folders) };
      const isAsItIs = Object.keys(files).length === 0;
      const base = skill && (await packageOf(skill));
      return {
        template: isAsItIs ? project.template : await templateWith(JSON.stringify(files)),
        skills: read.skill.trim() === '' ? [] : [{ ...base, files: { ...base?.files, 'SKILL.md': read.skill } }],
      };
    },
  };
}

/** The file of a document in the copy of the project, if it lies in the project. */
function laid(document: LiveDocument | undefined, text: string, folders: readonly string[]): Record<string, string> {
  if (document === undefined || text.trim() === '') return {};
  const { path, realPath } = document.live;
  const places = folders.flatMap((folder) => [relative(folder, path), relative(folder, realPath)]);
  const inside = places.find((place) => place !== '' && !isAbsolute(place) && place.split(sep)[0] !== '..');
  return inside === undefined ? {} : { [inside.split(sep).join('/')]: text };
}

/** Raise it when a change below changes scores. */
export const WORK_VERSION = 1;

type WorkAttempt = {
  readonly work: NightWork;
  readonly read: Documents;
  readonly hasLearned: boolean;
  readonly scorers: readonly TaskScorer[] | undefined;
};

/** A task done by an agent with tools, in a fresh copy of the project, and scored once nothing of the agent is left. */
export async function attemptAtWork(context: RolloutContext<TaskRecord>, reading: WorkAttempt): Promise<RolloutOutput> {
  const { item: task, signal } = context;
  const { work, read } = reading;
  const agent = requireAgent(context.agent);
  const prompt = promptOf(task);
  const { template, skills } = await work.begin(read);
  await using workspace = await openWorkspace({ template, sandbox: work.sandbox });
  const run = await agent.run({
    workspace: workspace.view,
    ...{ prompt, skills, signal, limits: limitsOf(work.limits), sampleIndex: firstDrawOf(task.id) },
  });
  const diff = await workspace.diff();
  const score = await scoreWork(context, { run, diff, view: workspace.view, template }, reading);
  const trajectory = trajectoryOf(run, { agent, prompt, sessionId: task.id });
  const output = toOutput(score, { prompt, taskType: taskTypeOf(task) }, { run, diff, skill: skills[0], trajectory });
  const { skillUnread, ...rest } = output;
  const referenceText = taughtBy(task);
  return {
    ...rest,
    ...(skillUnread && reading.hasLearned ? { skillUnread } : {}),
    ...(referenceText === '' ? {} : { referenceText }),
  };
}

const promptOf = (task: TaskRecord) => (task.system === '' ? taskText(task) : `${task.system}\n\n${taskText(task)}`);

type WorkDone = {
  readonly run: AgentRun;
  readonly diff: WorkspaceDiff;
  readonly view: WorkspaceView;
  readonly template: Template;
};

/** Scored as an answer in words. A model also reads what was changed, and a command finds it. */
async function scoreWork(
  { item: task, judge: model, signal }: RolloutContext<TaskRecord>,
  { run, diff, view, template }: WorkDone,
  { work, scorers = [] }: WorkAttempt,
): Promise<RolloutOutput> {
  const judge = taskJudgeOf(task);
  const { sandbox } = work;
  const untouched = inFreshWorkspace(sandbox, template);
  const inside = commandJudge({ sandbox: inWorkspace(sandbox, view), untouched }) as TaskScorer;
  const scorer = scorersOf([...scorers, inside]).get(judge.kind);
  if (!scorer) return noScore(`nobody here scores by ${judge.kind}`);
  const answer = judge.kind === 'rubric' ? workText({ run, diff }) : run.text;
  const toolsCalled = [...new Set(run.steps.flatMap((step) => (step.type === 'tool-call' ? [step.tool] : [])))];
  const scored = await scorer.score({ judge, question: taskText(task), answer, toolsCalled, model, signal });
  return { ...scored, ...(scored.errored ? { unjudged: true } : {}), hard: scored.hard >= 1 ? 1 : 0 };
}

/** Runs commands where the agent worked, after the agent has ended. */
const inWorkspace = (sandbox: Sandbox, view: WorkspaceView): Sandbox => ({
  ...sandbox,
  run: ({ cwd: _, ...request }) => sandbox.run({ ...request, workspace: view }),
});

/** Runs each command where nobody has worked. */
const inFreshWorkspace = (sandbox: Sandbox, template: Template): Sandbox => ({
  ...sandbox,
  async run(request) {
    await using workspace = await openWorkspace({ template, sandbox });
    return await inWorkspace(sandbox, workspace.view).run(request);
  },
});
