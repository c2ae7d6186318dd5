import type { ItemScore } from '../contracts/index.ts';
import {
  type Blame,
  type GateDecision,
  isAccepted,
  type RunEvent,
  type RunState,
  reduce,
  scoreNow,
  toEvidence,
  totalCost,
} from '../run/index.ts';
import { calibrate, DEFAULT_CONFIDENCE, normalQuantile } from '../stats/index.ts';
import { listWith, memoizeWeakly, objectWith, skillHash } from '../text/index.ts';
import {
  addAttempts,
  addVersion,
  type CurvePoint,
  changeVersion,
  noView,
  type RunView,
  type SkillVersion,
} from './run-view.ts';

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;
type Take<Type extends RunEvent['type']> = (view: RunView, event: Event<Type>) => RunView;

/** The view after one more event: what the page, the report and the JSON of `show` say of a run. */
export function projectRun(view: RunView, event: RunEvent): RunView {
  const take = Object.hasOwn(TAKERS, event.type) ? (TAKERS[event.type] as Take<RunEvent['type']>) : undefined;
  // An event is about the state before it, and the first one about none.
  const taken = take?.(event.type === 'run-start' ? noView : view, event) ?? view;
  const scoreBefore = event.type === 'stage-end' ? null : scoreNow(event, view.state); // a fold may change that state in place
  const state = reduce(view.state, event);
  const current = placeOf(taken, state.current.hash, view.current);
  const best = placeOf(taken, state.best.hash, view.best);
  const isTaken = current !== view.current && taken.versions[current]?.fate === 'accepted';
  // The scores that the run works with, as the terminal shows them, and not those of one race.
  const known = isTaken ? changeVersion(taken, current, { score: state.current.score, scoreBefore }) : taken;
  const curve = event.type === 'step-end' ? listWith(known.curve, pointOf(state, known.versions)) : known.curve;
  return objectWith(known, { state, lines: view.lines + 1, current, best, curve });
}

/** The latest version with this text that was taken. */
function placeOf({ versions }: RunView, hash: string, known: number): number {
  if (versions[known]?.hash === hash) return known;
  const found = versions.findLastIndex((one) => one.hash === hash && (one.fate === 'accepted' || one.fate === 'start'));
  return found === -1 ? known : found;
}

const TAKERS: { readonly [Type in RunEvent['type']]?: Take<Type> } = {
  'run-start': startView,
  'baseline-end': takeBaseline,
  'step-start': withoutUnfinished,
  'stage-end': takeStage,
  'salvage-end': takeSalvage,
  'removal-end': takeRemoval,
  'slow-update-end': takeGuidance,
  'shorten-end': takeShorter,
  'prune-end': takePruned,
  'final-selection-end': (view, { evaluation }) =>
    addAttempts(
      view,
      { version: view.current, split: 'val', part: 'final_selection_eval/results' },
      evaluation?.scores ?? [],
    ),
  'final-measurement-end': (view, { hash, passes }) => {
    const list = { version: placeOf(view, hash, view.best), split: 'val', part: 'final_measurement/results' } as const;
    return passes.reduce((known, { scores }) => addAttempts(known, list, scores), view);
  },
  'test-end': (view, { subject, evaluation }) => {
    const version = { baseline: 0, best: view.best, final: view.current }[subject];
    return addAttempts(view, { version, split: 'test', part: `test_eval_${subject}/results` }, evaluation.scores);
  },
};

function startView(view: RunView, { initialSkill: skill }: Event<'run-start'>): RunView {
  const initial = { kind: 'initial', fate: 'start', skill, hash: skillHash(skill), parent: null, step: 0 } as const;
  return addVersion(view, { ...initial, score: null, scoreBefore: null, met: 0 });
}

function takeBaseline(view: RunView, { evaluation, passes = [], score }: Event<'baseline-end'>): RunView {
  const fileOf = (pass: number) => `baseline_selection_eval/${pass === 0 ? 'results' : `pass_${pass + 1}`}`;
  return [evaluation, ...passes].reduce(
    (known, { scores }, pass) => addAttempts(known, { version: 0, split: 'val', part: fileOf(pass) }, scores),
    changeVersion(view, 0, { score, met: evaluation.scores.length }),
  );
}

