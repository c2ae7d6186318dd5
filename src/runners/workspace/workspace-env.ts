/*
 * An attempt, in order. Shared by all attempts at a task, and kept for later runs under a hash: its template, which is the folder
 * and files of the task after `setup` (`templates.of`). Of its own: the view or copy of it, then home, gateway, skills, the agent.
 * `setup` that fails is ENV_FAILED: the attempt is errored (`withoutPlace`), and the command is not run again for this task in this
 * run. A missing verdict (no reward, a time-out, exit code 126 or 127) is errored too. Neither counts as a zero, is repeated at once, or is kept:
 * a resumed run tries again. If more than `maxErroredShare` of a stage is errored, the run stops; where too many attempts with a
 * candidate are not judged, the candidate is rejected as invalid instead, and the run continues.
 * At `timeoutMs` or Ctrl-C the sandbox asks the agent's processes to end and kills them after 2 s; what an agent leaves behind when it
 * ends by itself is killed too. Closing the gateway ends calls in flight. After a time-out the work is judged as it is.
 * A call beyond maxTurns, maxTokens or maxUsd gets status 400 from the gateway, which notes the limit and ends the agent. Claude,
 * Gemini and Qwen also get maxTurns, and Claude maxUsd, as a setting of their own; if that ends one first, its events name the limit.
 * Once the agent is gone, changes are read, then assertions are checked, then `verifyWorkspace` lays its files over the agent's and
 * runs without network; Python's compiled files of the workspace are not used. All are asked; only the rubric is not asked where the verifier gave no verdict.
 * A skill is loaded once the tool that loads skills has succeeded for it; for Codex and Pi, a call that names its SKILL.md. Analysts do
 * not read attempts that have not loaded it (`skillUnread`), unless the description is trained.
 * After Ctrl-C the copy, the home and the groups go as well, on the way out; a second one exits at once, where `atExit` kills and
 * removes what it can. After `kill -9` all of it may stay. `removeStale`, in the setup of any later run with an agent, removes what no
 * living process owns: processes, groups, containers, mounts, folders; and templates that were not used for a month.
 */
import {
  type AgentLimits,
  type AgentRun,
  END_WORDS,
  type RolloutContext,
  type RolloutOutput,
  type Sandbox,
  type SkillEnv,
  SkillError,
  type SkillPackage,
  type Trajectory,
  type WorkspaceDiff,
} from '../../core/contracts/index.ts';
import type { Trained } from '../../core/document/index.ts';
import type { WorkspaceTask } from '../../core/judge/index.ts';
import { rubricJudge } from '../../judges/index.ts';
import { openWorkspace, removeStale } from '../../workspaces/index.ts';
import {
  amongNeighbours,
  checkPackage,
  contentVersion,
  filesIn,
  filesUsed,
  installedPackage,
  nameOf,
  requireAgent,
} from '../installed-skill.ts';
import { WORK_LIMITS } from '../limits.ts';
import { combineVerdicts, conversationOf, scoreAttempt, trajectoryOf } from './score-attempt.ts';
import { openSite, verifyWorkspace } from './verify-workspace.ts';
import { type TaskTemplates, taskTemplates } from './workspace-tasks.ts';

export type WorkspaceEnvOptions = {
  readonly name: string;
  readonly items: Readonly<Record<string, readonly WorkspaceTask[]>>;
  /** Where the folders lie that tasks name. */
  readonly folder: string;
  readonly sandbox: Sandbox;
  /** What tasks without limits of their own may use up. */
  readonly limits?: { readonly [Limit in keyof AgentLimits]?: AgentLimits[Limit] | undefined };
  /** What lies beside the trained document in its folder. */
  readonly package?: SkillPackage;
  /** Other skills that the agent has at hand. */
  readonly neighbours?: readonly SkillPackage[];
  readonly initialSkill?: string;
  /** What a person should know about the tasks before a run. */
  readonly warnings?: readonly string[];
};

/** What an attempt may use up: the last one that sets a limit counts. */
export const limitsOf = (...limits: readonly WorkspaceEnvOptions['limits'][]): AgentLimits =>
  Object.assign({}, WORK_LIMITS, ...limits) as AgentLimits;

