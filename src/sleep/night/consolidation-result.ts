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
import type { Trained } from '../replay/sleep-env.ts';
import type { TaskRecord } from '../task-record.ts';
import type { UntrainedDocument } from './shots.ts';
import type { TrainedDocument } from './train-document.ts';

/** One held-out task as it is without the candidate: enough to see why a night scored nothing. */
type HoldoutDetail = {
  readonly id: string;
  readonly referenceKind: TaskRecord['referenceKind'];
  readonly before: number | null;
  readonly after: number | null;
};

/** What a night came to for a skill and a memory. Scores are `null` where nothing was measured, never 0. */
export type ConsolidationResult = {
  readonly accepted: boolean;
  readonly gateAction: GateAction;
  readonly baselineScore: number | null;
  readonly candidateScore: number | null;
  readonly newSkill: string;
  readonly newMemory: string;
  /** Of the other skills, by name. */
  readonly newSkills: Readonly<Record<string, string>>;
  /** What could not be put to the test, and why. */
  readonly untrained: readonly UntrainedDocument[];
  readonly appliedEdits: readonly EditRecord[];
  readonly rejectedEdits: readonly EditRecord[];
  readonly holdoutBaseline: number | null;
  readonly holdoutCandidate: number | null;
  readonly holdoutDetail: readonly HoldoutDetail[];
  /** How an optimizer's reply began that could not be read. */
  readonly reflectRaw: string;
  readonly callError: string;
  readonly unmatchedEdits: readonly EditRecord[];
  readonly holdoutLeaked: boolean;
  readonly gateTrials: readonly GateTrial[];
  /** Refused because of what they say or hide, with the reason. */
  readonly refused: readonly { readonly target: Trained; readonly reason: string }[];
  readonly documents: readonly TrainedDocument[];
  readonly notes: readonly string[];
};

const OPS: Readonly<Record<string, string>> = { replace: 'replace', delete: 'delete' };

const toRecord = (target: Trained, { op, target: anchor, content }: TriedEdit): EditRecord => ({
  target,
  op: OPS[op] ?? 'add',
  content,
  anchor,
  rationale: '',
});

type SortedEdits = Pick<ConsolidationResult, 'appliedEdits' | 'rejectedEdits' | 'unmatchedEdits'>;

/** What became of every edit of a document's steps. Where the winner is not taken, what was applied is rejected. */
export function sortEdits({ trained, state, block, isTaken }: TrainedDocument): SortedEdits {
  const of = (pick: (record: StepRecord) => readonly TriedEdit[]) =>
    unique(state.history.flatMap(pick)).map((edit) => toRecord(trained, edit));
  const taken = of((record) => (isAccepted(record.action) ? keptEdits(record).map((at) => record.edits[at]!) : []));
  const kept = taken.filter(({ op, content }) => op === 'delete' || block.includes(content.trim())); // the rest was pruned
  const tried = of((record) => record.edits.filter((_, at) => record.editStatuses[at]?.startsWith('applied')));
  const names = new Set(kept.map(({ content }) => content));
  const lost = tried.filter(({ content }) => !names.has(content));
  const unmatchedEdits = of((record) => record.edits.filter((_, at) => record.editStatuses[at]?.startsWith('skipped')));
  return isTaken
    ? { appliedEdits: kept, rejectedEdits: lost, unmatchedEdits }
    : { appliedEdits: [], rejectedEdits: [...kept, ...lost], unmatchedEdits };
}

const unique = (edits: readonly TriedEdit[]) => [
  ...new Map(edits.map((edit) => [JSON.stringify([edit.op, edit.target, edit.content]), edit])).values(),
];

/** Differences smaller than this are rounding. */
const SAME = 1e-9;

export function trialOf({ trained, named, proof, isTaken, state }: TrainedDocument): GateTrial {
  const statusOf = ({ before, after }: TaskDelta) =>
    Math.abs(after - before) < SAME ? 'unchanged' : after > before ? 'improved' : 'regressed';
  const vetoed = state.history.some(({ verdictReason = '' }) => /regress|worse/.test(verdictReason));
  return {
    target: trained,
    named,
    baselineScore: proof?.before ?? state.baseline?.score ?? null,
    candidateScore: proof?.after ?? null,
    accepted: isTaken,
    blockedByRegression: !isTaken && vetoed,
    pValue: proof?.pValue ?? null,
    error: proof?.error ?? null,
    passes: proof?.passes ?? 0,
    taskDeltas: (proof?.tasks ?? []).map((delta) => ({ ...delta, status: statusOf(delta) })),
  };
}

/** Texts that the search refused, each reason once. */
export const refusalsOf = ({ trained, state }: TrainedDocument) =>
  [...new Set(state.leaks.map(({ reason }) => reason))].map((reason) => ({ target: trained, reason }));

/** How the first unreadable reply of the optimizer began. */
export const unreadReply = ({ answers }: RunState): string =>
  Object.values(answers).find(({ sample = '' }) => sample !== '')?.sample ?? '';

/** From the first document's baseline to the last one that is taken; of documents with tasks of their own, of one of them. */
export function scoresOf(trials: readonly GateTrial[], documents: readonly TrainedDocument[]) {
  const taken =
    trials.findLast(({ accepted }) => accepted) ?? trials.findLast(({ candidateScore }) => candidateScore !== null);
  const first = documents.some(({ named }) => named !== '') && taken ? trials.indexOf(taken) : 0;
  const baseline = trials[first]?.baselineScore ?? null;
  return {
    baselineScore: baseline,
    candidateScore: taken?.candidateScore ?? baseline,
    holdoutBaseline: documents[first]?.state.baseline?.hard ?? null,
    holdoutCandidate: documents.findLast(({ isTaken }) => isTaken)?.summary.bestSelectionHard ?? null,
  };
}

/** No answer of the optimizer could be read, so that nobody has learned from the sessions of the night. */
export const isUnread = ({ documents }: Pick<ConsolidationResult, 'documents'>) =>
  documents.length > 0 && documents.every(({ state }) => isNothingRead(state.answers));
