import {
  BUDGET_LINES,
  chunk,
  HEADINGS,
  OUTCOMES,
  promptSection,
  type RolloutResult,
  shuffle,
  skillSection,
  surroundingsSections,
} from '../../core/contracts/index.ts';
import {
  type EditPolicy,
  type FailurePattern,
  isFullRewrite,
  type RawPatch,
  type SourceType,
  type UpdateItem,
  type UpdateMode,
  withinBudget,
} from '../../core/document/index.ts';
import { ask } from '../ask/ask.ts';
import { modePrompt, policySections } from '../ask/prompts.ts';
import { type Memory, metaSections, noMemory, stepSections } from '../epoch/memory.ts';
import type { StageDeps } from '../stage-deps.ts';
import { type AnalystReply, analystReply } from '../update/wire-patch.ts';
import { clipTrajectories, isFailure, trajectoryRoom } from './trajectory.ts';

type ReflectInput = {
  readonly skill: string;
  /** What stands around it, to be read along. */
  readonly surroundings?: string | undefined;
  readonly results: readonly RolloutResult[];
  readonly minibatchSize: number;
  /** Most changes that one analyst may propose: the step's budget. `null`: as many as it likes. */
  readonly editBudget: number | null;
  readonly seed: number;
  /** Which draw of the analysts: another index gives other proposals from the same results. */
  readonly sampleIndex?: number;
  readonly failureOnly?: boolean;
  readonly mode?: UpdateMode;
  /** What may be changed, where that is not the body of one document. */
  readonly policy?: EditPolicy | undefined;
  readonly memory?: Memory;
  /** Whose reminders for the appendix are asked for. */
  readonly notesFrom?: 'nobody' | 'failure_only' | 'both';
};

type Minibatch = { readonly sourceType: SourceType; readonly results: readonly RolloutResult[] };

/** ② Backward pass: analysts read minibatches of failures and of successes, and each proposes a patch. */
export async function runMinibatchReflect(input: ReflectInput, deps: StageDeps): Promise<RawPatch[]> {
  let done = 0;
  const minibatches = toMinibatches(input);
  const patches = await deps.limit.map(minibatches, async (minibatch) => {
    const patch = await analyse(minibatch, input, deps);
    deps.onProgress(++done, minibatches.length);
    return patch;
  });
  return patches.filter(saysSomething);
}

const saysSomething = ({ patch, failurePatterns = [], appendixNotes = [] }: RawPatch) =>
  patch.edits.length > 0 || failurePatterns.length > 0 || appendixNotes.length > 0;

/**
 * A function of the results and the seed alone. What errored is nobody's lesson; what was done without the skill teaches those
 * who write its description, and nobody else.
 */
function toMinibatches({ results, minibatchSize, seed, failureOnly = false, policy }: ReflectInput): Minibatch[] {
  const isDescription = policy?.parts.includes('description') ?? false;
  const scored = results.filter((result) => !result.errored && (isDescription || !result.skillUnread));
  const group = (sourceType: SourceType, groupSeed: number) => {
    const members = scored.filter((result) => isFailure(result) === (sourceType === 'failure'));
    return chunk(shuffle(members, groupSeed), minibatchSize).map((minibatch) => ({ sourceType, results: minibatch }));
  };
  return [...group('failure', seed), ...(failureOnly ? [] : group('success', seed + 1))];
}

async function analyse(minibatch: Minibatch, input: ReflectInput, deps: StageDeps): Promise<RawPatch> {
  const { mode = 'patch' } = input;
  const { sourceType, results } = minibatch;
  const prompt = modePrompt(sourceType === 'failure' ? 'analyst_error' : 'analyst_success', mode);
  const maxOutputTokens = isFullRewrite(mode) ? deps.rewriteMaxCompletionTokens : undefined;
  const head = writeHead(input);
  const room = await trajectoryRoom({ prompt, head, maxOutputTokens }, deps);
  const { texts, clippedCount } = await clipTrajectories(results, room, deps);
  const read = promptSection(HEADINGS.trajectories, texts.join('\n\n'), `${results.length} ${OUTCOMES[sourceType]}`);
  const user = `${head}\n\n${read}`;
  const suffix = suffixFor(sourceType, input);
  const question = { prompt, suffix, stage: 'analyst', user, schema: analystReply(mode, input.policy) } as const;
  const reply = await ask({ ...question, maxOutputTokens, sampleIndex: input.sampleIndex }, deps);
  return {
    ...toRawPatch(reply, minibatch, input),
    ...(clippedCount > 0 ? { clippedTrajectories: clippedCount } : {}),
    batchSize: results.length,
  };
}