/** Tasks that an agent does in a workspace of its own, with the skill where it looks for skills. */
export function workspaceEnv(options: WorkspaceEnvOptions): SkillEnv<WorkspaceTask> {
  const { name, items, sandbox, initialSkill, warnings } = options;
  const tasks = Object.values(items).flat();
  const templates = taskTemplates(options);
  const rubric = rubricJudge();
  const tryFirst = verifierTrial({ templates, sandbox });
  const usesJudge = tasks.some((task) => task.rubric !== undefined);
  let trained: Trained = {};
  const attempt = async (context: RolloutContext<WorkspaceTask>) =>
    (await tryFirst(context.item, context.signal)) ??
    runAttempt(context, installedPackage(options.package, context.skill, trained), { ...options, templates, rubric });
  return {
    name,
    get version() {
      const limits = limitsOf(options.limits);
      const judged = usesJudge ? `, rubric ${rubric.version}` : '';
      return `workspace 2 in ${sandbox.id}${judged}, ${contentVersion({ ...options, limits }, trained)}`;
    },
    isVersionWhole: true,
    judgeCalls: usesJudge ? 2 : 0,
    ...(warnings === undefined ? {} : { warnings }),
    getItems: (split) => Promise.all((items[split] ?? []).map(templates.known)),
    getTaskTypes: () => [...new Set(tasks.flatMap(({ taskType = [] }) => taskType))],
    ...(initialSkill === undefined ? {} : { getInitialSkill: () => initialSkill }),
    async setup(config) {
      trained = config;
      await removeStale();
      await sandbox.ready();
      requireNames(tasks, sandbox);
    },
    checkSkill: (candidate, parent) =>
      checkPackage({ candidate: filesIn(candidate, trained), parent: filesIn(parent, trained), sandbox }),
    tryScoring: () => tryVerifiers(tasks, { templates, sandbox }),
    rolloutOne: (context) => attempt(context).catch(withoutPlace),
  };
}

type Surroundings = Pick<WorkspaceEnvOptions, 'sandbox' | 'limits' | 'neighbours'> & {
  readonly templates: TaskTemplates;
  readonly rubric: ReturnType<typeof rubricJudge>;
};

async function runAttempt(
  { item: task, signal, judge, ...context }: RolloutContext<WorkspaceTask>,
  skill: SkillPackage,
  { sandbox, limits, neighbours, templates, rubric }: Surroundings,
): Promise<RolloutOutput> {
  await using workspace = await openTaskWorkspace(task, { templates, sandbox });
  const agent = requireAgent(context.agent);
  const run = await agent.run({
    workspace: workspace.view,
    prompt: task.prompt,
    skills: amongNeighbours(skill, neighbours),
    limits: limitsOf(limits, task.limits),
    sampleIndex: 0,
    signal,
  });
  const diff = await workspace.diff();
  const site = openSite(sandbox, workspace.view, signal);
  const tests = await templates.testsOf(task);
  const score = await scoreAttempt({ task, run, diff, skill: nameOf(skill), site, tests, rubric, judge });
  const trajectory = trajectoryOf(run, { agent, prompt: task.prompt, sessionId: task.id });
  return toOutput(score, task, { run, diff, skill, trajectory });
}

type TaskWorkspaces = Pick<Surroundings, 'templates' | 'sandbox'>;

async function openTaskWorkspace(task: WorkspaceTask, { templates, sandbox }: TaskWorkspaces) {
  const workspace = await openWorkspace({ template: await templates.of(task), sandbox });
  return { ...workspace, view: task.at === undefined ? workspace.view : { ...workspace.view, alsoAt: task.at } };
}

/** Without a place to work or to judge in, nobody knows how good the work is. */
function withoutPlace(error: unknown): RolloutOutput {
  if (!(error instanceof SkillError) || error.code !== 'ENV_FAILED') throw error;
  const { message: failReason, hint } = error;
  return { hard: 0, soft: 0, errored: true, unjudged: true, failReason, ...(hint ? { extras: { hint } } : {}) };
}

/** A task that speaks of /app means the workspace. Without a sandbox it would be the machine's. */
function requireNames(tasks: readonly WorkspaceTask[], sandbox: Sandbox): void {
  if (sandbox.hasOwnNames) return;
  const place = tasks.flatMap(({ at, verify }) => at ?? verify?.at ?? []).at(0);
  if (place === undefined) return;
  const problem = `tasks are seen at ${place}, and sandbox: ${sandbox.id} cannot show them there`;
  throw new SkillError('SANDBOX_UNAVAILABLE', problem, { hint: 'Write sandbox: auto, or name a container.' });
}

type Attempt = {
  readonly run: AgentRun;
  readonly diff: WorkspaceDiff;
  /** Absent where no skill was installed, which cannot be unread. */
  readonly skill: SkillPackage | undefined;
  readonly trajectory: Trajectory;
};

