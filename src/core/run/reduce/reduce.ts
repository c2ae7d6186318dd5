import type { RunEvent } from '../event.ts';
import { addFailures } from '../failures.ts';
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
  const failures = addFailures(before.failures, event.failures);
  const wallTimeMs = before.wallTimeMs + event.ms;
  const counted = { ...before, usage, answers, threw, failures, wallTimeMs, ...countRollouts(before, event) };
  return withFormerBest(before, apply(counted, event));
}

function apply(state: RunState, event: RunEvent): RunState {
  if (!Object.hasOwn(REDUCERS, event.type)) return state; // an event of a later version: nothing that this one knows about
  const reduceEvent = REDUCERS[event.type] as (state: RunState, event: RunEvent) => RunState;
  return reduceEvent(state, event);
}

type Reducers = {
  readonly [Type in RunEvent['type']]: (state: RunState, event: Extract<RunEvent, { type: Type }>) => RunState;
};

/** One for each type of event: the compiler refuses the table when one is missing. */
const REDUCERS: Reducers = {
  'run-start': startRun,
  'baseline-end': setBaseline,
  'step-start': startStep,
  'lr-decision': decideRate,
  'stage-end': (state, event) => reduceStage(clock(state, event), event),
  'salvage-end': reduceSalvage,
  'removal-end': reduceRemoval,
  'step-end': (state, { action }) => endStep(state, action),
  'slow-update-end': takeGuidance,
  'meta-skill-end': takeNotes,
  'epoch-end': endEpoch,
  'search-end': (state, { reason }) => ({ ...state, searchEnd: reason }),
  'prune-end': prune,
  'final-selection-end': selectFinal,
  'finalists-end': chooseFinalist,
  'final-measurement-end': measureFinal,
  'test-look': (state, { looks }) => ({ ...state, testLooks: looks }),
  'test-end': endTest,
  'run-end': (state, { memorisedShare }) => ({ ...state, memorisedShare, isDone: true }),
};
