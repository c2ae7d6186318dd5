import type { EditReport } from './apply-edit.ts';
import type { SkillOptConfig } from './config.ts';
import type { Edit } from './edit.ts';
import { noStageUsage, type RunEvent, type Stage, type StageUsage, type StepAction } from './event.ts';
import type { Bucket, Evaluation } from './score.ts';
import { bucketScores } from './score.ts';
import { skillHash } from './skill-hash.ts';

type ScoredSkill = {
  readonly skill: string;
  readonly hash: string;
  readonly score: number;
  readonly step: number;
};

/** One finished step: what `history.json` holds. */
export type StepRecord = {
  readonly step: number;
  readonly epoch: number;
  readonly stepInEpoch: number;
  readonly action: StepAction;
  readonly editBudget: number;
  readonly rolloutHard: number;
  readonly rolloutSoft: number;
  readonly rolloutN: number;
  readonly nPatches: number;
  readonly nFailurePatches: number;
  readonly nSuccessPatches: number;
  readonly nEditsMerged: number;
  readonly nEditsRanked: number;
  readonly supportCounts: readonly number[];
  readonly candidateHash: string;
  readonly candidateSkillLen: number;
  readonly edits: readonly Pick<Edit, 'op' | 'target' | 'content'>[];
  readonly editStatuses: readonly EditReport['status'][];
  readonly selectionHard: number | null;
  readonly selectionSoft: number | null;
  readonly candidateGateScore: number;
  readonly currentScore: number;
  readonly bestScore: number;
  readonly bestStep: number;
  readonly skillLen: number;
  readonly timing: Readonly<Partial<Record<Stage, number>>>;
  readonly tokens: Readonly<Record<string, StageUsage>>;
  readonly wallTimeS: number;
};

export type TestReport = {
  readonly hard: number;
  readonly soft: number;
  readonly n: number;
  readonly buckets: Readonly<Record<string, Bucket>>;
};

/** A step on its way: stage by stage, what the record will be made of. */
type StepDraft = Partial<StepRecord> & { readonly candidateSkill?: string };

export type RunState = {
  readonly config: SkillOptConfig | undefined;
  readonly totalSteps: number;
  readonly items: Readonly<Record<string, number>>;
  readonly initialSkill: string;
  readonly current: ScoredSkill;
  readonly best: ScoredSkill;
  readonly baseline: { readonly hard: number; readonly soft: number; readonly score: number } | undefined;
  readonly stepsDone: number;
  readonly draft: StepDraft;
  readonly history: readonly StepRecord[];
  /** Validation scores by skill hash, so that no text is measured twice. */
  readonly evaluations: Readonly<Record<string, { readonly hard: number; readonly soft: number }>>;
  readonly tests: { readonly baseline?: TestReport; readonly best?: TestReport };
  readonly usage: Readonly<Record<string, StageUsage>>;
  readonly startedAt: string;
  readonly wallTimeMs: number;
  readonly isDone: boolean;
};

const unscored: ScoredSkill = { skill: '', hash: '', score: 0, step: 0 };

/** A run before its first event. */
export const emptyRun: RunState = {
  config: undefined,
  totalSteps: 0,
  items: {},
  initialSkill: '',
  current: unscored,
  best: unscored,
  baseline: undefined,
  stepsDone: 0,
  draft: {},
  history: [],
  evaluations: {},
  tests: {},
  usage: {},
  startedAt: '',
  wallTimeMs: 0,
  isDone: false,
};

/** The only place where a run's state changes. Resuming a run is folding this over its journal. */
export function reduce(before: RunState, event: RunEvent): RunState {
  const state = {
    ...before,
    usage: addStageUsage(before.usage, event.usage),
    wallTimeMs: before.wallTimeMs + event.ms,
  };
  switch (event.type) {
    case 'run-start': {
      const { config, initialSkill, totalSteps, items, at } = event;
      const seed = { ...unscored, skill: initialSkill, hash: skillHash(initialSkill) };
      return { ...state, config, initialSkill, totalSteps, items, current: seed, best: seed, startedAt: at };
    }
    case 'baseline-end': {
      const { evaluation, score } = event;
      const seed = { ...state.current, score };
      const baseline = { hard: evaluation.hard, soft: evaluation.soft, score };
      return remember({ ...state, current: seed, best: seed, baseline }, seed.hash, evaluation);
    }
    case 'step-start': {
      const { step, epoch, stepInEpoch, editBudget, itemIds } = event;
      return {
        ...state,
        draft: { step, epoch, stepInEpoch, editBudget, rolloutN: itemIds.length, timing: {}, tokens: {} },
      };
    }
    case 'stage-end':
      return reduceStage(clock(state, event), event);
    case 'step-end':
      return endStep(state, event.action);
    case 'test-end': {
      const { evaluation, subject, taskTypes } = event;
      const buckets = bucketScores(evaluation.scores, taskTypes);
      const report = { hard: evaluation.hard, soft: evaluation.soft, n: evaluation.scores.length, buckets };
      return { ...state, tests: { ...state.tests, [subject]: report } };
    }
    case 'run-end':
      return { ...state, isDone: true };
    default:
      event satisfies never;
      return state; // an event of a later version: nothing that this one knows about
  }
}

