import type { ChatModel, RolloutOutput } from '../../core/contracts/index.ts';
import type { TaskScorer, Verify, WorkspaceTask } from '../../core/judge/index.ts';
import { type Attempted, whyNot } from './check-assertion.ts';
import { judgedWork } from './judged-work.ts';
import { VERDICT_HINTS } from './read-verdict.ts';
import type { Contents, Site } from './site.ts';
import { verifyWorkspace } from './verify-workspace.ts';

/** What one way of scoring says. */
type Part = { readonly output?: string } & (
  | { readonly hard: number; readonly soft: number; readonly reason?: string }
  | { readonly missing: string; readonly hint?: string }
);

type Scoring = {
  readonly task: WorkspaceTask;
  readonly attempted: Attempted;
  readonly site: Site;
  /** Files of the verifier. */
  readonly tests: Contents;
  readonly rubric: TaskScorer<'rubric'>;
  readonly judge: ChatModel | undefined;
};

/** Assertions, then the verifier, then a model for the rest. All must hold; the soft score is the mean of what they say. */
export async function scoreAttempt(scoring: Scoring): Promise<RolloutOutput> {
  const { task, attempted, site, tests } = scoring;
  const parts: Part[] = [];
  if (task.assertions.length > 0) parts.push(await assertionPart(task, attempted));
  if (task.verify !== undefined) parts.push(await verifierPart(task.verify, tests, site));
  const isLost = parts.some((part) => 'missing' in part);
  if (task.rubric !== undefined && !isLost) parts.push(await judgedWork(task.rubric, scoring));
  return combined(parts);
}

/** What the verifier alone says. */
export const scoreByVerifier = async (verify: Verify, tests: Contents, site: Site): Promise<RolloutOutput> =>
  combined([await verifierPart(verify, tests, site)]);

async function verifierPart(verify: Verify, tests: Contents, site: Site): Promise<Part> {
  const verdict = await verifyWorkspace(verify, tests, site);
  return 'missing' in verdict ? { ...verdict, hint: VERDICT_HINTS[verify.verdict] } : verdict;
}

async function assertionPart({ assertions }: WorkspaceTask, attempted: Attempted): Promise<Part> {
  const problems: string[] = [];
  for (const assertion of assertions) {
    const problem = await whyNot(assertion, attempted);
    if (problem !== undefined) problems.push(problem);
  }
  const soft = 1 - problems.length / assertions.length;
  return problems.length === 0 ? { hard: 1, soft } : { hard: 0, soft, reason: problems.join('; ') };
}

/** A part that nobody knows makes the whole unknown. */
function combined(parts: readonly Part[]): RolloutOutput {
  const missing = parts.flatMap((part) => ('missing' in part ? [part] : []));
  if (missing.length > 0) return withoutVerdict(missing);
  const known = parts as Exclude<Part, { missing: string }>[];
  const soft = known.reduce((sum, part) => sum + part.soft, 0) / known.length;
  const reasons = known.flatMap(({ reason }) => (reason === undefined ? [] : [reason]));
  const hard = Math.min(...known.map((part) => part.hard));
  if (hard === 1) return { hard, soft };
  const extras = printedBy(parts);
  return { hard, soft, failReason: reasons.join('; ') || 'not done', ...(extras ? { extras } : {}) };
}

/** What the verifier printed, for people: analysts do not see it. */
function printedBy(parts: readonly Part[]) {
  const verifierOutput = parts.find(({ output }) => output !== undefined)?.output;
  return verifierOutput === undefined ? undefined : { verifierOutput };
}

function withoutVerdict(missing: readonly Extract<Part, { missing: string }>[]): RolloutOutput {
  const hint = missing.find((part) => part.hint !== undefined)?.hint;
  const failReason = `no verdict: ${missing.map((part) => part.missing).join('; ')}`;
  return {
    hard: 0,
    soft: 0,
    errored: true,
    unjudged: true,
    failReason,
    extras: { ...(hint === undefined ? {} : { hint }), ...printedBy(missing) },
  };
}
