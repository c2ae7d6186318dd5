import type { ItemScore } from '../../contracts/index.ts';
import { addObservations, estimateGain, noEvidence } from '../../stats/index.ts';
import { listWith } from '../../text/index.ts';
import { type RunEvent, type Stamp, toFact } from '../event.ts';
import type { Removal, Salvage, Shortening, StepAction } from '../events/event-data.ts';
import { toEvidence, toObservations } from '../gate-evidence.ts';
import { type RunState, removalKey } from '../run-state.ts';
import type { StepBufferEntry, StepRecord } from '../step-record.ts';
import {
  acceptedScore,
  addMeasurement,
  effectsOfStep,
  evidenceAfterAccept,
  isAccepted,
  isNewBest,
  noteEffect,
  passOf,
  recordPasses,
  SURE,
  scoresOf,
} from './acceptance.ts';
import { verdictOf, withoutJudgement } from './stage.ts';

export function startStep(_: RunState, event: Extract<RunEvent, { type: 'step-start' }>): Partial<RunState> {
  const { step, epoch, stepInEpoch, proposal, editBudget, itemIds, seed } = event;
  const batches = event.batches ?? [{ seed, size: itemIds.length }];
  const accumulationBatches = batches.map(({ seed, size }, batchIdx) => ({ batchIdx, batchSeed: seed, nEnvs: size }));
  const place = { step, epoch, stepInEpoch, ...(proposal === undefined ? {} : { proposal }) };
  return { draft: { ...place, editBudget, rolloutN: itemIds.length, accumulationBatches, timing: {}, tokens: {} } };
}

export function decideRate(state: RunState, event: Extract<RunEvent, { type: 'lr-decision' }>): Partial<RunState> {
  const { type: _type, step, ...lrDecision } = toFact(event) as Omit<typeof event, keyof Stamp>;
  const earlier = state.lrHistory.filter((row) => row.step !== step); // a step may be taken again
  const lrHistory = [...earlier, { step, ...lrDecision }];
  return { lrHistory, draft: { ...state.draft, editBudget: lrDecision.learningRate, lrDecision } };
}

/** A part that was better takes the place of the patch that was not. */
export function reduceSalvage(state: RunState, { accepted, evaluations }: Salvage): RunState {
  const measuredAll = recordPasses(state, evaluations);
  if (!accepted) return measuredAll;
  const known = addMeasurement(measuredAll, accepted.candidateHash, accepted);
  const { candidateSkill, candidateHash, score, edits } = accepted;
  const { hard = null, soft = null } = passOf(known, candidateHash) ?? {};
  const measured = { selectionHard: hard, selectionSoft: soft, candidateGateScore: score };
  const candidateScores = scoresOf(accepted);
  const text = { candidateSkill, candidateHash, candidateSkillLen: candidateSkill.length };
  const candidate = { ...text, candidateScores, salvagedEdits: edits };
  const rejectedScore = state.draft.candidateGateScore ?? 0;
  const draft = { ...withoutJudgement(state.draft), ...candidate, ...measured, ...verdictOf(accepted), rejectedScore };
  return { ...known, draft };
}

/** A part without which the skill is better is taken out at once. Either way it is not tried again. */
export function reduceRemoval(state: RunState, event: Removal): RunState {
  const known = noteRemoval(addMeasurement(state, event.candidateHash, event), event);
  const removalsTried = [...known.removalsTried, removalKey(event.of, event.removed)];
  if (!isAccepted(event.action)) return { ...known, removalsTried };
  const gate = evidenceAfterAccept(known, scoresOf(event), event.action);
  const { candidateSkill: skill, candidateHash: hash, removed } = event;
  const score = acceptedScore(known, gate, event.action, event.score);
  const current = { skill, hash, score, step: known.stepsDone + 1, origin: `removal_${pad(known.stepsDone + 1)}` };
  const best = isNewBest(event.action, current, known) ? current : known.best;
  return { ...known, gate, current, best, removalsTried, draft: { ...known.draft, removed } };
}

/** A skill that says less and is not worse takes the place of the one that says more. */
export function reduceShortening(state: RunState, event: Shortening): RunState {
  const shortening = { tries: event.place, next: event.next };
  const known = noteRemoval(addMeasurement({ ...state, shortening }, event.candidateHash, event), event);
  if (!isAccepted(event.action)) return known;
  const gate = evidenceAfterAccept(known, scoresOf(event), event.action);
  const { candidateSkill: skill, candidateHash: hash } = event;
  const score = acceptedScore(known, gate, event.action, event.score);
  const current = { skill, hash, score, step: known.stepsDone, origin: 'shortened' };
  const history = [...known.history.slice(0, -1), ...known.history.slice(-1).map((last) => withRemoved(last, event))];
  return { ...known, history, gate, current, best: isNewBest(event.action, current, known) ? current : known.best };
}

const withRemoved = (record: StepRecord, { removed }: Shortening): StepRecord => ({
  ...record,
  removed: [...(record.removed ?? []), ...removed],
});