type StageEnd = Extract<RunEvent, { type: 'stage-end' }>;

function reduceStage(state: RunState, event: StageEnd): RunState {
  const draft = (fields: StepDraft): RunState => ({ ...state, draft: { ...state.draft, ...fields } });
  switch (event.stage) {
    case 'rollout':
      return draft({ rolloutHard: event.evaluation.hard, rolloutSoft: event.evaluation.soft });
    case 'reflect': {
      const nFailurePatches = event.patches.filter((patch) => patch.sourceType === 'failure').length;
      const nPatches = event.patches.length;
      return draft({ nPatches, nFailurePatches, nSuccessPatches: nPatches - nFailurePatches });
    }
    case 'aggregate':
      return draft({ nEditsMerged: event.patch.edits.length });
    case 'select': {
      const edits = event.patch.edits.map(({ op, target, content }) => ({ op, target, content }));
      const supportCounts = event.patch.edits.map((edit) => edit.supportCount ?? 0);
      return draft({ nEditsRanked: edits.length, edits, supportCounts });
    }
    case 'update': {
      const { candidateSkill, candidateHash, report } = event;
      const editStatuses = report.map((row) => row.status);
      return draft({ candidateSkill, candidateHash, candidateSkillLen: candidateSkill.length, editStatuses });
    }
    case 'evaluate': {
      const { evaluation, score } = event;
      const known = evaluation ? remember(state, state.draft.candidateHash ?? '', evaluation) : state;
      const { hard = null, soft = null } = known.evaluations[state.draft.candidateHash ?? ''] ?? {};
      return {
        ...known,
        draft: { ...state.draft, selectionHard: hard, selectionSoft: soft, candidateGateScore: score },
      };
    }
    default:
      event satisfies never;
      return state;
  }
}

function endStep(state: RunState, action: StepAction): RunState {
  const { candidateSkill = state.current.skill, ...draft } = state.draft;
  const step = draft.step ?? state.stepsDone + 1;
  const candidate = {
    skill: candidateSkill,
    hash: draft.candidateHash ?? '',
    score: draft.candidateGateScore ?? 0,
    step,
  };
  const current = isAccepted(action) ? candidate : state.current;
  const best = action === 'accept_new_best' ? candidate : state.best;
  const record = {
    ...draft,
    action,
    currentScore: current.score,
    bestScore: best.score,
    bestStep: best.step,
    skillLen: current.skill.length,
    wallTimeS: Object.values(draft.timing ?? {}).reduce((sum, ms) => sum + ms, 0) / 1000,
  } as StepRecord;
  return { ...state, current, best, stepsDone: step, history: [...state.history, record], draft: {} };
}

export function isAccepted(action: StepAction): boolean {
  return action === 'accept' || action === 'accept_new_best' || action === 'force_accept';
}

function clock(state: RunState, { stage, ms, usage }: StageEnd): RunState {
  const timing = { ...state.draft.timing, [stage]: ms };
  return { ...state, draft: { ...state.draft, timing, tokens: addStageUsage(state.draft.tokens ?? {}, usage) } };
}

function remember(state: RunState, hash: string, { hard, soft }: Evaluation): RunState {
  return { ...state, evaluations: { ...state.evaluations, [hash]: { hard, soft } } };
}

type UsageTable = Readonly<Record<string, StageUsage>>;

export function addStageUsage(a: UsageTable, b: UsageTable): UsageTable {
  const sum = { ...a };
  for (const [stage, usage] of Object.entries(b)) sum[stage] = addUsage(sum[stage] ?? noStageUsage, usage);
  return sum;
}

/** A journal of an earlier version lacks the later counters. */
export function addUsage(a: StageUsage, b: Partial<StageUsage>): StageUsage {
  const sum = { ...noStageUsage, ...a } as { -readonly [Counter in keyof StageUsage]: number };
  for (const counter of COUNTERS) sum[counter] += b[counter] ?? 0;
  return sum;
}

const COUNTERS = Object.keys(noStageUsage) as (keyof StageUsage)[];
