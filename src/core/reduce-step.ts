import type { GateDecision, RunEvent, Salvage, StepAction } from './event.ts';
import { acceptEvidence, addRefreshed, believableScore, type GateEvidence } from './gate-evidence.ts';
import type { Leak, RunState, ScoredSkill, StepDraft, StepRecord } from './run-state.ts';
import type { Evaluation, ItemScore } from './score.ts';
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
      const leaks = leaksAfter(state, event);
      return { ...draft({ nEditsRanked: edits.length, edits, supportCounts }), leaks };
    }
    case 'update': {
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
    case 'evaluate': {
      const { score, isPartial } = event;
      const known = learn(state, state.draft.candidateHash ?? '', event);
      const { hard = null, soft = null } = known.evaluations[state.draft.candidateHash ?? ''] ?? {};
      const draft = { ...state.draft, selectionHard: hard, selectionSoft: soft, candidateGateScore: score };
      const scores = { candidateScores: scoresOf(event) };
      const partial = isPartial ? { isPartial, nItemsMet: event.evaluation?.scores.length ?? 0 } : {};
      return { ...known, draft: { ...draft, ...scores, ...verdictOf(event), ...partial } };
    }
    default:
      event satisfies never;
      return state;
  }
}

/** The strict gate gives no verdict, unless there was nothing to judge by. */
function verdictOf({ decision, invalidReason }: Extract<StageEnd, { stage: 'evaluate' }>): StepDraft {
  if (decision) return { verdict: decision.verdict, verdictReason: decision.reason };
  return invalidReason === undefined ? {} : { verdict: 'invalid', verdictReason: invalidReason };
}

/** What is refused now takes the place of what was when the step was taken before. */
function leaksAfter(
  { leaks }: RunState,
  { step, stage, refused = [] }: StageEnd & { stage: 'select' | 'update' },
): Leak[] {
  const earlier = leaks.filter((leak) => !(leak.at === step && (leak.stage === stage || leak.stage === 'update')));
  return [...earlier, ...refused.map(({ reason }) => ({ stage, at: step, reason }))];
}

/** A step that is taken anew, because a resumed run heard other answers, says nothing about its first candidate. */
function withoutCandidate(draft: StepDraft): StepDraft {
  const {
    rewriteChangeSummary: _summary,
    nOverCap: _nOverCap,
    nAppendixNotesAdded: _added,
    nAppendixNotesTotal: _total,
    memorisedShare: _share,
    salvagedEdits: _salvaged,
    rejectedScore: _score,
    isPartial: _isPartial,
    verdict: _verdict,
    verdictReason: _reason,
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
  const candidateScores = scoresOf(accepted);
  const text = { candidateSkill, candidateHash, candidateSkillLen: candidateSkill.length };
  const candidate = { ...text, candidateScores, salvagedEdits: edits };
  // The reminders were part of the whole, and are rejected with it.
  const { nAppendixNotesAdded: _added, nAppendixNotesTotal: _total, ...draft } = state.draft;
  return { ...known, draft: { ...draft, ...candidate, ...measured, rejectedScore: draft.candidateGateScore ?? 0 } };
}

export function endStep(state: RunState, action: StepAction): RunState {
  const { candidateSkill = state.current.skill, nFail = 0, failurePatterns = [], ...rest } = state.draft;
  const { rejectedScore, candidateScores = [], ...draft } = rest;
  const step = draft.step ?? state.stepsDone + 1;
  const gate = isAccepted(action) ? accept(state, candidateScores) : state.gate;
  const candidate = {
    skill: candidateSkill,
    hash: draft.candidateHash ?? '',
    score: isPaired(state) && isAccepted(action) ? believableScore(gate) : (draft.candidateGateScore ?? 0),
    step,
    origin: `step_${String(step).padStart(4, '0')}`,
  };
  const current = isAccepted(action) ? candidate : state.current;
  const best = isNewBest(action, candidate, state) ? candidate : state.best;
  const nLeaksRefused = state.leaks.filter(({ stage, at }) => stage !== 'slow_update' && at === step).length;
  const record = {
    ...draft,
    ...(nLeaksRefused > 0 ? { nLeaksRefused } : {}),
    action,
    scoreBefore: state.current.score,
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
  return { ...state, gate, current, best, stepsDone: step, stepBuffer, epochSkill: current.skill, history, draft: {} };
}

type Tried = Pick<StepBufferEntry, 'nFail' | 'failurePatterns'> & {
  readonly scoreBefore: number;
  readonly scoreAfter: number;
};

/** Rejected is what was tried: not what was saved of it, was too long to be tried, or could not be measured. */
function toBufferEntry(record: StepRecord, { scoreBefore, scoreAfter, ...failures }: Tried): StepBufferEntry {
  const { step, action, rolloutN: nTotal, edits = [], salvagedEdits = [], nOverCap = 0 } = record;
  const entry = { step, action, nTotal, ...failures };
  const tried = edits.slice(0, edits.length - nOverCap);
  const rejectedEdits = tried.filter((_, index) => !salvagedEdits.includes(index));
  const isRejected = (action === 'reject' && record.verdict !== 'invalid') || salvagedEdits.length > 0;
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

type Judged = {
  readonly evaluation: Evaluation | null;
  readonly isPartial?: boolean;
  readonly decision?: GateDecision;
};

/** What a judgement adds to what is known: a whole pass is a score, and refreshed items are evidence. */
export function learn(state: RunState, hash: string, { evaluation, isPartial = false, decision }: Judged): RunState {
  const known = evaluation && !isPartial ? remember(state, hash, evaluation) : state;
  if (!decision || !state.config) return known;
  const isSeed = state.current.origin === 'initial';
  const drawn = [...decision.refreshed, ...(decision.veto?.incumbent ?? [])];
  const gate = addRefreshed(state.gate, drawn, { ...state.config, isSeed });
  const current = { ...known.current, score: believableScore(gate) };
  return {
    ...known,
    gate,
    current,
    best: known.best.hash === current.hash ? { ...known.best, score: current.score } : known.best,
  };
}

/** All rollouts of a candidate: one of each item, or two, and those that cleared it of regressions. */
export const scoresOf = ({ evaluation, decision }: Judged) => [
  ...(evaluation?.scores ?? []),
  ...(decision?.confirmation ?? []),
  ...(decision?.veto?.candidate ?? []),
];

export function accept(state: RunState, scores: readonly ItemScore[]): GateEvidence {
  return isPaired(state) && state.config ? acceptEvidence(state.gate, scores, state.config) : state.gate;
}

export const isPaired = ({ config }: RunState) => config?.gate === 'paired';
