import { computeScore, type Evaluation } from '../../contracts/index.ts';
import { defined, objectWith } from '../../text/index.ts';
import type { RunEvent } from '../event.ts';
import type { Leak, RunState } from '../run-state.ts';
import { addStageUsage, timeOfRollout } from '../stage-usage.ts';
import type { BatchRecord, StepDraft } from '../step-record.ts';
import { addMeasurement, passOf, scoresOf } from './acceptance.ts';
import { countAnalysts, toProposal } from './analysts.ts';

type StageEnd = Extract<RunEvent, { type: 'stage-end' }>;
type EndOf<Stage extends StageEnd['stage']> = Extract<StageEnd, { stage: Stage }>;
type Ruling = Pick<EndOf<'evaluate'>, 'decision' | 'invalidReason'>;

/** The draft of the step and what else a stage changes. */
type Change = Partial<RunState> & Pick<RunState, 'draft'>;
type EndStage<Name extends StageEnd['stage']> = (draft: StepDraft, event: EndOf<Name>, state: RunState) => Change;

const STAGE_REDUCERS: { readonly [Name in StageEnd['stage']]: EndStage<Name> } = {
  rollout: endRollout,
  reflect: endReflect,
  aggregate: (draft, { patch }) => ({ draft: objectWith(draft, { nEditsMerged: patch.edits.length }) }),
  select: endSelect,
  update: endUpdate,
  evaluate: endEvaluate,
};

export function reduceStage(state: RunState, event: StageEnd): Change {
  const { stage, ms, usage } = event;
  const timing = { ...state.draft.timing, [stage]: ms };
  const draft = objectWith(state.draft, { timing, tokens: addStageUsage(state.draft.tokens ?? {}, usage) });
  const rolloutMs = state.rolloutMs ?? timeOfRollout({ ms, usage }); // a baseline from the cache does not show it
  if (!Object.hasOwn(STAGE_REDUCERS, stage)) return { rolloutMs, draft }; // a stage of a later version
  return { rolloutMs, ...(STAGE_REDUCERS[stage] as EndStage<typeof stage>)(draft, event, state) };
}

function endRollout(draft: StepDraft, { evaluation }: EndOf<'rollout'>): Change {
  const rollout = {
    rolloutHard: evaluation.hard,
    rolloutSoft: evaluation.soft,
    accumulationBatches: scoreBatches(draft, evaluation),
    nFail: evaluation.scores.filter(({ hard, errored }) => !errored && hard < 1e-9).length,
  };
  return { draft: objectWith(draft, rollout) };
}

function endReflect(draft: StepDraft, { patches, failurePatterns }: EndOf<'reflect'>): Change {
  const nPatches = patches.length;
  const nFailurePatches = patches.filter((patch) => patch.sourceType === 'failure').length;
  const nSuccessPatches = nPatches - nFailurePatches;
  const nClipped = patches.reduce((sum, { clippedTrajectories = 0 }) => sum + clippedTrajectories, 0);
  const reflected = {
    nPatches,
    nFailurePatches,
    nSuccessPatches,
    failurePatterns: failurePatterns ?? [],
    accumulationBatches: countPatches(draft, { nFailurePatches, nSuccessPatches }),
    ...(nClipped > 0 ? { nClippedTrajectories: nClipped } : {}),
    proposals: patches.map(toProposal),
  };
  return { draft: objectWith(draft, reflected) };
}

function endSelect({ proposals, ...draft }: StepDraft, event: EndOf<'select'>, state: RunState): Change {
  const edits = event.patch.edits.map(({ op, target, content, file }) => defined({ op, target, content, file }));
  const supportCounts = event.patch.edits.map((edit) => edit.supportCount ?? 0);
  const repeats = event.repeats ? { nRepeats: event.repeats.length } : {};
  const asked = proposals ? { analystCounts: event.patch.edits.map((edit) => countAnalysts(edit, proposals)) } : {};
  const selected = { nEditsRanked: edits.length, edits, supportCounts, ...asked, ...repeats };
  return { draft: objectWith(draft, selected), leaks: leaksAfter(state, event) };
}

function endUpdate(draft: StepDraft, event: EndOf<'update'>, state: RunState): Change {
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
  return { leaks: leaksAfter(state, event), draft: objectWith(withoutCandidate(draft), candidate) };
}

function endEvaluate(draft: StepDraft, event: EndOf<'evaluate'>, state: RunState): Change {
  const { score, isPartial, blame, evaluation } = event;
  const { candidateHash = '' } = draft;
  const { evaluations, gate, current, best } = addMeasurement(state, candidateHash, event);
  const { hard = null, soft = null } = passOf({ evaluations }, candidateHash) ?? {};
  const measured = { selectionHard: hard, selectionSoft: soft, candidateGateScore: score };
  const judged = objectWith(objectWith(draft, { ...measured, candidateScores: scoresOf(event) }), verdictOf(event));
  const partial = isPartial ? { isPartial, nItemsMet: evaluation?.scores.length ?? 0 } : {};
  return { evaluations, gate, current, best, draft: objectWith(judged, { ...partial, ...(blame ? { blame } : {}) }) };
}

/** A step has the tasks of its batches, one after the other. */
function scoreBatches({ accumulationBatches = [] }: StepDraft, { scores }: Evaluation): readonly BatchRecord[] {
  let start = 0;
  return accumulationBatches.map((batch) => {
    const [hard, soft] = computeScore(scores.slice(start, start + batch.nEnvs));
    start += batch.nEnvs;
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
  names.some((name) => Object.hasOwn(draft, name))
    ? Object.fromEntries(Object.entries(draft).filter(([name]) => !names.includes(name)))
    : draft;

/** A resumed run that got other replies takes a step again: its record says nothing about the first candidate. */
const withoutCandidate = (draft: StepDraft) => without(draft, CANDIDATE);
export const withoutJudgement = (draft: StepDraft) => without(draft, JUDGEMENT);