/** A run that was cut off takes its step again: what that step made before is gone. */
function withoutUnfinished(view: RunView, { step }: Event<'step-start'>): RunView {
  const isKept = (one: SkillVersion) => one.kind === 'guidance' || one.step !== step || one.index === 0;
  const kept = view.versions.findLastIndex(isKept) + 1; // from the end: a long run has thousands of versions
  if (kept === view.versions.length) return view;
  const attempts = view.attempts.filter(({ version }) => version < kept);
  return { ...view, versions: view.versions.slice(0, kept), attempts };
}

function takeStage(view: RunView, event: Event<'stage-end'>): RunView {
  const { step, stage } = event;
  if (stage === 'rollout') {
    const list = { version: view.current, split: 'train', part: `${folderOf(step)}/rollout_results` } as const;
    return addAttempts(view, list, event.evaluation.scores);
  }
  if (stage === 'update' && event.candidateHash !== view.state.current.hash) {
    const { candidateSkill: skill, candidateHash: hash } = event;
    const candidate = { kind: 'candidate', fate: 'pending', skill, hash, parent: view.current, step } as const;
    return addVersion(view, { ...candidate, score: null, scoreBefore: view.state.current.score, met: 0 });
  }
  const candidate = view.versions.at(-1);
  if (stage !== 'evaluate' || candidate?.fate !== 'pending') return view;
  return addTrial(changeVersion(view, candidate.index, judgementOf(event)), event, `${folderOf(step)}/selection_eval`);
}

/** Of the parts of a patch, only the one that was taken has scores of single tasks. */
function takeSalvage(view: RunView, { step, tries, accepted }: Event<'salvage-end'>): RunView {
  const part = { kind: 'part', parent: view.current, step, scoreBefore: view.state.current.score } as const;
  const lost = tries
    .filter(({ hash }) => hash !== accepted?.candidateHash)
    .reduce(
      (known, { hash, score }) => addVersion(known, { ...part, hash, score, skill: null, fate: 'rejected', met: 0 }),
      view,
    );
  if (!accepted) return lost;
  const { candidateSkill: skill, candidateHash: hash } = accepted;
  const taken = addVersion(lost, { ...part, skill, hash, ...judgementOf(accepted) });
  const place = tries.findIndex((one) => one.hash === hash) + 1;
  return addTrial(taken, accepted, `${folderOf(step)}/salvage_eval/part_${place}`);
}

function takeRemoval(view: RunView, event: Event<'removal-end'>): RunView {
  const { candidateSkill: skill, candidateHash: hash, step } = event;
  const scoreBefore = view.state.current.score;
  const shorter = { kind: 'shorter', skill, hash, parent: view.current, step, scoreBefore } as const;
  return addTrial(addVersion(view, { ...shorter, ...judgementOf(event) }), event, `${folderOf(step)}/removal_eval`);
}

function takeShorter(view: RunView, event: Event<'shorten-end'>): RunView {
  const { candidateSkill: skill, candidateHash: hash, place } = event;
  const { current, stepsDone: step } = view.state;
  const shorter = { kind: 'shorter', skill, hash, parent: view.current, step, scoreBefore: current.score } as const;
  return addTrial(addVersion(view, { ...shorter, ...judgementOf(event) }), event, `shorten_eval/try_${place}`);
}

function takeGuidance(view: RunView, event: Event<'slow-update-end'>): RunView {
  const { candidateSkill: skill, candidateHash: hash, epoch: step, content } = event;
  if (content === '' || hash === view.state.current.hash) return view;
  const scoreBefore = view.state.current.score;
  const guidance = { kind: 'guidance', skill, hash, parent: view.current, step, scoreBefore } as const;
  const folder = `slow_update/epoch_${String(step).padStart(2, '0')}`;
  return addTrial(addVersion(view, { ...guidance, ...judgementOf(event) }), event, `${folder}/selection_eval`);
}

