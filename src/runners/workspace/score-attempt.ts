import {
  type AgentRun,
  type AgentRunner,
  type AgentStep,
  type ChatModel,
  END_WORDS,
  type FileChange,
  type RolloutOutput,
  type SkillPackage,
  type Trajectory,
  toAtif,
  type WorkspaceDiff,
} from '../../core/contracts/index.ts';
import {
  type Assertion,
  type OnVerifierCrash,
  searchPattern,
  type TaskScorer,
  type Verify,
  type WorkspaceTask,
} from '../../core/judge/index.ts';
import { clip } from '../../core/text/index.ts';
import { filesUsed, nameOf } from '../installed-skill.ts';
import { type Contents, isCovered, type Site, type Verdict, verifyWorkspace } from './verify-workspace.ts';

/** An attempt, and how it is scored. */
type Scoring = {
  readonly task: WorkspaceTask;
  readonly run: AgentRun;
  readonly diff: WorkspaceDiff;
  /** The name of the skill that is trained. */
  readonly skill: string;
  readonly site: Site;
  /** Files of the verifier. */
  readonly tests: Contents;
  readonly rubric: TaskScorer<'rubric'>;
  readonly judge: ChatModel | undefined;
  readonly onVerifierCrash: OnVerifierCrash;
  /** What the verifier says where nobody has worked. */
  readonly verifyUntouched: () => Promise<Verdict>;
};

/** Assertions, then the verifier, then a model for the rest. All must hold; the soft score is the mean of what they say. */
export async function scoreAttempt(scoring: Scoring): Promise<RolloutOutput> {
  const { task } = scoring;
  const verdicts: Verdict[] = [];
  if (task.assertions.length > 0) verdicts.push(await checkAssertions(scoring));
  if (task.verify !== undefined) verdicts.push(await verifyWork(task.verify, scoring));
  const isLost = verdicts.some((verdict) => 'missing' in verdict);
  if (task.rubric !== undefined && !isLost) verdicts.push(await judgeWork(task.rubric, scoring));
  return combineVerdicts(verdicts);
}

/**
 * A verifier that gives no verdict on the work, and one where nobody has worked, has met bad work. It is asked there after the
 * crash: if the machine has failed in the meantime, it gives none there either.
 */
async function verifyWork(verify: Verify, scoring: Scoring): Promise<Verdict> {
  const { tests, site, onVerifierCrash, verifyUntouched } = scoring;
  const verdict = await verifyWorkspace(verify, tests, site);
  if (!('missing' in verdict) || verdict.isOutage || onVerifierCrash === 'stop') return verdict;
  if ('missing' in (await verifyUntouched())) return verdict;
  const { missing, hint: _, ...printed } = verdict;
  return { hard: 0, soft: 0, reason: `the verifier gave no verdict on this work: ${missing}`, ...printed };
}

/** The model judges the agent's last words, what it changed and the tools it used, statement by statement. */
async function judgeWork(criteria: readonly string[], scoring: Scoring): Promise<Verdict> {
  const { hard, soft, errored, failReason } = await scoring.rubric.score({
    judge: { kind: 'rubric', criteria },
    question: scoring.task.prompt,
    answer: workText(scoring),
    model: scoring.judge,
  });
  if (errored) return { missing: failReason ?? 'the judge gave no judgement' };
  return { hard, soft, ...(failReason === undefined ? {} : { reason: failReason }) };
}

/** One missing verdict makes the whole score unknown. What a verifier printed is for people: analysts do not see it. */
export function combineVerdicts(verdicts: readonly Verdict[]): RolloutOutput {
  const verifierOutput = verdicts.find(({ output }) => output !== undefined)?.output;
  const printed = verifierOutput === undefined ? {} : { verifierOutput };
  const missing = verdicts.filter((verdict) => 'missing' in verdict);
  if (missing.length > 0) {
    const hint = missing.find((verdict) => verdict.hint !== undefined)?.hint;
    const failReason = `no verdict: ${missing.map((verdict) => verdict.missing).join('; ')}`;
    const extras = { ...(hint === undefined ? {} : { hint }), ...printed };
    return { hard: 0, soft: 0, errored: true, unjudged: true, failReason, extras };
  }
  const known = verdicts.filter((verdict) => 'hard' in verdict);
  const soft = known.reduce((sum, verdict) => sum + verdict.soft, 0) / known.length;
  const hard = Math.min(...known.map((verdict) => verdict.hard));
  if (hard === 1) return { hard, soft };
  const failReason = known.flatMap(({ reason = [] }) => reason).join('; ') || 'not done';
  return { hard, soft, failReason, ...(verifierOutput === undefined ? {} : { extras: printed }) };
}

