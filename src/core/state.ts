import type { RunEvent } from './event.ts';
import { believableScore, openEvidence } from './gate-evidence.ts';
import {
  accept,
  clock,
  endStep,
  isAccepted,
  isNewBest,
  isPaired,
  learn,
  reduceSalvage,
  reduceStage,
  remember,
  scoresOf,
} from './reduce-step.ts';
import { type RunState, unscored } from './run-state.ts';
import { bucketScores } from './score.ts';
import { skillHash } from './skill-hash.ts';
import { addStageUsage } from './stage-usage.ts';

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
      const { evaluation, score, passes = [] } = event;
      const seed = { ...state.current, score };
      const baseline = { hard: evaluation.hard, soft: evaluation.soft, score };
      const all = [evaluation, ...passes].map((pass) => pass.scores);
      const gate = state.config ? openEvidence(all, state.config) : state.gate;
      const made = event.usage.rollout?.rollouts;
      const rolloutMs = made === undefined ? undefined : event.ms / made;
      return remember({ ...state, gate, current: seed, best: seed, baseline, rolloutMs }, seed.hash, evaluation);
    }
    case 'step-start': {
      const { step, epoch, stepInEpoch, proposal, editBudget, itemIds } = event;
      const place = { step, epoch, stepInEpoch, ...(proposal === undefined ? {} : { proposal }) };
      const draft = { ...place, editBudget, rolloutN: itemIds.length, timing: {}, tokens: {} };
      return { ...state, draft };
    }
    case 'lr-decision': {
      const { type: _type, at: _at, ms: _ms, usage: _usage, step, ...lrDecision } = event;
      const earlier = state.lrHistory.filter((row) => row.step !== step); // a step may be taken anew
      const lrHistory = [...earlier, { step, ...lrDecision }];
      return { ...state, lrHistory, draft: { ...state.draft, editBudget: lrDecision.learningRate, lrDecision } };
    }
    case 'salvage-end':
      return reduceSalvage(state, event);
    case 'stage-end':
      return reduceStage(clock(state, event), event);
    case 'step-end':
      return endStep(state, event.action);
    case 'slow-update-end': {
      const { epoch, action, candidateSkill: skill, candidateHash: hash } = event;
      const known = learn(state, hash, event);
      const gate = isAccepted(action) ? accept(known, scoresOf(event)) : known.gate;
      const origin = `slow_update_epoch_${String(epoch).padStart(2, '0')}`;
      const score = isPaired(state) && isAccepted(action) ? believableScore(gate) : event.score;
      const candidate = { skill, hash, score, step: state.stepsDone, origin };
      const current = isAccepted(action) ? candidate : known.current;
      const best = isNewBest(action, candidate, state) ? candidate : state.best;
      const { leakReason: reason } = event;
      const leaks =
        reason === undefined ? known.leaks : [...known.leaks, { stage: 'slow_update', at: epoch, reason } as const];
      return { ...known, gate, current, best, leaks, slowUpdateEpoch: epoch };
    }
    case 'meta-skill-end': {
      const { epoch, action, content } = event;
      // A comparison that taught nothing does not take away what was learned before.
      return { ...state, metaSkill: action === 'no_content' ? state.metaSkill : content, metaSkillEpoch: epoch };
    }
    case 'epoch-end':
      return { ...state, lastEpoch: { epoch: event.epoch, skill: state.current.skill }, stepBuffer: [] };
    case 'prune-end': {
      const { skill, hash, score, evaluations } = event;
      const pruned = { ...state.best, skill, hash, score, origin: 'prune' };
      const best = event.removed.length > 0 ? pruned : state.best;
      return { ...state, best, isPruned: true, evaluations: { ...state.evaluations, ...evaluations } };
    }
    case 'final-selection-end': {
      const { evaluation, score, isPromoted } = event;
      const known = evaluation ? remember(state, state.current.hash, evaluation) : state;
      const { hard = 0, soft = 0 } = known.evaluations[state.current.hash] ?? {};
      const best = isPromoted ? { ...state.current, score } : state.best;
      return { ...known, best, final: { hard, soft, score } };
    }
    case 'final-measurement-end': {
      const { type: _type, at: _at, ms: _ms, usage: _usage, ...finalMeasurement } = event;
      return { ...state, finalMeasurement };
    }
    case 'test-look':
      return { ...state, testLooks: event.looks };
    case 'test-end': {
      const { evaluation, subject, taskTypes } = event;
      const buckets = bucketScores(evaluation.scores, taskTypes);
      const report = { hard: evaluation.hard, soft: evaluation.soft, n: evaluation.scores.length, buckets };
      return { ...state, tests: { ...state.tests, [subject]: report } };
    }
    case 'run-end':
      return { ...state, memorisedShare: event.memorisedShare, isDone: true };
    default:
      event satisfies never;
      return state; // an event of a later version: nothing that this one knows about
  }
}
