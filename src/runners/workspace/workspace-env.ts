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
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type AgentLimits,
  type AgentRun,
  type RolloutContext,
  type RolloutOutput,
  type Sandbox,
  type SkillEnv,
  SkillError,
  type SkillPackage,
  type WorkspaceDiff,
  type WorkspaceView,
} from '../../core/contracts/index.ts';
import { filesBehind, type Trained } from '../../core/document/index.ts';
import type { OnVerifierCrash, WorkspaceTask } from '../../core/judge/index.ts';
import { parseJson } from '../../core/text/index.ts';
import { rubricJudge } from '../../judges/index.ts';
import { removeStale } from '../../workspaces/index.ts';
import { reaching } from '../allowed-hosts.ts';
import {
  amongNeighbours,
  checkPackage,
  contentVersion,
  installedPackage,
  nameOf,
  requireAgent,
} from '../installed-skill.ts';
import { WORK_LIMITS } from '../limits.ts';
import { scoreAttempt, toOutput, trajectoryOf } from './score-attempt.ts';
import {
  openTaskWorkspace,
  type TaskWorkspaces,
  tryVerifiers,
  verifierTrial,
  verifyUntouched,
} from './try-verifiers.ts';
import { openSite } from './verify-workspace.ts';
import { type KnownTask, taskTemplates } from './workspace-tasks.ts';

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

/** What an agent did, without the workspace. */
type Work = { readonly run: AgentRun; readonly diff: WorkspaceDiff };

type WorkPlace = {
  readonly task: KnownTask;
  readonly agent: string;
  readonly skills: readonly unknown[];
  readonly limits: object;
  readonly sandbox: Sandbox;
  readonly view: WorkspaceView;
};

/** Where a command sees the folder in which the work is kept. */
const KEPT = '/logs/kept';
const BROKEN = 3;
const SAVE = 'tar -cf "$1/work.tar" .';
const RESTORE = `tar -tf "$1/work.tar" > /dev/null || exit ${BROKEN}; find . -mindepth 1 -delete && tar -xpf "$1/work.tar"`;
const MOST_MS = 600_000;

/**
 * The finished work of an attempt, kept until it is judged, so that no model is asked for it twice. Its verifier may be
 * corrected meanwhile, so it is known by what the agent was given, and not by how it is judged.
 */
function keptWork(place: RolloutContext['keptWork'], attempt: WorkPlace) {
  const folder = place && join(place.folder, keyOf(attempt, place.sampleIndex));
  const record = folder && join(folder, 'work.json');
  const inWorkspace = (script: string) => runBeside(script, folder!, attempt);
  const remove = async () => void (folder && (await rm(folder, { recursive: true, force: true })));
  return {
    /** Puts the work back into the workspace, if there is some. */
    async restore(): Promise<Work | undefined> {
      const text = record && (await readFile(record, 'utf8').catch(() => undefined));
      const work = text === undefined ? undefined : (parseJson(text) as Work | undefined);
      if (work === undefined) return undefined;
      const exitCode = await inWorkspace(RESTORE);
      if (exitCode === 0) return work;
      if (exitCode !== undefined) await remove(); // otherwise the sandbox failed, and not the work
      if (exitCode === BROKEN) return undefined;
      throw new SkillError('ENV_FAILED', 'finished work could not be put back into its workspace');
    },
    /** Before it is judged, so that neither a broken verifier nor a kill costs it twice. */
    async keep(work: Work): Promise<Work> {
      if (record === undefined) return work;
      await mkdir(folder!, { recursive: true });
      if ((await inWorkspace(SAVE)) === 0) await writeFile(record, JSON.stringify(work));
      else await remove();
      return work;
    },
    forget: remove,
  };
}

function keyOf({ task, agent, skills, limits }: WorkPlace, sampleIndex: number): string {
  const { id, prompt, files, binaries, from, at, setup, keepHistory, contents } = task;
  const folder = from === undefined ? undefined : contents?.split(' ')[0]; // the hash after it is of the verifier's
  const given = { id, prompt, files, binaries, from, folder, at, setup, keepHistory };
  return createHash('sha256')
    .update(JSON.stringify([given, agent, skills, limits, sampleIndex]))
    .digest('hex')
    .slice(0, 32);
}

/**
 * In the sandbox, as everything that touches what an agent left. Its own signal: an aborted run keeps its work too. Undefined if the
 * sandbox fails: work that cannot be kept is judged all the same.
 */
async function runBeside(script: string, folder: string, { sandbox, view }: WorkPlace): Promise<number | undefined> {
  const inside = sandbox.hasOwnNames ? KEPT : folder;
  const command = ['/bin/sh', '-c', script, 'sh', inside];
  const mounts = [{ from: folder, to: KEPT, isWritable: true }];
  const ended = await sandbox.run({ command, mounts, workspace: view, timeoutMs: MOST_MS }).catch(() => undefined);
  return ended?.exitCode;
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
