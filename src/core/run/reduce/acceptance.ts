import { type Evaluation, type ItemScore, knowsNoise, selectGateScore } from '../../contracts/index.ts';
import { head, listWith } from '../../text/index.ts';
import type { RunEvent } from '../event.ts';
import type { Trial } from '../events/event-data.ts';
import { acceptEvidence, addRefreshed, type GateDecision, type GateEvidence, shrunkScore } from '../gate-evidence.ts';
import type { RunState, ScoredSkill } from '../run-state.ts';
import type { EditEffect, StepRecord } from '../step-record.ts';

type Pass = Pick<Evaluation, 'hard' | 'soft'>;

/** The score of a skill's whole pass, if it had one: only passes can be compared between skills that never met. */
export function passScore(state: RunState, { hash, score }: ScoredSkill): number {
  const { config } = state;
  const pass = passOf(state, hash);
  return pass && config ? selectGateScore(pass.hard, pass.soft, config.gateMetric, config.gateMixedWeight) : score;
}

/** A skill that was accepted early has not met all items in one pass. */
export const hasPass = (state: RunState, { hash }: ScoredSkill) => passOf(state, hash) !== undefined;

export const passOf = ({ evaluations }: Pick<RunState, 'evaluations'>, hash: string) =>
  evaluations.findLast((pass) => pass.hash === hash);

export function recordPass(state: RunState, hash: string, { hard, soft }: Pass): RunState {
  return { ...state, evaluations: listWith(state.evaluations, { hash, hard, soft }) };
}

export function recordPasses(state: RunState, table: Readonly<Record<string, Pass>>): RunState {
  const passes = Object.entries(table).map(([hash, { hard, soft }]) => ({ hash, hard, soft }));
  return { ...state, evaluations: [...state.evaluations, ...passes] };
}

export const isAccepted = (action: string): boolean =>
  action === 'accept' || action === 'accept_new_best' || action === 'force_accept';

/** Steps in a row, up to the last one, that left the skill as it is. */
export const lostSteps = (history: readonly StepRecord[]): number =>
  history.length - 1 - history.findLastIndex(({ action, removed }) => isAccepted(action) || removed !== undefined);

/** Candidates in a row, up to the last step, that were measured and rejected. */
export const lostCandidates = (history: readonly StepRecord[]): number =>
  history.slice(history.length - lostSteps(history)).filter(({ action }) => action === 'reject').length;

/** Whether a batch needs no further proposal. An optimizer that proposed nothing would propose nothing again. */
export function isBatchDone(
  { action, proposal = 1, nEditsMerged }: StepRecord,
  { proposalsPerBatch }: { readonly proposalsPerBatch: number },
): boolean {
  if (isAccepted(action) || proposal >= proposalsPerBatch) return true;
  return proposalsPerBatch > 1 && nEditsMerged === 0;
}

/** A candidate that was taken for another reason is the best only if its pass scores best. */
export function isNewBest(action: string, candidate: ScoredSkill, state: RunState): boolean {
  if (action === 'accept_new_best') return true;
  const isOpen = action === 'force_accept' || (action === 'accept' && isPaired(state)); // the strict gate compares itself
  if (isPaired(state) && !hasPass(state, state.best)) return false; // the end of the search measures both
  return isOpen && passScore(state, candidate) > passScore(state, state.best);
}

type Judged = Pick<Trial, 'evaluation' | 'isPartial' | 'decision'>;

/** A whole pass adds a score to the state, and refreshed items add evidence. */
export function addMeasurement(
  state: RunState,
  hash: string,
  { evaluation, isPartial = false, decision }: Judged,
): RunState {
  const isWhole = evaluation && !isPartial;
  if (!decision || !state.config) return isWhole ? recordPass(state, hash, evaluation) : state;
  const isSeed = state.current.origin === 'initial';
  const drawn = [...decision.refreshed, ...(decision.veto?.incumbent ?? [])];
  const gate = drawn.length === 0 ? state.gate : addRefreshed(state.gate, drawn, { ...state.config, isSeed });
  const current = { ...state.current, score: shrunkScore(gate) };
  return {
    ...state,
    evaluations: isWhole ? recordPass(state, hash, evaluation).evaluations : state.evaluations,
    gate,
    current,
    best: state.best.hash === current.hash ? { ...state.best, score: current.score } : state.best,
  };
}