/** A score with what analysts and reports show of the attempt. */
export function toOutput(
  score: RolloutOutput,
  { prompt, taskType = score.taskType }: { readonly prompt: string; readonly taskType?: string | undefined },
  { run, diff, skill, trajectory }: Attempt,
): RolloutOutput {
  const { ended, endReason, costUsd, skillsLoaded, skillsOffered, modelsRefused, turns, text, steps } = run;
  const isLoaded = skill === undefined || skillsLoaded.includes(nameOf(skill));
  const limit =
    ended === 'done' ? [] : [`it was ended: ${END_WORDS[ended]}${endReason === undefined ? '' : ` (${endReason})`}`];
  const reasons = [...limit, ...(score.failReason === undefined ? [] : [score.failReason])];
  return {
    ...score,
    ...(score.hard < 1 && reasons.length > 0 ? { failReason: reasons.join('; ') } : {}),
    ...(isLoaded ? {} : { skillUnread: true }),
    question: score.question ?? prompt,
    ...(taskType === undefined ? {} : { taskType }),
    predictedAnswer: score.predictedAnswer ?? text,
    nTurns: turns,
    conversation: conversationOf(prompt, steps, diff),
    extras: {
      ...score.extras,
      ended,
      ...(endReason === undefined ? {} : { endReason }),
      diff,
      costUsd,
      skillsLoaded,
      skillsOffered,
      ...(modelsRefused === undefined ? {} : { modelsRefused }),
      filesUsed: skill === undefined ? [] : filesUsed(skill, steps),
      trajectory,
    },
  };
}

/**
 * Before the first attempt is paid for, the verifier of its task is tried where nobody has worked. If it gives no verdict
 * there, it would give none where an agent fails: then the attempts have no score, and cost nothing.
 */
function verifierTrial(workspaces: TaskWorkspaces) {
  let trial: Promise<RolloutOutput> | undefined;
  return async (task: WorkspaceTask, signal: AbortSignal): Promise<RolloutOutput | undefined> => {
    if (task.verify === undefined) return undefined;
    trial ??= tryVerifier(task, workspaces, signal);
    const score = await trial.catch((error) => {
      trial = undefined; // such as an abort, which says nothing about the verifier
      throw error;
    });
    return score.errored ? { ...score, failReason: `${score.failReason}; no agent had worked there yet` } : undefined;
  };
}

const UNDONE_HINT = 'Where the work is not done, it must say so, and not fail itself.';

async function tryVerifier(task: WorkspaceTask, workspaces: TaskWorkspaces, signal: AbortSignal) {
  await using workspace = await openTaskWorkspace(task, workspaces);
  const site = openSite(workspaces.sandbox, workspace.view, signal);
  const verdict = await verifyWorkspace(task.verify!, await workspaces.templates.testsOf(task), site);
  if (!('missing' in verdict)) return combineVerdicts([verdict]);
  return combineVerdicts([{ ...verdict, hint: `${verdict.hint} ${UNDONE_HINT}` }]);
}

/** The maximum number of verifiers that are tried on request; one may take minutes. */
const MOST_TRIED = 8;

/** Tries verifiers on tasks that nobody has worked on. Throws when one gives no verdict, or all of them pass. */
async function tryVerifiers(tasks: readonly WorkspaceTask[], workspaces: TaskWorkspaces): Promise<string> {
  const all = tasks.filter(({ verify }) => verify !== undefined);
  if (all.length === 0) return 'no task has a verifier';
  const { signal } = new AbortController();
  const passing: string[] = [];
  const tried = all.slice(0, MOST_TRIED);
  for (const task of tried) {
    const { errored, hard, failReason, extras } = await tryVerifier(task, workspaces, signal);
    if (errored)
      throw new SkillError('ENV_FAILED', `task ${task.id}, tried without an agent: ${failReason}`, {
        hint: String(extras?.hint),
      });
    if (hard === 1) passing.push(task.id);
  }
  const names = passing.join(', ');
  if (passing.length === tried.length)
    throw new SkillError('ENV_FAILED', `verifiers pass before any work is done: all that were tried (${names})`, {
      hint: 'A verifier must tell work that is done from work that is not: let it look for what the task asks for.',
    });
  const what = `${tried.length === all.length ? '' : `${tried.length} of `}${all.length} verifiers tried without an agent`;
  if (passing.length === 0) return `${what}: the work is not done, as it should be`;
  return `${what}: ${names} ${passing.length === 1 ? 'passes' : 'pass'} before any work is done; is that right?`;
}
