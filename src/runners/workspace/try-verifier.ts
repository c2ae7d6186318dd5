import { type RolloutOutput, type Sandbox, SkillError } from '../../core/contracts/index.ts';
import type { WorkspaceTask } from '../../core/judge/index.ts';
import { openWorkspace } from '../../workspaces/index.ts';
import { scoreByVerifier } from './score-attempt.ts';
import { openSite } from './site.ts';
import type { TaskTemplates } from './task-template.ts';

type Place = { readonly templates: TaskTemplates; readonly sandbox: Sandbox };

/** So many are tried where somebody asks; a verifier may take minutes. */
const MOST_TRIED = 8;

const NOT_DONE = 'Where the work is not done, it must say so, and not fail itself.';

/**
 * Before the first attempt is paid for, the verifier of its task is tried where nobody has worked. One that gives no verdict
 * there would give none where an agent fails either: then the attempts have no score, and cost nothing.
 */
export function verifierTrial(place: Place) {
  let trial: Promise<RolloutOutput> | undefined;
  return async (task: WorkspaceTask, signal: AbortSignal): Promise<RolloutOutput | undefined> => {
    if (task.verify === undefined) return undefined;
    trial ??= tryVerifier(task, place, signal);
    const score = await trial.catch((error) => {
      trial = undefined; // it says nothing of the verifier: an aborted one may be the first of several
      throw error;
    });
    return score.errored ? { ...score, failReason: `${score.failReason}; no agent had worked there yet` } : undefined;
  };
}

/** What verifiers say of tasks that nobody has worked on. Throws when one gives no verdict, or all say that it is done. */
export async function tryVerifiers(tasks: readonly WorkspaceTask[], place: Place): Promise<string> {
  const all = tasks.filter(({ verify }) => verify !== undefined);
  const tried = all.slice(0, MOST_TRIED);
  const { signal } = new AbortController();
  const passing: string[] = [];
  for (const task of tried) {
    const { errored, hard, failReason, extras } = await tryVerifier(task, place, signal);
    if (errored) throw noVerdict(task, failReason!, extras?.hint);
    if (hard === 1) passing.push(task.id);
  }
  if (passing.length > 0 && passing.length === tried.length) throw allPass(passing);
  return describeTried(tried.length, all.length, passing);
}

async function tryVerifier(task: WorkspaceTask, { templates, sandbox }: Place, signal: AbortSignal) {
  await using workspace = await openWorkspace({ template: await templates.of(task), sandbox });
  const view = task.at === undefined ? workspace.view : { ...workspace.view, alsoAt: task.at };
  const score = await scoreByVerifier(task.verify!, await templates.testsOf(task), openSite(sandbox, view, signal));
  const hint = typeof score.extras?.hint === 'string' ? `${score.extras.hint} ${NOT_DONE}` : NOT_DONE;
  return score.errored ? { ...score, extras: { ...score.extras, hint } } : score;
}

const noVerdict = ({ id }: WorkspaceTask, reason: string, hint: unknown) =>
  new SkillError('ENV_FAILED', `task ${id}, tried without an agent: ${reason}`, { hint: String(hint) });

/** Then no skill can be better than another. */
const allPass = (ids: readonly string[]) =>
  new SkillError('ENV_FAILED', `verifiers pass before any work is done: all that were tried (${ids.join(', ')})`, {
    hint: 'A verifier must tell work that is done from work that is not: let it look for what the task asks for.',
  });

function describeTried(count: number, all: number, passing: readonly string[]): string {
  if (all === 0) return 'no task has a verifier';
  const tried = `${count === all ? count : `${count} of ${all}`} verifiers tried without an agent`;
  if (passing.length === 0) return `${tried}: the work is not done, as it should be`;
  const pass = passing.length === 1 ? 'passes' : 'pass';
  return `${tried}: ${passing.join(', ')} ${pass} before any work is done; is that right?`;
}
