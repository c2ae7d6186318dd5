import { computeScore, type Evaluation } from '../../contracts/index.ts';
import { defined } from '../../text/index.ts';
import type { RunEvent } from '../event.ts';
import type { Leak, RunState } from '../run-state.ts';
import { addStageUsage, timeOfRollout } from '../stage-usage.ts';
import type { BatchRecord, StepDraft } from '../step-record.ts';
import { addMeasurement, passOf, scoresOf } from './acceptance.ts';

type StageEnd = Extract<RunEvent, { type: 'stage-end' }>;
type EndOf<Stage extends StageEnd['stage']> = Extract<StageEnd, { stage: Stage }>;
type Ruling = Pick<EndOf<'evaluate'>, 'decision' | 'invalidReason'>;

const STAGE_REDUCERS: { readonly [Name in StageEnd['stage']]: (state: RunState, event: EndOf<Name>) => RunState } = {
  rollout: endRollout,
  reflect: endReflect,
  aggregate: (state, { patch }) => addToDraft(state, { nEditsMerged: patch.edits.length }),
  select: endSelect,
  update: endUpdate,
  evaluate: endEvaluate,
};

export function reduceStage(before: RunState, event: StageEnd): RunState {
  const state = clock(before, event);
  if (!Object.hasOwn(STAGE_REDUCERS, event.stage)) return state; // a stage of a later version
  return (STAGE_REDUCERS[event.stage] as (state: RunState, event: StageEnd) => RunState)(state, event);
}

const addToDraft = (state: RunState, fields: StepDraft): RunState => ({
  ...state,
  draft: { ...state.draft, ...fields },
});

function endRollout(state: RunState, { evaluation }: EndOf<'rollout'>): RunState {
  return addToDraft(state, {
    rolloutHard: evaluation.hard,
    rolloutSoft: evaluation.soft,
    accumulationBatches: scoreBatches(state.draft, evaluation),
    nFail: evaluation.scores.filter(({ hard, errored }) => !errored && hard < 1e-9).length,
  });
}

function endReflect(state: RunState, { patches, failurePatterns }: EndOf<'reflect'>): RunState {
  const nPatches = patches.length;
  const nFailurePatches = patches.filter((patch) => patch.sourceType === 'failure').length;
  const nSuccessPatches = nPatches - nFailurePatches;
  const nClipped = patches.reduce((sum, { clippedTrajectories = 0 }) => sum + clippedTrajectories, 0);
  return addToDraft(state, {
    nPatches,
    nFailurePatches,
    nSuccessPatches,
    failurePatterns: failurePatterns ?? [],
    accumulationBatches: countPatches(state.draft, { nFailurePatches, nSuccessPatches }),
    ...(nClipped > 0 ? { nClippedTrajectories: nClipped } : {}),
  });
}

function endSelect(state: RunState, event: EndOf<'select'>): RunState {
  const edits = event.patch.edits.map(({ op, target, content, file }) => defined({ op, target, content, file }));
  const supportCounts = event.patch.edits.map((edit) => edit.supportCount ?? 0);
  const repeats = event.repeats ? { nRepeats: event.repeats.length } : {};
  const selected = { nEditsRanked: edits.length, edits, supportCounts, ...repeats };
  return { ...addToDraft(state, selected), leaks: leaksAfter(state, event) };
}

function endUpdate(state: RunState, event: EndOf<'update'>): RunState {
  const { candidateSkill, candidateHash, report, changeSummary, nOverCap = 0, notes, memorisedShare = 0 } = event;
  const candidate = {
    candidateSkill,
    candidateHash,
    candidateSkillLen: candidateSkill.length,
    editStatuses: report.map((row) => row.status),
    ...(changeSummary ? { rewriteChangeSummary: changeSummary } : {}),
    ...(nOverCap > 0 ? { nOverCap } : {}),
    ...(notes ? { nAppendixNotesAdded: notes.added, nAppendixNotesTotal: notes.total } : {}),
    ...(memorisedShare > 0 ? { memorisedShare } : {}),
  };
  return { ...state, leaks: leaksAfter(state, event), draft: { ...withoutCandidate(state.draft), ...candidate } };
}