async function checkAssertions(scoring: Scoring): Promise<Verdict> {
  const { assertions } = scoring.task;
  const problems: string[] = [];
  for (const assertion of assertions) {
    const problem = await problemOf(assertion, scoring);
    if (problem !== undefined) problems.push(problem);
  }
  const soft = 1 - problems.length / assertions.length;
  return problems.length === 0 ? { hard: 1, soft } : { hard: 0, soft, reason: problems.join('; ') };
}

/** Why an assertion does not hold; nothing if it does. */
async function problemOf(assertion: Assertion, scoring: Scoring): Promise<string | undefined> {
  if ('path' in assertion) return fileProblem(assertion, await textsAt(assertion, scoring.site));
  if (isAboutOutput(assertion)) return outputProblem(assertion, scoring.run.text);
  return workProblem(assertion, scoring);
}

type FileAssertion = Extract<Assertion, { path: string }>;

/** The maximum number of files that are read for one pattern: each takes a command. */
const MOST_FILES = 200;

/** What is at a path, or at each one that a pattern stands for. */
async function textsAt({ type, path }: FileAssertion, { read, find }: Site): Promise<readonly string[]> {
  const paths = /[*?]/.test(path) ? await find(path) : [path];
  const texts: string[] = [];
  for (const one of paths.slice(0, type.endsWith('exists') ? 1 : MOST_FILES)) {
    const text = await read(one);
    if (text !== undefined) texts.push(text);
  }
  return texts;
}

function fileProblem(assertion: FileAssertion, texts: readonly string[]): string | undefined {
  const { type, path } = assertion;
  const isThere = texts.length > 0;
  if (type === 'file_not_exists') return isThere ? `${path} is there` : undefined;
  if (type === 'file_exists') return isThere ? undefined : `${path} is not there`;
  const holds = texts.some((text) => text.includes(assertion.value));
  if (type === 'file_not_contains') return holds ? `${path} holds ${shown(assertion.value)}` : undefined;
  if (!isThere) return `${path} is not there`;
  return holds ? undefined : `${path} does not hold ${shown(assertion.value)}`;
}

type OutputAssertion = Extract<Assertion, { type: `output_${string}` }>;

const isAboutOutput = (assertion: Assertion): assertion is OutputAssertion => assertion.type.startsWith('output_');

function outputProblem({ type, value }: OutputAssertion, text: string): string | undefined {
  const isPattern = type === 'output_matches' || type === 'output_not_matches';
  const isThere = isPattern ? searchPattern(value, text) : text.toLowerCase().includes(value.toLowerCase());
  const isWanted = type === 'output_contains' || type === 'output_matches';
  if (isThere === isWanted) return undefined;
  return `the answer ${isWanted ? 'does not' : 'does'} ${isPattern ? 'match' : 'hold'} ${shown(value)}`;
}

type WorkAssertion = Exclude<Assertion, FileAssertion | OutputAssertion>;

