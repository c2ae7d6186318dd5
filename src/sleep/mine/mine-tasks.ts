import type { ChatModel } from '../../core/contracts/index.ts';
import { redactSecrets } from '../../core/guard/index.ts';
import { type Similar, SimilarityIndex, STOP_WORDS, splitWords, type Words } from '../../core/text/index.ts';
import type { LeftOut, SessionDigest } from '../../transcripts/index.ts';
import { assignSplits, dedupeTasks, type SplitOptions } from '../splits.ts';
import type { TaskRecord } from '../task-record.ts';
import { heuristicTask } from './heuristic-miner.ts';
import { anyChecks, mineWithModel, type SessionYield, type ValidateChecks } from './model-miner.ts';
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

/** Why a session or a task is not in the list, in words for people. */
const REASONS = {
  'no-prompt': 'nobody asked for anything',
  'own-call': 'it was a call of our own',
  'sub-agent': 'a sub-agent talked, not a person',
  headless: 'a program talked, not a person',
  'asked-not-to': 'the person said that nothing shall be learned from it',
  'prompt-too-short': 'the first request is too short',
  'nothing-to-learn': 'the miner found nothing that will be wanted again',
  uncheckable: 'nothing could measure an answer',
  'unreadable-reply': "the miner's reply could not be read, twice",
  'call-failed': 'the miner gave no answer',
  'over-budget': 'the part of the limits that is for finding tasks was used up; another night reads it',
  unwanted: 'it is named in a .skilloptignore',
  duplicate: 'it was asked in several sessions and is one task',
  'other-skill': 'it is not what the target skill is about',
  'over-limit': 'there are enough tasks for a night',
  'between-splits': 'it is nearly the same as a task that was learned from and as one that was held out',
} as const satisfies Record<LeftOut, string> & Record<string, string>;

export type DropReason = keyof typeof REASONS;

export type Dropped = {
  readonly reason: DropReason;
  /** A `reply` is one for which the first request of its session stands in. */
  readonly what: 'session' | 'task' | 'reply';
  readonly count: number;
  /** In words for people. */
  readonly why: string;
  /** Where it is known from which. */
  readonly sessionIds: readonly string[];
};

/** Counts what does not become a task, so that nothing gets lost unseen. */
function dropCounter() {
  const counted = new Map<string, Dropped>();
  const count = (what: Dropped['what'], reason: DropReason, more: number, sessionIds: readonly string[]) => {
    if (more === 0) return;
    const before = counted.get(`${what} ${reason}`);
    const sessions = [...(before?.sessionIds ?? []), ...sessionIds];
    const sum = (before?.count ?? 0) + more;
    counted.set(`${what} ${reason}`, { reason, what, count: sum, why: REASONS[reason], sessionIds: sessions });
  };
  return {
    session: (reason: DropReason, sessionId: string) => count('session', reason, 1, [sessionId]),
    reply: (reason: DropReason, sessionId: string) => count('reply', reason, 1, [sessionId]),
    tasks: (reason: DropReason, more: number, sessionIds: readonly string[] = []) =>
      count('task', reason, more, sessionIds),
    list: () => [...counted.values()],
    notes: () => [...counted.values()].map(toNote),
  };
}

function toNote({ count, what, why }: Dropped): string {
  const [one, many] = what === 'reply' ? ['reply', 'replies'] : [what, `${what}s`];
  const fate = what === 'reply' ? 'replaced by the first request' : 'left out';
  return `${count} ${count === 1 ? one : many} ${fate}: ${why}`;
}

/** Intents that share half of their telling words are one habit. Looser than a near-duplicate: this is for people to read. */
const SAME_INTENT = 0.5;

/** What a person asks for again and again. */
export type IntentGroup = {
  /** In the words of the first task. */
  readonly intent: string;
  readonly taskIds: readonly string[];
  readonly sessionIds: readonly string[];
  /** The days on which it was asked, such as `2026-01-31`, earliest first. */
  readonly dates: readonly string[];
};

/** Most sessions first. `dayOf`: when a session was; empty when that is not known. */
function groupIntents(tasks: readonly TaskRecord[], dayOf: (sessionId: string) => string): IntentGroup[] {
  const groups = clusters(tasks).map((members): IntentGroup => {
    const sessionIds = [...new Set(members.flatMap(({ sourceSessions }) => sourceSessions))];
    const dates = new Set(sessionIds.map(dayOf).filter((day) => day !== ''));
    const taskIds = [...new Set(members.map(({ id }) => id))];
    return { intent: members[0]!.intent, taskIds, sessionIds, dates: [...dates].sort() };
  });
  return groups.sort((a, b) => b.sessionIds.length - a.sessionIds.length);
}

/** Each task joins the group whose first member is most like it, so that no chain of small steps joins what differs. */
function clusters(tasks: readonly TaskRecord[]): TaskRecord[][] {
  const index = new SimilarityIndex(SAME_INTENT);
  const groups: TaskRecord[][] = [];
  for (const task of tasks) {
    const words = tellingWords(task.intent);
    const nearest = nearestOf(index.similarTo(words));
    if (nearest !== undefined) groups[nearest.number]!.push(task);
    else {
      groups.push([task]);
      index.add(words);
    }
  }
  return groups;
}

function nearestOf(similar: readonly Similar[]): Similar | undefined {
  return [...similar].sort((a, b) => b.similarity - a.similarity || a.number - b.number)[0];
}

/** Without what stands in any sentence; numbers are all alike, since the habit is the same for issue 7 and issue 8. */
function tellingWords(text: string): Words {
  const words = splitWords(text.replace(/\p{N}+/gu, '0'));
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return new Set(telling.length > 0 ? telling : words);
}
