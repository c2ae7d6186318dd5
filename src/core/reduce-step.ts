import type { RunEvent, Salvage, StepAction } from './event.ts';
import type { RunState, ScoredSkill, StepDraft, StepRecord } from './run-state.ts';
import type { Evaluation } from './score.ts';
import { addStageUsage } from './stage-usage.ts';
import type { StepBufferEntry } from './step-buffer.ts';

type StageEnd = Extract<RunEvent, { type: 'stage-end' }>;

export function reduceStage(state: RunState, event: StageEnd): RunState {
  const draft = (fields: StepDraft): RunState => ({ ...state, draft: { ...state.draft, ...fields } });
  switch (event.stage) {
    case 'rollout':
      return draft({
        rolloutHard: event.evaluation.hard,
        rolloutSoft: event.evaluation.soft,
        nFail: event.evaluation.scores.filter(({ hard, errored }) => !errored && hard < 1e-9).length,
      });
    case 'reflect': {
      const nFailurePatches = event.patches.filter((patch) => patch.sourceType === 'failure').length;
      const nPatches = event.patches.length;
      const nClipped = event.patches.reduce((sum, { clippedTrajectories = 0 }) => sum + clippedTrajectories, 0);
      return draft({
        nPatches,
        nFailurePatches,
        nSuccessPatches: nPatches - nFailurePatches,
        failurePatterns: event.failurePatterns ?? [],
        ...(nClipped > 0 ? { nClippedTrajectories: nClipped } : {}),
      });
    }
    case 'aggregate':
      return draft({ nEditsMerged: event.patch.edits.length });
    case 'select': {
      const edits = event.patch.edits.map(({ op, target, content }) => ({ op, target, content }));
      const supportCounts = event.patch.edits.map((edit) => edit.supportCount ?? 0);
      return draft({ nEditsRanked: edits.length, edits, supportCounts });
    }
    case 'update': {
      const { candidateSkill, candidateHash, report, changeSummary, nOverCap = 0, notes } = event;
      const candidate = {
        candidateSkill,
        candidateHash,
        candidateSkillLen: candidateSkill.length,
        editStatuses: report.map((row) => row.status),
        ...(changeSummary ? { rewriteChangeSummary: changeSummary } : {}),
        ...(nOverCap > 0 ? { nOverCap } : {}),
        ...(notes ? { nAppendixNotesAdded: notes.added, nAppendixNotesTotal: notes.total } : {}),
      };
      return { ...state, draft: { ...withoutCandidate(state.draft), ...candidate } };
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

/** A step that is taken anew, because a resumed run heard other answers, says nothing about its first candidate. */
function withoutCandidate(draft: StepDraft): StepDraft {
  const {
    rewriteChangeSummary: _summary,
    nOverCap: _nOverCap,
    nAppendixNotesAdded: _added,
    nAppendixNotesTotal: _total,
    salvagedEdits: _salvaged,
    rejectedScore: _score,
    ...rest
  } = draft;
  return rest;
}

/** A part that was better takes the place of the patch that was not. */
export function reduceSalvage(state: RunState, { accepted, evaluations }: Salvage): RunState {
  const known = { ...state, evaluations: { ...state.evaluations, ...evaluations } };
  if (!accepted) return known;
  const { candidateSkill, candidateHash, score, edits } = accepted;
  const { hard = null, soft = null } = known.evaluations[candidateHash] ?? {};
  const measured = { selectionHard: hard, selectionSoft: soft, candidateGateScore: score };
  const candidate = { candidateSkill, candidateHash, candidateSkillLen: candidateSkill.length, salvagedEdits: edits };
  // The reminders were part of the whole, and are rejected with it.
  const { nAppendixNotesAdded: _added, nAppendixNotesTotal: _total, ...draft } = state.draft;
  return { ...known, draft: { ...draft, ...candidate, ...measured, rejectedScore: draft.candidateGateScore ?? 0 } };
}

export function endStep(state: RunState, action: StepAction): RunState {
  const { candidateSkill = state.current.skill, nFail = 0, failurePatterns = [], ...rest } = state.draft;
  const { rejectedScore, ...draft } = rest;
  const step = draft.step ?? state.stepsDone + 1;
  const candidate = {
    skill: candidateSkill,
    hash: draft.candidateHash ?? '',
    score: draft.candidateGateScore ?? 0,
    step,
    origin: `step_${String(step).padStart(4, '0')}`,
  };
  const current = isAccepted(action) ? candidate : state.current;
  const best = isNewBest(action, candidate, state) ? candidate : state.best;
  const record = {
    ...draft,
    action,
    currentScore: current.score,
    bestScore: best.score,
    bestStep: best.step,
    currentOrigin: current.origin,
    bestOrigin: best.origin,
    skillLen: current.skill.length,
    wallTimeS: Object.values(draft.timing ?? {}).reduce((sum, ms) => sum + ms, 0) / 1000,
  } as StepRecord;
  const scores = { scoreBefore: state.current.score, scoreAfter: rejectedScore ?? candidate.score };
  const entry = toBufferEntry(record, { nFail, failurePatterns, ...scores });
  const stepBuffer = [...state.stepBuffer, entry];
  const history = [...state.history, record];
  return { ...state, current, best, stepsDone: step, stepBuffer, epochSkill: current.skill, history, draft: {} };
}

type Tried = Pick<StepBufferEntry, 'nFail' | 'failurePatterns'> & {
  readonly scoreBefore: number;
  readonly scoreAfter: number;
};

/** Rejected is what was tried: not what was saved of it, nor what was too long to be tried. */
function toBufferEntry(record: StepRecord, { scoreBefore, scoreAfter, ...failures }: Tried): StepBufferEntry {
  const { step, action, rolloutN: nTotal, edits = [], salvagedEdits = [], nOverCap = 0 } = record;
  const entry = { step, action, nTotal, ...failures };
  const tried = edits.slice(0, edits.length - nOverCap);
  const rejectedEdits = tried.filter((_, index) => !salvagedEdits.includes(index));
  const isRejected = action === 'reject' || salvagedEdits.length > 0;
  return isRejected ? { ...entry, scoreBefore, scoreAfter, rejectedEdits } : entry;
}

/** Without a gate a candidate is always taken, and is the best only if it measures best. */
export function isNewBest(action: string, candidate: ScoredSkill, { best }: RunState): boolean {
  return action === 'accept_new_best' || (action === 'force_accept' && candidate.score > best.score);
}

export function isAccepted(action: string): boolean {
  return action === 'accept' || action === 'accept_new_best' || action === 'force_accept';
}

export function clock(state: RunState, { stage, ms, usage }: StageEnd): RunState {
  const timing = { ...state.draft.timing, [stage]: ms };
  return { ...state, draft: { ...state.draft, timing, tokens: addStageUsage(state.draft.tokens ?? {}, usage) } };
}

export function remember(state: RunState, hash: string, { hard, soft }: Evaluation): RunState {
  return { ...state, evaluations: { ...state.evaluations, [hash]: { hard, soft } } };
}