function workProblem(assertion: WorkAssertion, { run, diff, skill }: Scoring): string | undefined {
  const problem = (isMet: boolean, words: string) => (isMet ? undefined : words);
  const tools = new Set(run.steps.flatMap((step) => (step.type === 'tool-call' ? [step.tool.toLowerCase()] : [])));
  const used = (name = skill) => run.skillsLoaded.includes(name);
  const tokens = run.usage.input + run.usage.output;
  switch (assertion.type) {
    case 'exit_success':
      return problem(run.ended === 'done', `it was ended: ${END_WORDS[run.ended]}`);
    case 'expect_tools': {
      const missing = assertion.value.filter((name) => !tools.has(name.toLowerCase()));
      return problem(missing.length === 0, `it did not use ${missing.join(', ')}`);
    }
    case 'reject_tools': {
      const found = assertion.value.filter((name) => tools.has(name.toLowerCase()));
      return problem(found.length === 0, `it used ${found.join(', ')}`);
    }
    case 'max_turns':
      return problem(run.turns <= assertion.value, `it took ${run.turns} turns, more than ${assertion.value}`);
    case 'max_tokens':
      return problem(tokens <= assertion.value, `it took ${tokens} tokens, more than ${assertion.value}`);
    case 'max_cost_usd':
      return problem((run.costUsd ?? 0) <= assertion.value, `it cost $${run.costUsd}, more than $${assertion.value}`);
    case 'skill_used':
      return problem(used(assertion.value), `it did not load the skill ${assertion.value ?? skill}`);
    case 'skill_not_used':
      return problem(!used(assertion.value), `it loaded the skill ${assertion.value ?? skill}`);
    case 'diff_only': {
      const others = diff.changes.filter(({ path }) => !isCovered(path, assertion.value));
      return problem(others.length === 0, `it changed ${others.map(({ path }) => path).join(', ')}`);
    }
  }
}

const shown = (text: string) => JSON.stringify(text.length > 100 ? `${text.slice(0, 99)}…` : text);

type ScoredRun = {
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
  { run, diff, skill, trajectory }: ScoredRun,
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

/** Enough to see what a command printed, and little enough that a long run can be read. */
const RESULT_LENGTH = 1_200;
const CALL_LENGTH = 800;
const DIFF_LENGTH = 6_000;

/** A run as turns of a conversation, with long outputs cut in the middle, and what it changed at the end. */
function conversationOf(prompt: string, steps: readonly AgentStep[], diff: WorkspaceDiff): object[] {
  const changed = shownDiff(diff) || 'nothing';
  return [{ role: 'user', content: prompt }, ...steps.map(turnOf), { role: 'changed files', content: changed }];
}

function turnOf(step: AgentStep): object {
  if (step.type === 'text') return { role: 'assistant', content: step.text };
  if (step.type === 'skill-loaded') return { role: 'system', content: `(the skill ${step.name} was loaded)` };
  if (step.type === 'tool-call') return { role: `call ${step.tool}`, content: clip(jsonOf(step.input), CALL_LENGTH) };
  return { role: step.isError ? 'failed' : 'result', content: clip(step.output, RESULT_LENGTH) };
}

const jsonOf = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

function shownDiff({ changes, leftOut }: WorkspaceDiff): string {
  const lines = [...changes.map(shownChange), ...leftOut.map((what) => `(not shown: ${what})`)];
  return clip(lines.join('\n'), DIFF_LENGTH);
}

const shownChange = ({ path, change, patch, note }: FileChange) =>
  `${change} ${path}${note === undefined ? '' : ` (${note})`}${patch === undefined ? '' : `\n${patch}`}`;

export const shownTools = (steps: readonly AgentStep[]) =>
  steps
    .flatMap((step) => (step.type === 'tool-call' ? [`${step.tool} ${clip(jsonOf(step.input), 200)}`] : []))
    .join('\n');

/** A piece of work as a judge reads it. */
export const workText = ({ run, diff }: { readonly run: AgentRun; readonly diff: WorkspaceDiff }) =>
  [
    ['What the agent said at the end', run.text || '(nothing)'],
    ['What it changed', shownDiff(diff) || '(nothing)'],
    ['The tools that it used, in order', shownTools(run.steps) || '(none)'],
  ]
    .map(([title, text]) => `## ${title}\n\n${text}`)
    .join('\n\n');

/** Enough to follow a run, and little enough to keep all runs of a training. */
const BOUNDS = { maxTextLength: 20_000, maxLength: 400_000 };

type Session = { readonly agent: AgentRunner; readonly prompt: string; readonly sessionId: string };

/** What an agent did, for other tools to read. A runner's id begins with the agent and its version. */
export function trajectoryOf(run: AgentRun, { agent, prompt, sessionId }: Session): Trajectory {
  const [, name = agent.id, version = 'unknown'] = /^([^@:]+?)(?:@([^:\s]+))?(?::|$)/.exec(agent.id) ?? [];
  return toAtif(run, { agent: name, version, model: agent.modelName, sessionId, prompt, ...BOUNDS });
}
