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
import type { WorkspaceTask } from '../../core/judge/index.ts';
import { rubricJudge } from '../../judges/index.ts';
import { openWorkspace, removeStale } from '../../workspaces/index.ts';
import { type SomeLimits, WORK_LIMITS } from '../agent/default-limits.ts';
import { amongNeighbours, nameOf, requireAgent } from '../agent/skill-at-work.ts';
import { checkPackage } from './check-package.ts';
import { contentVersion } from './content-version.ts';
import { filesIn, filesUsed, installedPackage, type Trained } from './installed-package.ts';
import { scoreAttempt } from './score-attempt.ts';
import { conversationOf, trajectoryOf } from './shown-work.ts';
import { openSite } from './site.ts';
import { taskTemplates } from './task-template.ts';
import { tryVerifiers, verifierTrial } from './try-verifier.ts';

export type WorkspaceEnvOptions = {
  readonly name: string;
  readonly items: Readonly<Record<string, readonly WorkspaceTask[]>>;
  /** Where the folders lie that tasks name. */
  readonly folder: string;
  readonly sandbox: Sandbox;
  /** What tasks without limits of their own may use up. */
  readonly limits?: SomeLimits;
  /** What lies beside the trained document in its folder. */
  readonly package?: SkillPackage;
  /** Other skills that the agent has at hand. */
  readonly neighbours?: readonly SkillPackage[];
  readonly initialSkill?: string;
  /** What a person should know about the tasks before a run. */
  readonly warnings?: readonly string[];
};

/** Tasks that an agent does in a workspace of its own, with the skill where it looks for skills. */
export function workspaceEnv(options: WorkspaceEnvOptions): SkillEnv<WorkspaceTask> {
  const { name, items, sandbox, initialSkill, warnings } = options;
  let trained: Trained = {};
  const templates = taskTemplates(options);
  const tryFirst = verifierTrial({ templates, sandbox });
  const rubric = rubricJudge();
  const usesJudge = Object.values(items).some((tasks) => tasks.some((task) => task.rubric !== undefined));
  const attempt = async ({ item: task, skill: text, signal, judge, ...context }: RolloutContext<WorkspaceTask>) => {
    const unscored = await tryFirst(task, signal);
    if (unscored !== undefined) return unscored;
    const skill = installedPackage(options.package, text, trained);
    await using workspace = await openWorkspace({ template: await templates.of(task), sandbox });
    const view = task.at === undefined ? workspace.view : { ...workspace.view, alsoAt: task.at };
    const agent = requireAgent(context.agent);
    const run = await agent.run({
      workspace: view,
      prompt: task.prompt,
      skills: amongNeighbours(skill, options.neighbours),
      limits: limitsOf(options.limits, task.limits),
      sampleIndex: 0,
      signal,
    });
    const diff = await workspace.diff();
    const site = openSite(sandbox, view, signal);
    const attempted = { run, diff, skill: nameOf(skill), read: site.read, find: site.find };
    const tests = await templates.testsOf(task);
    const score = await scoreAttempt({ task, attempted, site, tests, rubric, judge });
    const trajectory = trajectoryOf(run, { agent, prompt: task.prompt, sessionId: task.id });
    return toOutput(score, task, { run, diff, skill, trajectory });
  };
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
    getTaskTypes: () => [
      ...new Set(Object.values(items).flatMap((tasks) => tasks.flatMap(({ taskType = [] }) => taskType))),
    ],
    ...(initialSkill === undefined ? {} : { getInitialSkill: () => initialSkill }),
    async setup(config) {
      trained = config;
      await removeStale();
      await sandbox.ready();
      requireNames(items, sandbox);
    },
    checkSkill: (candidate, parent) =>
      checkPackage({ candidate: filesIn(candidate, trained), parent: filesIn(parent, trained), sandbox }),
    tryScoring: () => tryVerifiers(Object.values(items).flat(), { templates, sandbox }),
    rolloutOne: (context) => attempt(context).catch(withoutPlace),
  };
}

/** Where there was no place to work in, or none to judge in, nobody knows how good the work is. */
function withoutPlace(error: unknown): RolloutOutput {
  if (!(error instanceof SkillError) || error.code !== 'ENV_FAILED') throw error;
  const { message: failReason, hint } = error;
  return { hard: 0, soft: 0, errored: true, unjudged: true, failReason, ...(hint ? { extras: { hint } } : {}) };
}

/** What an attempt may use up: the last that says it counts. */
export const limitsOf = (...limits: readonly WorkspaceEnvOptions['limits'][]): AgentLimits =>
  Object.assign({}, WORK_LIMITS, ...limits) as AgentLimits;

/** A task that speaks of /app means the workspace. Without a sandbox it would be the machine's. */
function requireNames(items: WorkspaceEnvOptions['items'], sandbox: Sandbox): void {
  if (sandbox.hasOwnNames) return;
  const all = Object.values(items).flat();
  const place = all.flatMap(({ at, verify }) => at ?? verify?.at ?? []).at(0);
  if (place === undefined) return;
  const problem = `tasks are seen at ${place}, and sandbox: ${sandbox.id} cannot show them there`;
  throw new SkillError('SANDBOX_UNAVAILABLE', problem, { hint: 'Write sandbox: auto, or name a container.' });
}

type Attempt = {
  readonly run: AgentRun;
  readonly diff: WorkspaceDiff;
  /** Without one, none can be unread. */
  readonly skill: SkillPackage | undefined;
  readonly trajectory: Trajectory;
};

/** A score with all that analysts and reports want to know of how it came about. */
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
