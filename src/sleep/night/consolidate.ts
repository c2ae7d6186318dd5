import type { ReplyCache, SkillOptConfigInput } from '../../core/contracts/index.ts';
import type { OpenRunStore, RunStore } from '../../core/run/index.ts';
import { nextError } from '../../core/stats/index.ts';
import { memoryRun } from '../../stores/index.ts';
import type { Documents } from '../replay/replay.ts';
import { type Trained, withLearned } from '../replay/sleep-env.ts';
import type { TaskRecord } from '../task-record.ts';
import {
  type ConsolidationResult,
  refusalsOf,
  scoresOf,
  sortEdits,
  trialOf,
  unreadReply,
} from './consolidation-result.ts';
import type { DocumentNight, NightModels } from './cycle-input.ts';
import { isOutOfBudget, nightBudget } from './night-limits.ts';
import {
  labelOf,
  type OtherSkill,
  planShots,
  type Shot,
  textsByHint,
  toldOthers,
  type UntrainedDocument,
  type Unverified,
  whyUnverified,
} from './shots.ts';
import { type TrainedDocument, trainDocument } from './train-document.ts';

export type ConsolidateOptions = Omit<
  Partial<DocumentNight>,
  'models' | 'tasks' | 'documents' | 'trained' | 'named' | 'skillTexts' | 'store' | 'error' | 'config' | 'notes'
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
  /** Existing skills that are trained besides `skill`; their tasks are not among the given ones. */
  readonly others?: readonly OtherSkill[] | undefined;
  /** The night's share of the error, over all documents. Default: that of a first night. */
  readonly error?: number | undefined;
  /** More settings of the runs: budgets, workers, a seed. */
  readonly config?: SkillOptConfigInput | undefined;
  /** Where the run of a document is kept. Default: in memory. */
  readonly storeOf?: ((trained: Trained, named: string) => RunStore) | undefined;
  /** What analysts should know, by document. */
  readonly notesOf?: ((trained: Trained, named: string) => readonly string[]) | undefined;
};

/**
 * One night over given tasks: the skill is trained, with others that have tasks of their own; then the memory, beside what
 * became of them. Each is one of the night's shots, with a part of its error. What is learned stands in a block of the document; the rest of it is not touched.
 */
export async function consolidate(
  models: NightModels,
  tasks: readonly TaskRecord[],
  skill: string,
  memory: string,
  options: ConsolidateOptions = {},
): Promise<ConsolidationResult> {
  const documents = { skill, memory };
  const { others = [] } = options;
  const { shots, untrained } = planShots(tasks, options);
  const why = untrained[0] ?? whyUnverified(tasks, options);
  if (shots.length === 0 && why !== undefined)
    return nothingVerified(documents, why, others.length > 0 ? untrained : []);
  const budget = options.budget ?? nightBudget(options.config ?? {});
  const trained: TrainedDocument[] = [];
  const notes: string[] = [];
  const stores: RunStore[] = [];
  const texts = new Map(others.map(({ name, text }) => [name, text]));
  let now: Documents = documents;
  let left = errorOf(options);
  for (const [place, shot] of shots.entries()) {
    const error = left === undefined ? undefined : left / (shots.length - place);
    const read = { ...now, skill: texts.get(shot.named) ?? now.skill };
    const night = { ...nightOf(models, shot, options), budget };
    const skillTexts = shot.trained === 'memory' && others.length > 0 ? textsByHint(others, texts) : undefined;
    const store = knowingReplies(night.store, stores);
    const done = await trainDocument({ ...night, store, documents: read, skillTexts, error }).catch((problem) => {
      if (place > 0 && isOutOfBudget(problem)) return problem.message; // what became of the others is a result
      throw problem;
    });
    if (typeof done === 'string') {
      notes.push(`The ${labelOf(shot)} was not tried: ${done}.`);
      break;
    }
    if (done.isTaken && shot.named !== '') texts.set(shot.named, withLearned(read, 'skill', done.block).skill);
    else if (done.isTaken) now = withLearned(now, shot.trained, done.block);
    if (left !== undefined && done.proof) left -= error!;
    trained.push(done);
    stores.push(night.store);
  }
  const result = toResult(documents, now, trained, allTasks(tasks, others), options);
  return { ...result, ...toldOthers(others, texts, untrained), notes: [...trained.flatMap(cutNote), ...notes] };
}

