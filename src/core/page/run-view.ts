import type { ItemScore } from '../contracts/index.ts';
import { type Cost, emptyRun, type GateDecision, type RunState } from '../run/index.ts';
import type { Interval } from '../stats/index.ts';
import { listWith, listWithAt, objectWith } from '../text/index.ts';
import { type AttemptList, markOf, type Split } from './attempts.ts';

/** A text that a run has made, and what became of it. */
export type SkillVersion = {
  readonly index: number;
  readonly hash: string;
  /** `null` where only its score was kept. */
  readonly skill: string | null;
  /** `part` of a rejected patch, the skill `shorter` by something, `guidance` of an epoch, the `pruned` winner. */
  readonly kind: 'initial' | 'candidate' | 'part' | 'shorter' | 'guidance' | 'pruned';
  /** Index of the version that it was made from. */
  readonly parent: number | null;
  /** The step, or the epoch of guidance. */
  readonly step: number;
  readonly fate: 'start' | 'pending' | 'accepted' | 'rejected' | 'undecided' | 'invalid';
  /** `null` when it was not measured. */
  readonly score: number | null;
  readonly scoreBefore: number | null;
  readonly reason?: string | undefined;
  readonly decision?: GateDecision | undefined;
  /** Validation tasks that it met. */
  readonly met: number;
};

/** Where a run stood after a step. */
export type CurvePoint = Pick<Cost, 'calls' | 'tokens' | 'costUsd'> & {
  readonly step: number;
  readonly best: number;
  readonly current: number;
  /** About the score of the current skill: the noise of its attempts. */
  readonly band: Interval;
  /** Score of the step's candidate; `null` when it was not measured. */
  readonly candidate: number | null;
  readonly fate: SkillVersion['fate'] | 'skipped';
};

type TaskName = { readonly id: string; readonly split: Split };

/** A run as a page shows it: a fold of its journal. */
export type RunView = {
  /** Lines of the journal. */
  readonly lines: number;
  readonly state: RunState;
  readonly tasks: readonly TaskName[];
  readonly taskIndex: ReadonlyMap<string, number>;
  readonly versions: readonly SkillVersion[];
  readonly attempts: readonly AttemptList[];
  readonly curve: readonly CurvePoint[];
  /** Indexes of versions. */
  readonly current: number;
  readonly best: number;
};

export const noView: RunView = {
  lines: 0,
  state: emptyRun,
  tasks: [],
  taskIndex: new Map(),
  versions: [],
  attempts: [],
  curve: [],
  current: 0,
  best: 0,
};

export function addVersion(view: RunView, version: Omit<SkillVersion, 'index'>): RunView {
  return objectWith(view, { versions: listWith(view.versions, { index: view.versions.length, ...version }) });
}

export function changeVersion(view: RunView, index: number, change: Partial<SkillVersion>): RunView {
  return objectWith(view, { versions: listWithAt(view.versions, index, { ...view.versions[index]!, ...change }) });
}

export function addAttempts(
  view: RunView,
  list: Pick<AttemptList, 'version' | 'split' | 'part'>,
  scores: readonly ItemScore[],
): RunView {
  const { config } = view.state;
  if (scores.length === 0 || config === undefined) return view;
  const named = nameTasks(view, scores, list.split);
  const { tasks, marks } = inOrder(scores, (score) => 256 * named.taskIndex.get(score.id)! + markOf(score, config));
  const added = { ...list, tasks: shared(tasks, view.attempts), marks };
  const first = list.split === 'test' ? view.attempts.find((one) => isSameTest(one, added)) : undefined;
  const row = first ? { ...added, sameAs: first.part } : added;
  return objectWith(named, { attempts: listWith(named.attempts, row) });
}

/** Equal texts are tested once: under a second name they have the same attempts. */
const isSameTest = (one: AttemptList, other: AttemptList) =>
  one.split === 'test' &&
  one.version === other.version &&
  one.tasks === other.tasks &&
  areEqual(one.marks, other.marks);

/** Sorted as numbers that hold both, the task and its mark: a pass may have ten thousand tasks. */
function inOrder(scores: readonly ItemScore[], keyOf: (score: ItemScore) => number) {
  const [keys, tasks, marks] = [
    new Float64Array(scores.length),
    new Uint32Array(scores.length),
    new Uint8Array(scores.length),
  ];
  for (let place = 0; place < scores.length; place += 1) keys[place] = keyOf(scores[place]!);
  keys.sort();
  for (let place = 0; place < scores.length; place += 1) {
    tasks[place] = keys[place]! / 256;
    marks[place] = keys[place]! % 256;
  }
  return { tasks, marks };
}

/** Tasks are named once, in the order in which they were met. */
function nameTasks(view: RunView, scores: readonly ItemScore[], split: Split): RunView {
  if (scores.every(({ id }) => view.taskIndex.has(id))) return view;
  const taskIndex = new Map(view.taskIndex);
  for (const { id } of scores) if (!taskIndex.has(id)) taskIndex.set(id, taskIndex.size);
  const tasks = [...taskIndex.keys()].slice(view.tasks.length).map((id) => ({ id, split }));
  return { ...view, taskIndex, tasks: [...view.tasks, ...tasks] };
}

/** Whole passes meet the same tasks: their list is kept once. */
function shared(tasks: Uint32Array, lists: readonly AttemptList[]): Uint32Array {
  const same = lists.findLast((list) => list.tasks.length === tasks.length)?.tasks;
  return same && areEqual(same, tasks) ? same : tasks;
}

const areEqual = <List extends Uint8Array | Uint32Array>(one: List, other: List) =>
  one.length === other.length && one.every((value: number, index: number) => value === other[index]);
