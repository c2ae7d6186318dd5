import type { RunEvent } from '../event.ts';
import type { RunState } from '../run-state.ts';
import { addAnswers } from '../stage-answers.ts';
import { addStageUsage } from '../stage-usage.ts';
import { endTest, measureFinal, prune, selectFinal } from './end.ts';
import { endEpoch, takeGuidance, takeNotes } from './epoch.ts';
import { chooseFinalist, withFormerBest } from './finalists.ts';
import { countRollouts } from './rollouts-made.ts';
import { clock, reduceStage } from './stage.ts';
import { setBaseline, startRun } from './start.ts';
import { decideRate, endStep, reduceRemoval, reduceSalvage, startStep } from './step.ts';

/** The only place where a run's state changes. Resuming a run is folding this over its journal. */
export function reduce(before: RunState, event: RunEvent): RunState {
  const usage = addStageUsage(before.usage, event.usage);
  const answers = addAnswers(before.answers, event.answers);
  const threw = before.threw + (event.threw ?? 0);
  const wallTimeMs = before.wallTimeMs + event.ms;
  const counted = { ...before, usage, answers, threw, wallTimeMs, ...countRollouts(before, event) };
  return withFormerBest(before, apply(counted, event));
}

function apply(state: RunState, event: RunEvent): RunState {
  switch (event.type) {
    case 'run-start':
      return startRun(state, event);
    case 'baseline-end':
      return setBaseline(state, event);
    case 'step-start':
      return startStep(state, event);
    case 'lr-decision':
      return decideRate(state, event);
    case 'stage-end':
      return reduceStage(clock(state, event), event);
    case 'salvage-end':
      return reduceSalvage(state, event);
    case 'removal-end':
      return reduceRemoval(state, event);
    case 'step-end':
      return endStep(state, event.action);
    case 'slow-update-end':
      return takeGuidance(state, event);
    case 'meta-skill-end':
      return takeNotes(state, event);
    case 'epoch-end':
      return endEpoch(state, event);
    case 'search-end':
      return { ...state, searchEnd: event.reason };
    case 'prune-end':
      return prune(state, event);
    case 'final-selection-end':
      return selectFinal(state, event);
    case 'finalists-end':
      return chooseFinalist(state, event);
    case 'final-measurement-end':
      return measureFinal(state, event);
    case 'test-look':
      return { ...state, testLooks: event.looks };
    case 'test-end':
      return endTest(state, event);
    case 'run-end':
      return { ...state, memorisedShare: event.memorisedShare, isDone: true };
    default:
      event satisfies never;
      return state; // an event of a later version: nothing that this one knows about
  }
}
