import type { ChatModel } from '../../core/contracts/index.ts';
import { redactSecrets } from '../../core/guard/index.ts';
import type { SessionDigest } from '../../transcripts/index.ts';
import { assignSplits, type SplitOptions } from '../splits.ts';
import type { TaskRecord } from '../task-record.ts';
import { dedupeTasks } from './dedupe-tasks.ts';
import { type Dropped, type DropReason, dropCounter } from './dropped.ts';
import { heuristicTask } from './heuristic-miner.ts';
import { groupIntents, type IntentGroup } from './intent-groups.ts';
import { anyChecks, type ValidateChecks } from './mined-task.ts';
import { mineWithModel, type SessionYield } from './model-miner.ts';
import { filterForTarget, type TargetSkill } from './target-filter.ts';

export type MineOptions = SplitOptions & {
  /** Without a model the first request of a session is its task, and nothing measures it. */
  readonly miner: 'heuristic' | ChatModel;
  readonly maxTasks?: number;
  readonly targetSkill?: TargetSkill | undefined;
  readonly preferences?: string | undefined;
  readonly promptOverrides?: { readonly miner?: string | undefined } | undefined;
  /** What the rule judge thinks of a check. */
  readonly validateChecks?: ValidateChecks | undefined;
  /** Whether tasks may need files of the project and tools: otherwise only what can be answered in words is wanted. */
  readonly hasTools?: boolean | undefined;
  /** For what a model proposes, before it becomes a task. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Whether a person said that a task is not wanted. */
  readonly isUnwanted?: ((task: TaskRecord) => boolean) | undefined;
  /** For sessions about which the model gave no usable answer. Those it found nothing in stay without a task. */
  readonly fallback?: 'none' | 'heuristic' | undefined;
  readonly workers?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly onProgress?: ((progress: MineProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type MineProgress = { readonly sessionsDone: number; readonly sessions: number; readonly tasks: number };

export type MineResult = {
  /** Newest session first, or best for the target skill first; each with its split. */
  readonly tasks: readonly TaskRecord[];
  /** What was asked for, over all sessions that gave a task, most often first. */
  readonly groups: readonly IntentGroup[];
  readonly dropped: readonly Dropped[];
  /** For people. */
  readonly notes: readonly string[];
  /** Which limit has ended the search for tasks before all sessions were read, in words. */
  readonly cut?: string | undefined;
};

/** Turns sessions into tasks worth learning from. The order of `digests` does not matter: the newest come first. */
export async function mineTasks(digests: readonly SessionDigest[], options: MineOptions): Promise<MineResult> {
  const { maxTasks = 40, targetSkill } = options;
  const drop = dropCounter();
  const sessions = usable(newestFirst(digests), drop.session);
  const limit = targetSkill === undefined ? maxTasks : 3 * maxTasks;
  const { tasks: all, cut } = await mineSessions(sessions, { ...options, maxTasks: limit }, drop);
  const sightings = all.filter((task) => !options.isUnwanted?.(task));
  drop.tasks('unwanted', all.length - sightings.length);
  const distinct = dedupeTasks(sightings);
  drop.tasks('duplicate', sightings.length - distinct.length);
  const fitting = targetSkill === undefined ? distinct : filterForTarget(distinct, targetSkill);
  drop.tasks('other-skill', distinct.length - fitting.length);
  drop.tasks('over-limit', Math.max(0, fitting.length - maxTasks));
  const chosen = fitting.slice(0, maxTasks);
  const tasks = assignSplits(chosen, options);
  drop.tasks('between-splits', chosen.length - tasks.length);
  const groups = groupIntents(sightings, dayIn(digests));
  return { tasks, groups, dropped: drop.list(), notes: drop.notes(), ...(cut === undefined ? {} : { cut }) };
}

type DropSession = (reason: DropReason, sessionId: string) => void;

function usable(digests: readonly SessionDigest[], drop: DropSession): SessionDigest[] {
  return digests.filter(({ leftOut, userPrompts, sessionId }) => {
    const reason = leftOut ?? (userPrompts.length === 0 ? 'no-prompt' : undefined);
    if (reason !== undefined) drop(reason, sessionId);
    return reason === undefined;
  });
}

/** By end, then by name; those whose end is not known come last. */
function newestFirst(digests: readonly SessionDigest[]): SessionDigest[] {
  const nameOf = ({ source, sessionId }: SessionDigest) => `${source}:${sessionId}`;
  return [...digests].sort((a, b) => compare(b.endedAt, a.endedAt) || compare(nameOf(a), nameOf(b)));
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function dayIn(digests: readonly SessionDigest[]): (sessionId: string) => string {
  const days = new Map(digests.map(({ sessionId, startedAt, endedAt }) => [sessionId, startedAt || endedAt]));
  return (sessionId) => (days.get(sessionId) ?? '').slice(0, 10);
}

type DropCounter = ReturnType<typeof dropCounter>;
type SessionOptions = MineOptions & { readonly maxTasks: number };

async function mineSessions(
  digests: readonly SessionDigest[],
  options: SessionOptions,
  drop: DropCounter,
): Promise<{ readonly tasks: readonly TaskRecord[]; readonly cut?: string | undefined }> {
  options.signal?.throwIfAborted();
  if (options.miner === 'heuristic') return { tasks: digests.flatMap((digest) => mineByRule(digest, drop.session)) };
  const found = await askAbout(digests, options.miner, options);
  const cut = found.map(({ failure }) => failure?.limit).find((limit) => limit !== undefined);
  const untouched = digests.slice(found.length);
  for (const { sessionId } of untouched) drop.session(cut === undefined ? 'over-limit' : 'over-budget', sessionId);
  return { tasks: found.flatMap((one) => tasksOf(one, options.fallback ?? 'none', drop)), cut };
}

function mineByRule(digest: SessionDigest, drop: DropSession): TaskRecord[] {
  const task = heuristicTask(digest);
  if (!task) drop('prompt-too-short', digest.sessionId);
  return task ? [task] : [];
}

function askAbout(digests: readonly SessionDigest[], model: ChatModel, options: SessionOptions) {
  const { maxTasks, preferences, promptOverrides, validateChecks = anyChecks, signal, onProgress } = options;
  const { workers = 4, maxOutputTokens = 2_048, redact = redactSecrets, hasTools = false } = options;
  let [sessionsDone, tasks] = [0, 0];
  const onSession = (found: SessionYield) => {
    sessionsDone += 1;
    tasks += found.tasks.length;
    onProgress?.({ sessionsDone, sessions: digests.length, tasks });
  };
  const settings = { model, maxTasks, validateChecks, redact, preferences, hasTools, prompt: promptOverrides?.miner };
  return mineWithModel(digests, { ...settings, workers, maxOutputTokens, onSession, signal });
}

/** What the model could not answer is counted; only on request does the first prompt stand in for it. */
function tasksOf(found: SessionYield, fallback: 'none' | 'heuristic', drop: DropCounter): readonly TaskRecord[] {
  const { digest, tasks, uncheckable, failure } = found;
  drop.tasks('uncheckable', uncheckable, [digest.sessionId]);
  if (failure && fallback === 'heuristic') {
    drop.reply(failure.reason, digest.sessionId);
    return mineByRule(digest, drop.session);
  }
  if (failure) drop.session(failure.reason, digest.sessionId);
  else if (tasks.length === 0 && uncheckable === 0) drop.session('nothing-to-learn', digest.sessionId);
  return tasks;
}
