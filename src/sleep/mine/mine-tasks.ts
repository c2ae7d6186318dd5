import { basename, dirname, extname } from 'node:path';
import type { ChatModel } from '../../core/contracts/index.ts';
import { plural, SimilarityIndex, STOP_WORDS, splitWords, type Words } from '../../core/text/index.ts';
import type { LeftOut, SessionDigest } from '../../transcripts/index.ts';
import { assignSplits, dedupeTasks, type SplitOptions } from '../splits.ts';
import { followUpsOf, type TaskRecord, type Tasks } from '../task-record.ts';
import { heuristicTask, readSkillHint } from './heuristic-miner.ts';
import { type MinerSettings, mineWithModel, type SessionYield } from './model-miner.ts';

export type MineOptions = SplitOptions &
  MinerSettings & {
    /** Without a model the first request of a session is its task. */
    readonly miner: 'heuristic' | ChatModel;
    readonly maxTasks?: number;
    readonly targetSkill?: TargetSkill | undefined;
    readonly isUnwanted?: ((task: TaskRecord) => boolean) | undefined;
    /** For sessions about which the model gave no usable answer. Those it found nothing in stay without a task. */
    readonly fallback?: 'none' | 'heuristic' | undefined;
    readonly onProgress?: ((progress: MineProgress) => void) | undefined;
  };

export type MineProgress = { readonly sessionsDone: number; readonly sessions: number; readonly tasks: number };

export type MineResult = {
  /** Newest session first, or best for the target skill first; each with its split. */
  readonly tasks: Tasks;
  readonly groups: readonly IntentGroup[];
  readonly dropped: readonly Dropped[];
  readonly notes: readonly string[];
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
  return { tasks, groups, dropped: drop.list(), notes: drop.notes(), cut };
}

type DropSession = (reason: DropReason, sessionId: string) => void;

function usable(digests: readonly SessionDigest[], drop: DropSession): SessionDigest[] {
  return digests.filter(({ leftOut, userPrompts, sessionId }) => {
    const reason = leftOut ?? (userPrompts.length === 0 ? 'no-prompt' : undefined);
    if (reason !== undefined) drop(reason, sessionId);
    return reason === undefined;
  });
}

/** By end, then by name; sessions without a known end come last. */
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

async function mineSessions(
  digests: readonly SessionDigest[],
  options: MineOptions & { readonly maxTasks: number },
  drop: DropCounter,
): Promise<{ readonly tasks: Tasks; readonly cut?: string | undefined }> {
  const { miner: model, onProgress, signal } = options;
  signal?.throwIfAborted();
  if (model === 'heuristic') return { tasks: digests.flatMap((digest) => mineByRule(digest, drop.session)) };
  let [sessionsDone, tasks] = [0, 0];
  const onSession = (found: SessionYield) => {
    sessionsDone += 1;
    tasks += found.tasks.length;
    onProgress?.({ sessionsDone, sessions: digests.length, tasks });
  };
  const found = await mineWithModel(digests, { ...options, model, onSession });
  const cut = found.map(({ failure }) => failure?.limit).find((limit) => limit !== undefined);
  for (const { sessionId } of digests.slice(found.length))
    drop.session(cut === undefined ? 'over-limit' : 'over-budget', sessionId);
  return { tasks: found.flatMap((one) => tasksOf(one, options.fallback ?? 'none', drop)), cut };
}

function mineByRule(digest: SessionDigest, drop: DropSession): TaskRecord[] {
  const task = heuristicTask(digest);
  if (!task) drop('prompt-too-short', digest.sessionId);
  return task ? [task] : [];
}

/** A session without a usable answer is counted; with `fallback` its first prompt becomes the task. */
function tasksOf(found: SessionYield, fallback: 'none' | 'heuristic', drop: DropCounter): Tasks {
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

const REASONS = {
  'no-prompt': 'nobody asked for anything',
  'own-call': 'it was a call of our own',
  'sub-agent': 'a sub-agent talked, not a person',
  headless: 'a program talked, not a person',
  'asked-not-to': 'the person asked that nothing be learned from it',
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
  /** `reply`: the first request of its session takes its place. */
  readonly what: 'session' | 'task' | 'reply';
  readonly count: number;
  readonly why: string;
  readonly sessionIds: readonly string[];
};

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
  if (what === 'reply') return `${plural(count, what, 'replies')} replaced by the first request: ${why}`;
  return `${plural(count, what)} left out: ${why}`;
}

