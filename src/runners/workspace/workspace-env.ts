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
import { filesBehind, type Trained } from '../../core/document/index.ts';
import type { OnVerifierCrash, WorkspaceTask } from '../../core/judge/index.ts';
import { rubricJudge } from '../../judges/index.ts';
import { removeStale } from '../../workspaces/index.ts';
import { reaching } from '../allowed-hosts.ts';
import {
  amongNeighbours,
  checkPackage,
  contentVersion,
  filesUsed,
  installedPackage,
  nameOf,
  requireAgent,
} from '../installed-skill.ts';
import { WORK_LIMITS } from '../limits.ts';
import { keptWork } from './kept-work.ts';
import { conversationOf, scoreAttempt, trajectoryOf } from './score-attempt.ts';
import {
  openTaskWorkspace,
  type TaskWorkspaces,
  tryVerifiers,
  verifierTrial,
  verifyUntouched,
} from './try-verifiers.ts';
import { openSite } from './verify-workspace.ts';
import { taskTemplates } from './workspace-tasks.ts';

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
  /** Default: `fail`. */
  readonly onVerifierCrash?: OnVerifierCrash;
  /** Hosts that verifiers may reach from a sandbox. Default: none. */
  readonly verifierHosts?: readonly string[];
  /** What a person should know about the tasks before a run. */
  readonly warnings?: readonly string[];
};

/** What an attempt may use up: the last one that sets a limit counts. */
export const limitsOf = (...limits: readonly WorkspaceEnvOptions['limits'][]): AgentLimits =>
  Object.assign({}, WORK_LIMITS, ...limits) as AgentLimits;

/** Tasks that an agent does in a workspace of its own, with the skill where it looks for skills. */
export function workspaceEnv(options: WorkspaceEnvOptions): SkillEnv<WorkspaceTask> {
  const { name, items, sandbox, initialSkill, warnings, verifierHosts = [] } = options;
  const tasks = Object.values(items).flat();
  const templates = taskTemplates(options);
  const rubric = rubricJudge();
  const limitsFor = (task: WorkspaceTask) => limitsOf(options.limits, task.limits);
  const workspaces = { templates, sandbox, limitsFor, verifierHosts };
  const tryFirst = verifierTrial(workspaces);
  const usesJudge = tasks.some((task) => task.rubric !== undefined);
  let trained: Trained = {};
  const surroundings = { ...options, ...workspaces, rubric };
  const attempt = async (context: RolloutContext<WorkspaceTask>) =>
    (await tryFirst(context.item, context.signal)) ??
    runAttempt(context, installedPackage(options.package, context.skill, trained), surroundings);
  return {
    name,
    get version() {
      const judged = usesJudge ? `, rubric ${rubric.version}` : '';
      const crash = options.onVerifierCrash === 'stop' ? ', a verifier that crashes stops' : '';
      const content = contentVersion({ ...options, limits: limitsOf(options.limits) }, trained);
      return `workspace 2 in ${reaching(verifierHosts, sandbox).id}${judged}${crash}, ${content}`;
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
      checkPackage({ candidate: filesBehind(candidate, trained), parent: filesBehind(parent, trained), sandbox }),
    tryScoring: () => tryVerifiers(tasks, workspaces),
    rolloutOne: (context) => attempt(context).catch(withoutPlace),
  };
}

type Surroundings = TaskWorkspaces &
  Pick<WorkspaceEnvOptions, 'neighbours' | 'onVerifierCrash'> & { readonly rubric: ReturnType<typeof rubricJudge> };

async function runAttempt(
  context: RolloutContext<WorkspaceTask>,
  skill: SkillPackage,
  surroundings: Surroundings,
): Promise<RolloutOutput> {
  const { item: task, signal, judge } = context;
  const { sandbox, templates, rubric, limitsFor, neighbours, verifierHosts, onVerifierCrash = 'fail' } = surroundings;
  const agent = requireAgent(context.agent);
  const skills = amongNeighbours(skill, neighbours);
  const limits = limitsFor(task);
  await using workspace = await openTaskWorkspace(task, surroundings);
  const kept = keptWork(context.keptWork, { task, agent: agent.id, skills, limits, sandbox, view: workspace.view });
  const work = async () => {
    const given = { prompt: task.prompt, skills, limits, sampleIndex: 0, signal };
    const run = await agent.run({ workspace: workspace.view, ...given });
    return { run, diff: await workspace.diff() };
  };
  const { run, diff } = (await kept.restore()) ?? (await kept.keep(await work()));
  const site = openSite(sandbox, workspace.view, { signal, limits, verifierHosts });
  const tests = await templates.testsOf(task);
  const untouched = () => verifyUntouched(task, surroundings, signal);
  const score = await scoreAttempt({
    ...{ task, run, diff, skill: nameOf(skill), site, tests, rubric, judge, onVerifierCrash },
    verifyUntouched: untouched,
  });
  if (!score.errored) await kept.forget();
  const trajectory = trajectoryOf(run, { agent, prompt: task.prompt, sessionId: task.id });
  return toOutput(score, task, { run, diff, skill, trajectory });
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
