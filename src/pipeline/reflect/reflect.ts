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
import { countedTogether, type StageDeps, settleAll } from '../stage-deps.ts';
import type { PatchGroup } from '../update/aggregate.ts';
import { type AnalystReply, analystReply } from '../update/wire-patch.ts';
import { clipTrajectories, isFailure, trajectoryRoom } from './trajectory.ts';

type ReflectInput = {
  readonly skill: string;
  /** Texts around the skill, to be read with it. */
  readonly surroundings?: string | undefined;
  readonly results: readonly RolloutResult[];
  readonly minibatchSize: number;
  /** How many changes one analyst may propose; `null` is no limit. */
  readonly editBudget: number | null;
  readonly seed: number;
  /** Which draw of the analysts: another index gives other proposals from the same results. */
  readonly sampleIndex?: number;
  readonly failureOnly?: boolean;
  readonly mode?: UpdateMode;
  readonly policy?: EditPolicy | undefined;
  readonly memory?: Memory;
  /** Which analysts are asked for reminders for the appendix. */
  readonly notesFrom?: 'nobody' | 'failure_only' | 'both';
};

type Minibatch = { readonly sourceType: SourceType; readonly results: readonly RolloutResult[] };

/** ② Backward pass: analysts read minibatches of failures and of successes, and each proposes a patch. */
export const runMinibatchReflect = (input: ReflectInput, deps: StageDeps): Promise<RawPatch[]> =>
  reflectByGroup(input, deps).patches;

/** Patches that analysts are writing: all of them, and those of a group. */
export type Reflection = { readonly patches: Promise<RawPatch[]>; readonly groupOf: PatchGroup };

/** The same, for a caller who need not wait for all analysts. */
export function reflectByGroup(input: ReflectInput, deps: StageDeps): Reflection {
  const minibatches = toMinibatches(input);
  const together = countedTogether(deps, minibatches.length);
  const head = writeHead(input);
  const readGroup = async (sourceType: SourceType) => {
    const group = minibatches.filter((minibatch) => minibatch.sourceType === sourceType);
    const patches = await deps.limit.map(group, async (minibatch) => {
      const patch = await analyse(minibatch, { ...input, head }, deps);
      together.onProgress(1, 1);
      return patch;
    });
    return patches.filter(saysSomething);
  };
  const groups = { failure: readGroup('failure'), success: readGroup('success') };
  const patches = settleAll([groups.failure, groups.success]).then((both) => both.flat());
  return { patches, groupOf: (sourceType) => groups[sourceType] };
}

const saysSomething = ({ patch, failurePatterns = [], appendixNotes = [] }: RawPatch) =>
  patch.edits.length > 0 || failurePatterns.length > 0 || appendixNotes.length > 0;

/** A function of the results and the seed alone. Attempts that did not load the skill only teach about its description. */
function toMinibatches({ results, minibatchSize, seed, failureOnly = false, policy }: ReflectInput): Minibatch[] {
  const isDescription = policy?.parts.includes('description') ?? false;
  const scored = results.filter((result) => !result.errored && (isDescription || !result.skillUnread));
  const group = (sourceType: SourceType, groupSeed: number) => {
    const members = scored.filter((result) => isFailure(result) === (sourceType === 'failure'));
    return chunk(shuffle(members, groupSeed), minibatchSize).map((minibatch) => ({ sourceType, results: minibatch }));
  };
  return [...group('failure', seed), ...(failureOnly ? [] : group('success', seed + 1))];
}

/** What all analysts read first is written once. */
type AnalystInput = ReflectInput & { readonly head: string };

async function analyse(minibatch: Minibatch, input: AnalystInput, deps: StageDeps): Promise<RawPatch> {
  const { head, mode = 'patch' } = input;
  const { sourceType, results } = minibatch;
  const prompt = modePrompt(sourceType === 'failure' ? 'analyst_error' : 'analyst_success', mode);
  const maxOutputTokens = isFullRewrite(mode) ? deps.rewriteMaxCompletionTokens : undefined;
  const room = await trajectoryRoom({ prompt, head, maxOutputTokens }, deps);
  const { texts, clippedCount } = await clipTrajectories(results, room, deps);
  const read = promptSection(HEADINGS.trajectories, texts.join('\n\n'), `${results.length} ${OUTCOMES[sourceType]}`);
  const user = `${head}\n\n${read}`;
  const suffix = suffixFor(sourceType, input);
  const question = { prompt, suffix, stage: 'analyst', user, schema: analystReply(mode, input.policy) } as const;
  const reply = await ask({ ...question, maxOutputTokens, sampleIndex: input.sampleIndex }, deps);
  const clipped = clippedCount > 0 ? { clippedTrajectories: clippedCount } : {};
  return { ...toRawPatch(reply, minibatch, input), ...clipped, batchSize: results.length };
}

/** Sections that stay the same from call to call come first: providers cache them. */
function writeHead(input: ReflectInput): string {
  const { skill, surroundings = '', memory = noMemory } = input;
  const known = [skillSection(skill), ...policySections(skill, input.policy), ...surroundingsSections(surroundings)];
  const budget = promptSection(HEADINGS.editBudget, budgetLine(input));
  return [...known, ...metaSections(memory), ...stepSections(memory), budget].join('\n\n');
}

function budgetLine({ editBudget, mode = 'patch' }: ReflectInput): string {
  if (isFullRewrite(mode)) return BUDGET_LINES.wholeReplacement;
  if (editBudget === null) return BUDGET_LINES.unlimited;
  return BUDGET_LINES.atMost(editBudget, mode === 'patch' ? 'edit' : 'suggestion');
}

function suffixFor(sourceType: SourceType, { notesFrom = 'nobody', mode = 'patch' }: ReflectInput) {
  if (notesFrom === 'nobody' || isFullRewrite(mode)) return undefined;
  if (sourceType === 'failure') return 'skill_aware_failure' as const;
  return notesFrom === 'both' ? ('skill_aware_success' as const) : undefined;
}

function toRawPatch(reply: AnalystReply | undefined, minibatch: Minibatch, input: ReflectInput) {
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

/** Keeps only the tasks that the analyst has read. */
function toPatterns(reply: AnalystReply | undefined, results: readonly RolloutResult[]): FailurePattern[] {
  const ids = new Set(results.map((result) => result.id));
  return (reply?.failureSummary ?? []).flatMap(({ failureType, description, taskIds }) => {
    const read = [...new Set(taskIds.filter((id) => ids.has(id)))];
    if (failureType === '' || read.length === 0) return [];
    return [{ type: failureType, count: read.length, taskIds: read, ...(description === '' ? {} : { description }) }];
  });
}

/** No edit can have more support than trajectories that the analyst read. */
function withProvenance(edit: UpdateItem, sourceType: SourceType, batchSize: number): UpdateItem {
  return { ...edit, sourceType, supportCount: Math.min(Math.max(edit.supportCount ?? batchSize, 1), batchSize) };
}

/**
 * What the failures of a batch have in common: the patterns that analysts named with their tasks; for other tasks the part of
 * the reason before the first colon. Most frequent first.
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