/** The estimated score of the current skill after an event, before another skill replaces it. */
export function scoreNow(event: RunEvent, before: RunState): number {
  const decision = decisionOf(event);
  return decision ? addMeasurement(before, '', { evaluation: null, decision }).current.score : before.current.score;
}

function decisionOf(event: RunEvent): GateDecision | undefined {
  if (event.type === 'salvage-end') return event.accepted?.decision;
  return 'decision' in event ? event.decision : undefined;
}

/** All rollouts of a candidate: one of each item, or two, and those that cleared it of regressions. */
export const scoresOf = ({ evaluation, decision }: Judged) => [
  ...(evaluation?.scores ?? []),
  ...(decision?.confirmation ?? []),
  ...(decision?.veto?.candidate ?? []),
];

/** A candidate that no gate chose needs no shrinking: it was not selected for a lucky score. */
export function evidenceAfterAccept(state: RunState, scores: readonly ItemScore[], action: string): GateEvidence {
  const { gate, config } = state;
  return isPaired(state) && config
    ? acceptEvidence(gate, scores, { ...config, isChosen: action !== 'force_accept' })
    : gate;
}

export const acceptedScore = (state: RunState, gate: GateEvidence, action: string, measured: number): number =>
  isPaired(state) && isAccepted(action) && action !== 'force_accept' ? shrunkScore(gate) : measured;

const isPaired = ({ config }: RunState) => knowsNoise(config?.gate);

const notMeasured: EditEffect = { gain: null, measuredBy: 'not_measured', tasks: 0 };

/** The indexes of the edits that an accepted step has put into the skill. */
export function keptEdits({ edits = [], editStatuses = [], salvagedEdits }: StepRecord): number[] {
  const places = edits.map((_, index) => index);
  return places.filter((index) => salvagedEdits?.includes(index) ?? editStatuses[index]?.startsWith('applied'));
}

/** A gate that takes what is likely to gain, or a rule of a user, is no proof by itself. */
export const SURE = 0.95;

/** Of an accepted step, by the index of each edit; `null` for edits that were not kept. */
export function effectsOfStep(record: StepRecord, tasks: number): (EditEffect | null)[] {
  const kept = keptEdits(record);
  const isAlone = kept.length === 1 && !record.nAppendixNotesAdded;
  const gain = record.expectedGain ?? record.candidateGateScore - record.scoreBefore;
  const measuredBy = record.salvagedEdits ? 'salvage' : 'own_step';
  const { verdict, chance = 0 } = record;
  const proof = gain > 0 && verdict === 'accept' && chance >= SURE ? { chance } : {};
  const effect: EditEffect = isAlone ? { gain, measuredBy, tasks, ...proof } : notMeasured;
  return record.edits.map((_, index) => (kept.includes(index) ? effect : null));
}

/** The history after the skill was measured without one passage. A measurement on more tasks stays. */
export function noteEffect(
  history: readonly StepRecord[],
  { passage, ...effect }: EditEffect & { readonly passage: string },
) {
  return history.map((record) => {
    const { edits, editEffects } = record;
    if (!editEffects?.some((known, index) => known && edits[index]!.content.trim() === passage)) return record;
    const noted = editEffects.map((known, index) => {
      const isIt = known && edits[index]!.content.trim() === passage && effect.tasks >= known.tasks;
      return isIt ? effect : known;
    });
    return { ...record, editEffects: noted };
  });
}

export type AcceptedEdit = EditEffect & {
  readonly step: number;
  readonly op: string;
  readonly target: string;
  /** Texts are cut at 200 code points. */
  readonly contentPreview: string;
};

/** Every edit that was accepted in a run, in order, with what is known of its own effect. */
export function acceptedEdits({ history }: Pick<RunState, 'history'>): AcceptedEdit[] {
  return history
    .filter(({ action }) => isAccepted(action))
    .flatMap((record) =>
      keptEdits(record).map((index) => {
        const { op, target, content } = record.edits[index]!;
        const effect = record.editEffects?.[index] ?? notMeasured;
        return { step: record.step, op, target: head(target, 200), contentPreview: head(content, 200), ...effect };
      }),
    );
}