/** What stays the same from call to call comes first, so that providers can take it from their caches. */
function writeHead(input: ReflectInput): string {
  const { skill, surroundings = '', memory = noMemory } = input;
  const known = [skillSection(skill), ...policySections(skill, input.policy), ...surroundingsSections(surroundings)];
  return [...known, ...metaSections(memory), ...stepSections(memory), budgetSection(input)].join('\n\n');
}

function budgetSection({ editBudget, mode = 'patch' }: ReflectInput): string {
  const write = (line: string) => promptSection(HEADINGS.editBudget, line);
  if (isFullRewrite(mode)) return write(BUDGET_LINES.wholeReplacement);
  if (editBudget === null) return write(BUDGET_LINES.unlimited);
  return write(BUDGET_LINES.atMost(editBudget, mode === 'patch' ? 'edit' : 'suggestion'));
}

function suffixFor(sourceType: SourceType, { notesFrom = 'nobody', mode = 'patch' }: ReflectInput) {
  if (notesFrom === 'nobody' || isFullRewrite(mode)) return undefined;
  if (sourceType === 'failure') return 'skill_aware_failure' as const;
  return notesFrom === 'both' ? ('skill_aware_success' as const) : undefined;
}

function toRawPatch(
  reply: AnalystReply | undefined,
  minibatch: Minibatch,
  input: ReflectInput,
): Omit<RawPatch, 'batchSize'> {
  const { sourceType, results } = minibatch;
  const { edits = [], reasoning = '' } = reply?.patch ?? {};
  const limit = isFullRewrite(input.mode ?? 'patch') ? 1 : (input.editBudget ?? edits.length);
  const sourced = withinBudget(edits, limit).map((edit) => withProvenance(edit, sourceType, results.length));
  const patterns = sourceType === 'failure' ? toPatterns(reply, results) : [];
  const notes = suffixFor(sourceType, input) ? (reply?.appendixNotes ?? []) : [];
  return {
    patch: { reasoning, edits: sourced },
    sourceType,
    ...(patterns.length > 0 ? { failurePatterns: patterns } : {}),
    ...(notes.length > 0 ? { appendixNotes: notes } : {}),
  };
}

/** Of what an analyst names, the tasks that it has really read. */
function toPatterns(reply: AnalystReply | undefined, results: readonly RolloutResult[]): FailurePattern[] {
  const ids = new Set(results.map((result) => result.id));
  return (reply?.failureSummary ?? []).flatMap(({ failureType, description, taskIds }) => {
    const read = [...new Set(taskIds.filter((id) => ids.has(id)))];
    if (failureType === '' || read.length === 0) return [];
    return [{ type: failureType, count: read.length, taskIds: read, ...(description === '' ? {} : { description }) }];
  });
}

/** An analyst cannot have seen more support than the trajectories it read. */
function withProvenance(edit: UpdateItem, sourceType: SourceType, batchSize: number): UpdateItem {
  return { ...edit, sourceType, supportCount: Math.min(Math.max(edit.supportCount ?? batchSize, 1), batchSize) };
}

/**
 * What the failures of a batch have in common: what analysts named, with the tasks that they named it for; and for tasks
 * that nobody named, the part of their reason before the first colon. Most frequent first.
 */
export function failurePatterns(results: readonly RolloutResult[], patches: readonly RawPatch[]): FailurePattern[] {
  const named = mergeByType(patches.flatMap((raw) => raw.failurePatterns ?? []));
  const covered = new Set(named.flatMap((pattern) => pattern.taskIds));
  const failures = results.filter((result) => !result.errored && isFailure(result) && !covered.has(result.id));
  const rest = mergeByType(
    failures.map(({ id, failReason }) => ({ type: kindOf(failReason), count: 1, taskIds: [id] })),
  );
  return [...named, ...rest].sort((a, b) => b.count - a.count);
}

const kindOf = (reason = '') => reason.split(':')[0]!.trim().slice(0, 80) || 'unknown';

function mergeByType(patterns: readonly FailurePattern[]): FailurePattern[] {
  const merged = new Map<string, FailurePattern>();
  for (const pattern of patterns) {
    const key = pattern.type.toLowerCase();
    const known = merged.get(key);
    const taskIds = [...new Set([...(known?.taskIds ?? []), ...pattern.taskIds])];
    merged.set(key, { ...pattern, ...known, taskIds, count: taskIds.length });
  }
  return [...merged.values()];
}
