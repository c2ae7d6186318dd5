import type { EditRecord } from '../../core/document/index.ts';
import {
  isAccepted,
  isNothingRead,
  keptEdits,
  type RunState,
  type StepRecord,
  type TriedEdit,
} from '../../core/run/index.ts';
import type { GateAction, GateTrial, TaskDelta } from '../../report/index.ts';
import type { Documents } from '../replay/replay.ts';
import type { Trained } from '../replay/sleep-env.ts';
import type { TaskRecord, Tasks } from '../task-record.ts';
import type { UntrainedDocument, Unverified } from './shots.ts';
import type { TrainedDocument } from './train-document.ts';

/** The result of a night. Scores are `null` where nothing was measured, never 0. */
export type ConsolidationResult = {
  readonly accepted: boolean;
  readonly gateAction: GateAction;
  readonly baselineScore: number | null;
  readonly candidateScore: number | null;
  readonly newSkill: string;
  readonly newMemory: string;
  readonly newSkills: Readonly<Record<string, string>>;
  /** Documents that could not be put to the test, and why. */
  readonly untrained: readonly UntrainedDocument[];
  readonly appliedEdits: readonly EditRecord[];
  readonly rejectedEdits: readonly EditRecord[];
  readonly holdoutBaseline: number | null;
  readonly holdoutCandidate: number | null;
  readonly holdoutDetail: readonly (Pick<TaskRecord, 'id' | 'referenceKind'> & {
    readonly before: number | null;
    readonly after: number | null;
  })[];
  /** The beginning of an optimizer's reply that could not be read. */
  readonly reflectRaw: string;
  readonly callError: string;
  readonly unmatchedEdits: readonly EditRecord[];
  readonly holdoutLeaked: boolean;
  readonly gateTrials: readonly GateTrial[];
  /** Edits refused for poison or leaked answers, with the reason. */
  readonly refused: readonly { readonly target: Trained; readonly reason: string }[];
  readonly documents: readonly TrainedDocument[];
  readonly notes: readonly string[];
};

const nothing = {
  ...{ baselineScore: null, candidateScore: null, holdoutBaseline: null, holdoutCandidate: null },
  ...{ appliedEdits: [], rejectedEdits: [], unmatchedEdits: [], refused: [], reflectRaw: '', callError: '' },
  ...{ holdoutDetail: [], gateTrials: [], newSkills: {}, untrained: [], documents: [], notes: [] },
  holdoutLeaked: false,
} as const;

export function nothingVerified(
  { skill, memory }: Documents,
  { action, note }: Unverified,
  untrained: readonly UntrainedDocument[],
): ConsolidationResult {
  const holdoutLeaked = action === 'reject_unverified';
  const kept = { newSkill: skill, newMemory: memory };
  return { ...nothing, ...kept, accepted: false, gateAction: action, holdoutLeaked, notes: [note], untrained };
}

type TrainedNight = {
  readonly before: Documents;
  readonly after: Documents;
  readonly documents: readonly TrainedDocument[];
  readonly tasks: Tasks;
  readonly gateMode: 'on' | 'off';
};

export function toResult({ before, after, documents, tasks, gateMode }: TrainedNight): ConsolidationResult {
  const accepted = documents.some(({ isTaken }) => isTaken);
  const { skill, memory } = accepted ? after : before;
  const sorted = documents.map(sortEdits);
  const gateTrials = documents.map(trialOf);
  const [yes, no] = gateMode === 'off' ? GREEDY : GATED;
  return {
    ...nothing,
    ...(gateMode === 'off' ? {} : scoresOf(gateTrials, documents)),
    ...{ accepted, gateAction: accepted ? yes : no, newSkill: skill, newMemory: memory },
    appliedEdits: sorted.flatMap(({ appliedEdits }) => appliedEdits),
    rejectedEdits: sorted.flatMap(({ rejectedEdits }) => rejectedEdits),
    unmatchedEdits: sorted.flatMap(({ unmatchedEdits }) => unmatchedEdits),
    holdoutDetail: holdoutDetailOf(tasks, gateTrials),
    reflectRaw: documents.map(({ state }) => unreadReply(state)).find((text) => text !== '') ?? '',
    gateTrials,
    refused: documents.flatMap(refusalsOf),
    documents,
  };
}

const GREEDY = ['greedy_applied', 'greedy_noop'] as const;
const GATED = ['accept_new_best', 'reject'] as const;