/** The skill without one passage shows what that passage is worth. */
function noteRemoval(state: RunState, event: Removal | Shortening): RunState {
  const { removed, decision, evaluation } = event;
  const [passage] = removed;
  if (passage === undefined || removed.length > 1 || decision?.expectedGain === undefined) return state;
  if (decision.verdict === 'invalid') return state;
  const gain = 0 - decision.expectedGain;
  const proof = gain > 0 && isClearlyWorse(state, event) ? { chance: 1 - (decision.chance ?? 1 - SURE) } : {};
  const effect = { gain, measuredBy: 'removal', tasks: countTasks(evaluation?.scores ?? []), ...proof } as const;
  return { ...state, history: noteEffect(state.history, { passage, ...effect }) };
}

/** The whole interval of what the current skill gains on the one without the passage is above 0. */
function isClearlyWorse({ gate, config }: RunState, event: Removal | Shortening): boolean {
  if (!config) return false;
  const without = addObservations(noEvidence, toObservations(scoresOf(event), config));
  const gain = estimateGain(toEvidence(gate.own), without, config.confidence);
  return gain !== undefined && gain.interval.low > 0;
}

const countTasks = (scores: readonly ItemScore[]) => new Set(scores.map(({ id }) => id)).size;

const pad = (step: number) => String(step).padStart(4, '0');

export function endStep(state: RunState, action: StepAction): Partial<RunState> {
  const {
    candidateSkill,
    nFail = 0,
    failurePatterns = [],
    rejectedScore,
    candidateScores = [],
    ...draft
  } = state.draft;
  const step = draft.step ?? state.stepsDone + 1;
  const gate = isAccepted(action) ? evidenceAfterAccept(state, candidateScores, action) : state.gate;
  const candidate = {
    skill: candidateSkill ?? state.current.skill,
    hash: draft.candidateHash ?? '',
    score: acceptedScore(state, gate, action, draft.candidateGateScore ?? 0),
    step,
    origin: `step_${pad(step)}`,
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
  const stepBuffer = keepSteps(listWith(state.stepBuffer, entry), state);
  const history = listWith(state.history, isAccepted(action) ? weigh(record, candidateScores, state) : record);
  return { gate, current, best, stepsDone: step, stepBuffer, epochSkill: current.skill, history, draft: {} };
}

function weigh(record: StepRecord, scores: readonly ItemScore[], { items }: RunState): StepRecord {
  if (record.edits === undefined) return record;
  const tasks = countTasks(scores) || (items.val ?? 0); // a text that was measured before met them all
  return { ...record, editEffects: effectsOfStep(record, tasks) };
}

/** Where the buffer spans the whole run, prompts must not grow without end. */
const MOST_STEPS = 8;

const keepSteps = (buffer: readonly StepBufferEntry[], { config }: RunState): readonly StepBufferEntry[] =>
  config?.stepBufferScope === 'run' ? buffer.slice(-MOST_STEPS) : buffer;

type Tried = Pick<StepBufferEntry, 'nFail' | 'failurePatterns'> & {
  readonly scoreBefore: number;
  readonly scoreAfter: number;
};

/** Rejected edits are those that were measured and lost: not those that were saved, too long, or unmeasurable. */
function toBufferEntry(record: StepRecord, { scoreBefore, scoreAfter, ...failures }: Tried): StepBufferEntry {
  const { step, action, rolloutN: nTotal, edits = [], salvagedEdits = [], nOverCap = 0 } = record;
  const tried = edits.slice(0, edits.length - nOverCap);
  const invalid = isUnscored(record) ? { invalid: record.verdictReason ?? '', invalidEdits: tried } : {};
  const entry = { step, action, nTotal, ...failures, ...invalid };
  const rejectedEdits = tried.filter((_, index) => !salvagedEdits.includes(index));
  const isRejected = (action === 'reject' && record.verdict !== 'invalid') || salvagedEdits.length > 0;
  if (!isRejected) return entry;
  const rejected = { ...entry, scoreBefore, scoreAfter, rejectedEdits };
  if (record.verdict !== 'inconclusive') return rejected;
  const { nItemsMet: met, nItems: total = 0 } = record;
  return { ...rejected, undecided: { met: met ?? total, total } };
}

type FaultySteps = { readonly reason: string; readonly steps: readonly number[] };

/** Steps with the same fault together, in the order of their first. The last reason stands for all of them. */
export function groupFaults(faults: readonly { readonly step: number; readonly reason: string }[]): FaultySteps[] {
  const groups = new Map<string, FaultySteps>();
  for (const { step, reason } of faults) {
    const kind = reason.replace(/\d+(?:[.,]\d+)*/g, '#'); // 1,025 and 1,100 characters are the same fault
    groups.set(kind, { reason, steps: [...(groups.get(kind)?.steps ?? []), step] });
  }
  return [...groups.values()];
}

/** The candidate of a step was unusable: nothing was attempted with it. */
export const isUnscored = ({ action }: Pick<StepRecord, 'action'>) => action === 'skip_invalid';
