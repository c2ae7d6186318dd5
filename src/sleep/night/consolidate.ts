import type { SkillOptConfigInput } from '../../core/config.ts';
import type { RunStore } from '../../core/run/run-store.ts';
import { nextError } from '../../core/stats/error-spending.ts';
import { memoryRun } from '../../stores/index.ts';
import type { Documents } from '../replay/attempt.ts';
import { type Trained, withLearned } from '../replay/sleep-env.ts';
import type { TaskRecord } from '../task-record.ts';
import {
  type ConsolidationResult,
  type GateAction,
  refusalsOf,
  sortEdits,
  trialOf,
  unreadReply,
} from './consolidation-result.ts';
import type { DocumentNight, NightModels } from './document-night.ts';
import { withLimitsLeft } from './night-limits.ts';
import { type TrainedDocument, trainDocument } from './train-document.ts';

export type ConsolidateOptions = Omit<
  Partial<DocumentNight>,
  'models' | 'tasks' | 'documents' | 'trained' | 'store' | 'error' | 'config' | 'notes'
> & {
  readonly editBudget?: number | undefined;
  readonly gateMetric?: 'hard' | 'soft' | 'mixed' | undefined;
  readonly gateMixedWeight?: number | undefined;
  /** `off`: every edit is taken, nothing is measured. */
  readonly gateMode?: 'on' | 'off' | undefined;
  readonly evolveSkill?: boolean | undefined;
  readonly evolveMemory?: boolean | undefined;
  /** With fewer tasks held out nothing is tried. Default: 6. */
  readonly leastHeldOut?: number | undefined;
  /** Which night it is. */
  readonly night?: number | undefined;
  /** The night's share of the error, over both documents. Default: that of a first night. */
  readonly error?: number | undefined;
  /** More settings of the runs: budgets, workers, a seed. */
  readonly config?: SkillOptConfigInput | undefined;
  /** Where the run of a document is kept. Default: in memory. */
  readonly storeOf?: ((trained: Trained) => RunStore) | undefined;
  /** What analysts should know, by document. */
  readonly notesOf?: ((trained: Trained) => readonly string[]) | undefined;
};

/**
 * One night over given tasks: the skill is trained, then the memory beside what became of the skill. Each is one of the
 * night's shots, with a part of its error. What is learned stands in a block of the document; the rest of it is not touched.
 */
export async function consolidate(
  models: NightModels,
  tasks: readonly TaskRecord[],
  skill: string,
  memory: string,
  options: ConsolidateOptions = {},
): Promise<ConsolidationResult> {
  const documents = { skill, memory };
  const why = whyUnverified(tasks, options);
  if (why !== undefined) return nothingVerified(documents, why);
  const shots = shotsOf(options);
  const trained: TrainedDocument[] = [];
  let now: Documents = documents;
  let left = errorOf(options);
  for (const [place, shot] of shots.entries()) {
    const error = left === undefined ? undefined : left / (shots.length - place);
    const night = nightOf(models, tasks, shot, options);
    const config = withLimitsLeft(night.config, trained.flatMap(usageOf));
    const done = await trainDocument({ ...night, config, documents: now, error });
    if (done.isTaken) now = withLearned(now, shot, done.block);
    if (left !== undefined && done.proof) left -= error!;
    trained.push(done);
  }
  return toResult(documents, now, trained, tasks, options);
}

const usageOf = ({ summary, proof }: TrainedDocument) => [summary.tokenSummary, proof?.usage ?? {}];

const shotsOf = ({ evolveSkill = true, evolveMemory = true }: ConsolidateOptions): Trained[] => [
  ...(evolveSkill ? (['skill'] as const) : []),
  ...(evolveMemory ? (['memory'] as const) : []),
];

const errorOf = ({ gateMode = 'on', error = nextError([]) }: ConsolidateOptions) =>
  gateMode === 'off' ? undefined : error;

function nightOf(models: NightModels, tasks: readonly TaskRecord[], trained: Trained, options: ConsolidateOptions) {
  const { editBudget = 4, gateMetric = 'mixed', gateMixedWeight = 0.5, storeOf = () => memoryRun(), notesOf } = options;
  const config = {
    editBudget: Math.max(1, editBudget),
    minEditBudget: Math.min(2, Math.max(1, editBudget)),
    gateMetric,
    gateMixedWeight,
    ...options.config,
  };
  return { ...options, models, tasks, trained, config, store: storeOf(trained), notes: notesOf?.(trained) ?? [] };
}