function holdoutDetailOf(tasks: Tasks, trials: readonly GateTrial[]) {
  const deltas = new Map(trials.flatMap(({ taskDeltas }) => taskDeltas.map((delta) => [delta.id, delta] as const)));
  const held = tasks.filter(({ split }) => split === 'val');
  return held.map(({ id, referenceKind }) => {
    const delta = deltas.get(id);
    return { id, referenceKind, before: delta?.before ?? null, after: delta?.after ?? null };
  });
}

type SortedEdits = Pick<ConsolidationResult, 'appliedEdits' | 'rejectedEdits' | 'unmatchedEdits'>;

/** All edits of a document's steps. If the winner is not taken, applied edits count as rejected. */
export function sortEdits({ trained, state, block, isTaken }: TrainedDocument): SortedEdits {
  const of = (pick: (record: StepRecord) => readonly TriedEdit[]) =>
    unique(state.history.flatMap(pick)).map((edit) => toRecord(trained, edit));
  const withStatus = (start: string) =>
    of((record) => record.edits.filter((_, at) => record.editStatuses[at]?.startsWith(start)));
  const taken = of((record) => (isAccepted(record.action) ? keptEdits(record).map((at) => record.edits[at]!) : []));
  const kept = taken.filter(({ op, content }) => op === 'delete' || block.includes(content.trim())); // the rest was pruned
  const names = new Set(kept.map(({ content }) => content));
  const lost = withStatus('applied').filter(({ content }) => !names.has(content));
  const unmatchedEdits = withStatus('skipped');
  return isTaken
    ? { appliedEdits: kept, rejectedEdits: lost, unmatchedEdits }
    : { appliedEdits: [], rejectedEdits: [...kept, ...lost], unmatchedEdits };
}

const unique = (edits: readonly TriedEdit[]) => [
  ...new Map(edits.map((edit) => [JSON.stringify([edit.op, edit.target, edit.content]), edit])).values(),
];

function toRecord(target: Trained, { op, target: anchor, content }: TriedEdit): EditRecord {
  return { target, op: op === 'replace' || op === 'delete' ? op : 'add', content, anchor, rationale: '' };
}

/** Differences smaller than this are rounding. */
const SAME = 1e-9;

function trialOf({ trained, named, proof, isTaken, state }: TrainedDocument): GateTrial {
  const statusOf = ({ before, after }: TaskDelta) =>
    Math.abs(after - before) < SAME ? 'unchanged' : after > before ? 'improved' : 'regressed';
  const vetoed = state.history.some(({ verdictReason = '' }) => /regress|worse/.test(verdictReason));
  return {
    ...{ target: trained, named, accepted: isTaken, blockedByRegression: !isTaken && vetoed },
    baselineScore: proof?.before ?? state.baseline?.score ?? null,
    candidateScore: proof?.after ?? null,
    pValue: proof?.pValue ?? null,
    error: proof?.error ?? null,
    passes: proof?.passes ?? 0,
    taskDeltas: (proof?.tasks ?? []).map((delta) => ({ ...delta, status: statusOf(delta) })),
  };
}

const refusalsOf = ({ trained, state }: TrainedDocument) =>
  [...new Set(state.leaks.map(({ reason }) => reason))].map((reason) => ({ target: trained, reason }));

export const unreadReply = ({ answers }: RunState): string =>
  Object.values(answers).find(({ sample = '' }) => sample !== '')?.sample ?? '';

/** From the baseline of the first document that is taken to the last one; if skills have tasks of their own, of one of them. */
function scoresOf(trials: readonly GateTrial[], documents: readonly TrainedDocument[]) {
  const taken =
    trials.findLast(({ accepted }) => accepted) ?? trials.findLast(({ candidateScore }) => candidateScore !== null);
  const isOfOne = documents.some(({ named }) => named !== '') || !taken?.accepted;
  const first = Math.max(0, isOfOne ? trials.indexOf(taken!) : trials.findIndex(({ accepted }) => accepted));
  const baselineScore = trials[first]?.baselineScore ?? null;
  return {
    baselineScore,
    candidateScore: taken?.candidateScore ?? baselineScore,
    holdoutBaseline: documents[first]?.state.baseline?.hard ?? null,
    holdoutCandidate: documents.findLast(({ isTaken }) => isTaken)?.summary.bestSelectionHard ?? null,
  };
}

/** No reply of the optimizer could be read: nothing was learned from the sessions of the night. */
export const isUnread = ({ documents }: Pick<ConsolidationResult, 'documents'>) =>
  documents.length > 0 && documents.every(({ state }) => isNothingRead(state.answers));