/** Intents that share half of their words are one habit. Looser than a near-duplicate: people read these groups. */
const SAME_INTENT = 0.5;

export type IntentGroup = {
  readonly intent: string;
  readonly taskIds: readonly string[];
  readonly sessionIds: readonly string[];
  /** The days on which it was asked, such as `2026-01-31`, earliest first. */
  readonly dates: readonly string[];
};

function groupIntents(tasks: Tasks, dayOf: (sessionId: string) => string): IntentGroup[] {
  const groups = clusters(tasks).map((members): IntentGroup => {
    const sessionIds = [...new Set(members.flatMap(({ sourceSessions }) => sourceSessions))];
    const dates = new Set(sessionIds.map(dayOf).filter((day) => day !== ''));
    const taskIds = [...new Set(members.map(({ id }) => id))];
    return { intent: members[0]!.intent, taskIds, sessionIds, dates: [...dates].sort() };
  });
  return groups.sort((a, b) => b.sessionIds.length - a.sessionIds.length);
}

/** Each task joins the group whose first member is most like it: chains of small steps do not join different tasks. */
function clusters(tasks: Tasks): TaskRecord[][] {
  const index = new SimilarityIndex(SAME_INTENT);
  const groups: TaskRecord[][] = [];
  for (const task of tasks) {
    const words = tellingWords(task.intent);
    const similar = index.similarTo(words);
    const [nearest] = similar.toSorted((a, b) => b.similarity - a.similarity || a.number - b.number);
    if (nearest !== undefined) groups[nearest.number]!.push(task);
    else {
      groups.push([task]);
      index.add(words);
    }
  }
  return groups;
}

/** Without stop words. Numbers are all alike: the habit is the same for issue 7 and issue 8. */
function tellingWords(text: string): Words {
  const words = splitWords(text.replace(/\p{N}+/gu, '0'));
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return new Set(telling.length > 0 ? telling : words);
}

export type TargetSkill = { readonly path: string; readonly text: string };

const MOST_COMMON = 180;
const MOST_READ = 200_000;
const TOKEN = /[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+)*/gu;

const COMMON = new Set('skill skills file files task tasks user please should must will your you use using'.split(' '));

/** Tasks that share a word with the skill's name or headings, or two with its text, best first; all tasks if none does. */
export function filterForTarget(tasks: Tasks, skill: TargetSkill): TaskRecord[] {
  if (skill.text.trim() === '') return [...tasks];
  const name = documentName(skill.path);
  const headings = skill.text.match(/^ {0,3}#{1,6}[ \t].*$/gm) ?? [];
  const strongWords = new Set(tokensOf([name, ...headings].join('\n')));
  const weakWords = new Set([...strongWords, ...mostCommon(tokensOf(skill.text))]);
  const scored = tasks.map((task) => {
    const tokens = [...new Set(tokensOf([task.intent, task.contextExcerpt, followUpsOf(task)].join('\n')))];
    const isDoneWithIt = readSkillHint(task.skillHint)?.skill === name;
    const strong = tokens.filter((token) => strongWords.has(token)).length + Number(isDoneWithIt);
    const weak = tokens.filter((token) => weakWords.has(token)).length;
    return { task, isFitting: strong >= 1 || weak >= 2, score: 3 * strong + weak };
  });
  const best = scored.filter(({ isFitting }) => isFitting).sort((a, b) => b.score - a.score);
  return best.length === 0 ? [...tasks] : best.map(({ task }) => task);
}

/** A skill is named by its folder, another document by its file. */
function documentName(path: string): string {
  const name = basename(path, extname(path));
  return name.toLowerCase() === 'skill' ? basename(dirname(path)) : name;
}

/** Words of at least three letters that are not numbers; compound words with their parts. */
function tokensOf(text: string): string[] {
  const tokens = text.slice(0, MOST_READ).normalize('NFKC').toLowerCase().match(TOKEN) ?? [];
  const parts = tokens.flatMap((token) => (/[-_]/.test(token) ? [token, ...token.split(/[-_]/)] : [token]));
  return parts.filter((part) => isTelling(part) && !STOP_WORDS.has(part) && !COMMON.has(part));
}

const isTelling = (token: string) => [...token].length >= 3 && !/^[\p{N}_-]+$/u.test(token);

function mostCommon(tokens: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  const ranked = [...counts].sort((a, b) => b[1] - a[1]);
  return ranked.slice(0, MOST_COMMON).map(([token]) => token);
}