const cutNote = (document: TrainedDocument) =>
  document.cut === undefined
    ? []
    : [`A limit of the night has ended the work at the ${labelOf(document)} early: ${document.cut}.`];

const allTasks = (tasks: readonly TaskRecord[], others: readonly OtherSkill[]) => [
  ...tasks,
  ...others.flatMap(({ tasks: own }) => own),
];

const errorOf = ({ gateMode = 'on', error = nextError([]) }: ConsolidateOptions) =>
  gateMode === 'off' ? undefined : error;

function nightOf(models: NightModels, { trained, named, tasks }: Shot, options: ConsolidateOptions) {
  const { editBudget = 4, gateMetric = 'mixed', gateMixedWeight = 0.5, storeOf = () => memoryRun(), notesOf } = options;
  const config = {
    editBudget: Math.max(1, editBudget),
    minEditBudget: Math.min(2, Math.max(1, editBudget)),
    gateMetric,
    gateMixedWeight,
    ...options.config,
  };
  const own = { store: storeOf(trained, named), notes: notesOf?.(trained, named) ?? [] };
  return { ...options, models, tasks, trained, named, config, ...own };
}

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
  newSkills: {},
  untrained: [],
  refused: [],
  documents: [],
  reflectRaw: '',
  callError: '',
} as const;

function nothingVerified(
  { skill, memory }: Documents,
  { action, note }: Unverified,
  untrained: readonly UntrainedDocument[],
): ConsolidationResult {
  const holdoutLeaked = action === 'reject_unverified';
  const kept = { newSkill: skill, newMemory: memory };
  return { ...nothing, ...kept, accepted: false, gateAction: action, holdoutLeaked, notes: [note], untrained };
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
  const deltas = new Map(trials.flatMap(({ taskDeltas }) => taskDeltas.map((delta) => [delta.id, delta] as const)));
  const scores = isOff ? nothing : scoresOf(trials, documents);
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
        const delta = deltas.get(id);
        return { id, referenceKind, before: delta?.before ?? null, after: delta?.after ?? null };
      }),
    reflectRaw: documents.map(({ state }) => unreadReply(state)).find((text) => text !== '') ?? '',
    gateTrials: trials,
    refused: documents.flatMap(refusalsOf),
    documents,
    notes: [],
  };
}

/** The same store, which also knows what the earlier runs of its night were answered: a question is paid for once a night. */
function knowingReplies(store: RunStore, earlier: readonly RunStore[]): RunStore {
  if (earlier.length === 0) return store;
  return {
    name: store.name,
    read: () => store.read(),
    async open(options) {
      const own = await store.open(options);
      const others: OpenRunStore[] = [];
      for (const one of earlier) others.push(...(await opened(one)));
      const replies = alsoIn(
        own.caches.replies,
        others.map(({ caches }) => caches.replies),
      );
      return {
        ...own,
        caches: { replies, rollouts: own.caches.rollouts },
        async [Symbol.asyncDispose]() {
          for (const one of [...others, own]) await one[Symbol.asyncDispose]();
        },
      };
    },
  };
}

/** One that somebody else has open is done without. */
const opened = (store: RunStore): Promise<OpenRunStore[]> =>
  store.open().then(
    (one) => [one],
    () => [],
  );

function alsoIn(own: ReplyCache, others: readonly ReplyCache[]): ReplyCache {
  return {
    async get(key) {
      for (const cache of [own, ...others]) {
        const text = await cache.get(key);
        if (text !== undefined) return text;
      }
      return undefined;
    },
    set: (key, value, onSafe) => own.set(key, value, onSafe),
    ...(own.mark ? { mark: () => own.mark!() } : {}),
    ...(own.since ? { since: (mark) => own.since!(mark) } : {}),
  };
}