function takePruned(view: RunView, { removed, skill, hash, score }: Event<'prune-end'>): RunView {
  if (removed.length === 0) return view;
  const { best, stepsDone: step } = view.state;
  const pruned = { kind: 'pruned', fate: 'accepted', skill, hash, parent: view.best, step } as const;
  return addVersion(view, { ...pruned, score, scoreBefore: best.score, met: 0 });
}

type Trial = Event<'removal-end' | 'shorten-end'>;

type Judged = {
  readonly action: string;
  readonly score: number;
  readonly evaluation: { readonly scores: readonly { readonly id: string }[] } | null;
  readonly decision?: GateDecision;
  readonly invalidReason?: string;
  readonly leakReason?: string;
  readonly blame?: Blame;
};

function judgementOf({ action, score, evaluation, decision, invalidReason, leakReason, blame }: Judged) {
  const reason = decision?.reason ?? invalidReason ?? leakReason ?? blame?.reason;
  const isMeasured = evaluation !== null || isAccepted(action) || action === 'reject';
  const fate = fateOf(action, decision, invalidReason ?? leakReason);
  return { fate, score: isMeasured ? score : null, reason, decision, met: evaluation?.scores.length ?? 0 };
}

function fateOf(action: string, decision: GateDecision | undefined, fault: string | undefined): SkillVersion['fate'] {
  if (isAccepted(action)) return 'accepted';
  if (decision?.verdict === 'invalid' || fault !== undefined || action.startsWith('skip_')) return 'invalid';
  return decision?.verdict === 'inconclusive' ? 'undecided' : 'rejected';
}

/** The attempts of the last version, and those of the current one that were made to compare. Files have the same names. */
function addTrial(view: RunView, { evaluation, decision }: Pick<Trial, 'evaluation' | 'decision'>, folder: string) {
  const { confirmation = [], refreshed = [], veto } = decision ?? {};
  const [own, current] = [view.versions.length - 1, view.current];
  const add = (known: RunView, version: number, name: string, scores: readonly ItemScore[]) =>
    addAttempts(known, { version, split: 'val', part: `${folder}/${name}` }, scores);
  const judged = add(add(view, own, 'results', evaluation?.scores ?? []), own, 'second_pass', confirmation);
  const asked = add(judged, own, 'asked_again', veto?.candidate ?? []);
  return add(asked, current, 'current', [...refreshed, ...(veto?.incumbent ?? [])]);
}

const folderOf = (step: number) => `steps/step_${String(step).padStart(4, '0')}`;

function pointOf(state: RunState, versions: RunView['versions']): CurvePoint {
  const { step, bestScore, currentScore, action } = state.history.at(-1)!;
  const { calls, tokens, costUsd } = totalCost(state.usage);
  const candidate = versions.findLast((one) => one.step === step && (one.kind === 'candidate' || one.kind === 'part'));
  const half = halfWidth(state);
  return {
    ...{ step, calls, tokens, costUsd, best: bestScore, current: currentScore },
    band: { low: Math.max(0, currentScore - half), high: Math.min(1, currentScore + half) },
    candidate: candidate?.score ?? null,
    fate: isAccepted(action) ? 'accepted' : (candidate?.fate ?? 'skipped'),
  };
}

/** Of a mean over the attempts of the current skill, by what repeated attempts of the first one say about noise. */
function halfWidth({ gate, config }: RunState): number {
  const draws = drawsIn(gate.own);
  const quantile = normalQuantile((1 + (config?.confidence ?? DEFAULT_CONFIDENCE)) / 2);
  return draws === 0 ? 0 : (quantile * noiseOf(gate.seed)) / Math.sqrt(draws);
}

const drawsIn = memoizeWeakly((own: RunState['gate']['own']) =>
  Object.values(own).reduce((sum, { count }) => sum + count, 0),
);

const noiseOf = memoizeWeakly((seed: RunState['gate']['seed']) => calibrate(toEvidence(seed)).rolloutNoise);