function endEvaluate(state: RunState, event: EndOf<'evaluate'>): RunState {
  const { score, isPartial, blame, evaluation } = event;
  const { candidateHash = '' } = state.draft;
  const known = addMeasurement(state, candidateHash, event);
  const { hard = null, soft = null } = passOf(known, candidateHash) ?? {};
  const draft = { ...state.draft, selectionHard: hard, selectionSoft: soft, candidateGateScore: score };
  const scores = { candidateScores: scoresOf(event) };
  const partial = isPartial ? { isPartial, nItemsMet: evaluation?.scores.length ?? 0 } : {};
  return { ...known, draft: { ...draft, ...scores, ...verdictOf(event), ...partial, ...(blame ? { blame } : {}) } };
}

/** A step has the tasks of its batches, one after the other. */
function scoreBatches({ accumulationBatches = [] }: StepDraft, { scores }: Evaluation): readonly BatchRecord[] {
  const left = [...scores];
  return accumulationBatches.map((batch) => {
    const [hard, soft] = computeScore(left.splice(0, batch.nEnvs));
    return { ...batch, hard, soft };
  });
}

/** Of several batches, the journal does not say which patch came from which. */
function countPatches({ accumulationBatches = [] }: StepDraft, patches: Partial<BatchRecord>): readonly BatchRecord[] {
  const [only, ...others] = accumulationBatches;
  return only && others.length === 0 ? [{ ...only, ...patches }] : accumulationBatches;
}

/** The strict gate gives no verdict, unless there was nothing to judge by. */
export function verdictOf({ decision, invalidReason }: Ruling): StepDraft {
  if (decision) {
    const { verdict, reason: verdictReason, needs, total: nItems, expectedGain, chance } = decision;
    const weighed = expectedGain === undefined ? {} : { expectedGain, chance }; // earlier versions lack it
    return { verdict, verdictReason, nItems, ...weighed, ...(needs ? { needsRollouts: needs.rollouts } : {}) };
  }
  return invalidReason === undefined ? {} : { verdict: 'invalid', verdictReason: invalidReason };
}

/** Replaces what was refused when the step was taken before. */
function leaksAfter({ leaks }: RunState, { step, stage, refused = [] }: EndOf<'select' | 'update'>): Leak[] {
  const earlier = leaks.filter((leak) => !(leak.at === step && (leak.stage === stage || leak.stage === 'update')));
  const later = refused.map(({ reason, kind }) => ({ stage, at: step, reason, ...defined({ kind }) }));
  return [...earlier, ...later];
}

/** What the gate said of one candidate, and the reminders that it brought. */
const JUDGEMENT: readonly (keyof StepDraft)[] = [
  ...(['nAppendixNotesAdded', 'nAppendixNotesTotal', 'verdict', 'verdictReason', 'needsRollouts', 'blame'] as const),
  ...(['isPartial', 'nItemsMet', 'nItems', 'expectedGain', 'chance'] as const),
];
const CANDIDATE: readonly (keyof StepDraft)[] = [
  ...(['rewriteChangeSummary', 'nOverCap', 'memorisedShare', 'salvagedEdits', 'rejectedScore'] as const),
  ...JUDGEMENT,
];

const without = (draft: StepDraft, names: readonly string[]): StepDraft =>
  Object.fromEntries(Object.entries(draft).filter(([name]) => !names.includes(name)));

/** A resumed run that got other replies takes a step again: its record says nothing about the first candidate. */
const withoutCandidate = (draft: StepDraft) => without(draft, CANDIDATE);
export const withoutJudgement = (draft: StepDraft) => without(draft, JUDGEMENT);

function clock(state: RunState, { stage, ms, usage }: StageEnd): RunState {
  const timing = { ...state.draft.timing, [stage]: ms };
  const tokens = addStageUsage(state.draft.tokens ?? {}, usage);
  const rolloutMs = state.rolloutMs ?? timeOfRollout({ ms, usage }); // a baseline from the cache does not tell
  return { ...state, rolloutMs, draft: { ...state.draft, timing, tokens } };
}