/** What was learned from proves nothing, and what is for the test alone decides nothing. */
function whyUnverified(
  tasks: readonly TaskRecord[],
  { gateMode = 'on', leastHeldOut = LEAST_HELD_OUT }: ConsolidateOptions,
): Unverified | undefined {
  const of = (split: TaskRecord['split']) => tasks.filter((task) => task.split === split);
  const [train, val] = [of('train'), of('val')];
  if (train.length === 0 && val.length === 0) return { action: 'reject', note: 'There is no task to learn from.' };
  const note =
    val.length === 0
      ? 'No task is held out: whatever was learned could not be verified.'
      : 'Every task is held out: there is none to learn from.';
  const learned = new Set(train.flatMap(({ id, derivedFrom }) => [id, derivedFrom]));
  const leaked = val.filter(({ id }) => learned.has(id)).length;
  if (leaked > 0 && val.length > 0)
    return { action: 'reject_unverified', note: `${leaked} held-out tasks are also learned from.` };
  if (train.length === 0 || val.length === 0) return { action: 'reject_unverified', note };
  if (gateMode === 'off' || val.length >= leastHeldOut) return undefined;
  return {
    action: 'reject',
    note: `${val.length} tasks are held out, and ${leastHeldOut} is the least that proves anything.`,
  };
}

/** With fewer tasks a gain says more about which they are than about the change. */
export const LEAST_HELD_OUT = 6;

type Unverified = { readonly action: GateAction; readonly note: string };

const nothing = {
  baselineScore: null,
  candidateScore: null,
  holdoutBaseline: null,
  holdoutCandidate: null,
  appliedEdits: [],
  rejectedEdits: [],
  unmatchedEdits: [],
  holdoutDetail: [],
  gateTrials: [],
  refused: [],
  documents: [],
  reflectRaw: '',
  callError: '',
} as const;

function nothingVerified({ skill, memory }: Documents, { action, note }: Unverified): ConsolidationResult {
  const holdoutLeaked = action === 'reject_unverified';
  const kept = { newSkill: skill, newMemory: memory };
  return { ...nothing, ...kept, accepted: false, gateAction: action, holdoutLeaked, notes: [note] };
}

function toResult(
  before: Documents,
  { skill, memory }: Documents,
  documents: readonly TrainedDocument[],
  tasks: readonly TaskRecord[],
  { gateMode = 'on' }: ConsolidateOptions,
): ConsolidationResult {
  const accepted = documents.some(({ isTaken }) => isTaken);
  const sorted = documents.map(sortEdits);
  const trials = documents.map(trialOf);
  const isOff = gateMode === 'off';
  const scores = isOff ? nothing : scoresOf(trials, documents);
  const last = trials.findLast(({ taskDeltas }) => taskDeltas.length > 0);
  return {
    ...nothing,
    ...scores,
    accepted,
    gateAction: accepted ? (isOff ? 'greedy_applied' : 'accept_new_best') : isOff ? 'greedy_noop' : 'reject',
    newSkill: accepted ? skill : before.skill,
    newMemory: accepted ? memory : before.memory,
    appliedEdits: sorted.flatMap(({ appliedEdits }) => appliedEdits),
    rejectedEdits: sorted.flatMap(({ rejectedEdits }) => rejectedEdits),
    unmatchedEdits: sorted.flatMap(({ unmatchedEdits }) => unmatchedEdits),
    holdoutLeaked: false,
    holdoutDetail: tasks
      .filter(({ split }) => split === 'val')
      .map(({ id, referenceKind }) => {
        const delta = last?.taskDeltas.find((one) => one.id === id);
        return { id, referenceKind, before: delta?.before ?? null, after: delta?.after ?? null };
      }),
    reflectRaw: documents.map(({ state }) => unreadReply(state)).find((text) => text !== '') ?? '',
    gateTrials: trials,
    refused: documents.flatMap(refusalsOf),
    documents,
    notes: [],
  };
}

/** From the first document's baseline to the last one that is taken. */
function scoresOf(trials: ReturnType<typeof trialOf>[], documents: readonly TrainedDocument[]) {
  const baseline = trials[0]?.baselineScore ?? null;
  const taken =
    trials.findLast(({ accepted }) => accepted) ?? trials.findLast(({ candidateScore }) => candidateScore !== null);
  return {
    baselineScore: baseline,
    candidateScore: taken?.candidateScore ?? baseline,
    holdoutBaseline: documents[0]?.state.baseline?.hard ?? null,
    holdoutCandidate: documents.findLast(({ isTaken }) => isTaken)?.summary.bestSelectionHard ?? null,
  };
}
