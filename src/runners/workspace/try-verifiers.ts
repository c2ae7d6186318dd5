import pLimit from 'p-limit';
import {
  type AgentLimits,
  type RolloutOutput,
  type Sandbox,
  type ScoringTrial,
  SkillError,
} from '../../core/contracts/index.ts';
import type { WorkspaceTask } from '../../core/judge/index.ts';
import { openWorkspace } from '../../workspaces/index.ts';
import { combineVerdicts } from './score-attempt.ts';
import { openSite, type Verdict, verifyWorkspace } from './verify-workspace.ts';
import type { TaskTemplates } from './workspace-tasks.ts';

export type TaskWorkspaces = {
  readonly templates: TaskTemplates;
  readonly sandbox: Sandbox;
  readonly limitsFor: (task: WorkspaceTask) => AgentLimits;
  readonly verifierHosts: readonly string[];
};

export async function openTaskWorkspace(
  task: WorkspaceTask,
  { templates, sandbox }: Pick<TaskWorkspaces, 'templates' | 'sandbox'>,
) {
  const workspace = await openWorkspace({ template: await templates.of(task), sandbox });
  return { ...workspace, view: task.at === undefined ? workspace.view : { ...workspace.view, alsoAt: task.at } };
}

/** What the verifier of a task says where nobody has worked. */
export async function verifyUntouched(
  task: WorkspaceTask,
  workspaces: TaskWorkspaces,
  signal: AbortSignal,
): Promise<Verdict> {
  await using workspace = await openTaskWorkspace(task, workspaces);
  const { sandbox, limitsFor, verifierHosts } = workspaces;
  const site = openSite(sandbox, workspace.view, { signal, limits: limitsFor(task), verifierHosts });
  return await verifyWorkspace(task.verify!, await workspaces.templates.testsOf(task), site);
}

/**
 * Before the first attempt is paid for, the verifier of its task is tried where nobody has worked. If it gives no verdict
 * there, it would give none where an agent fails: then the attempts have no score, and cost nothing.
 */
export function verifierTrial(workspaces: TaskWorkspaces) {
  let trial: Promise<Verdict> | undefined;
  return async (task: WorkspaceTask, signal: AbortSignal): Promise<RolloutOutput | undefined> => {
    if (task.verify === undefined) return undefined;
    trial ??= verifyUntouched(task, workspaces, signal);
    const verdict = await trial.catch((error) => {
      trial = undefined; // such as an abort, which says nothing about the verifier
      throw error;
    });
    if (!('missing' in verdict)) return undefined;
    const missing = `${verdict.missing}; no agent had worked there yet`;
    return combineVerdicts([{ ...verdict, missing, hint: `${verdict.hint} ${UNDONE_HINT}` }]);
  };
}

const UNDONE_HINT = 'Where the work is not done, it must say so, and not fail itself.';

/** The maximum number of verifiers that are tried on request; one may take minutes. */
const MOST_TRIED = 8;
const AT_ONCE = 2;

/** Tries verifiers on tasks that nobody has worked on. Throws when one gives no verdict. */
export async function tryVerifiers(tasks: readonly WorkspaceTask[], workspaces: TaskWorkspaces): Promise<ScoringTrial> {
  const all = tasks.filter(({ verify }) => verify !== undefined);
  if (all.length === 0) return { detail: 'no task has a verifier' };
  const { signal } = new AbortController();
  const tried = all.slice(0, MOST_TRIED);
  const limit = pLimit(AT_ONCE);
  const verdicts = await Promise.all(tried.map((task) => limit(() => verifyUntouched(task, workspaces, signal))));
  const passing = tried.filter((task, index) => requireVerdict(task, verdicts[index]!).hard === 1).map(({ id }) => id);
  const names = passing.join(', ');
  const passesAll = passing.length === tried.length;
  const everyOne = `verifiers pass before any work is done: all that were tried (${names})`;
  if (passesAll) return { detail: everyOne, warning: everyOne, passesAll };
  const what = `${tried.length === all.length ? '' : `${tried.length} of `}${all.length} verifiers tried without an agent`;
  if (passing.length === 0) return { detail: `${what}: the work is not done, as it should be` };
  const warning = `${names} ${passing.length === 1 ? 'passes' : 'pass'} before any work is done; is that right?`;
  return { detail: `${what}: ${warning}`, warning: `Verifiers were tried without an agent: ${warning}` };
}

function requireVerdict({ id }: WorkspaceTask, verdict: Verdict) {
  const { networkLack: lack } = verdict;
  if (lack !== undefined)
    throw new SkillError('ENV_FAILED', `the verifier of task ${id} needs the network, and it has none: ${lack}`, {
      hint: NETWORK_HINT,
    });
  if (!('missing' in verdict)) return verdict;
  throw new SkillError('ENV_FAILED', `task ${id}, tried without an agent: no verdict: ${verdict.missing}`, {
    hint: `${verdict.hint} ${UNDONE_HINT}`,
  });
}

const NETWORK_HINT =
  'Every attempt would fail for that reason: verifiers reach no host but those that the project names, such as verifierHosts: [pypi.org, files.pythonhosted.org]. Or put what it needs into a container image (sandbox: { container: IMAGE }), on this machine, or into the files of the task.';
