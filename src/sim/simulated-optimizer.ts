import { z } from 'zod';
import { parseWith } from '../core/config.ts';
import type { ChatModel } from '../core/model.ts';
import type { Draw } from './draw.ts';
import { mergeEdits } from './merge-edits.ts';
import type { Habits } from './propose-changes.ts';
import { rankEdits } from './rank-edits.ts';
import { readFailures } from './read-failures.ts';
import { type Assignment, type OptimizerPrompt, readPrompt } from './read-prompt.ts';
import { readSuccesses } from './read-successes.ts';
import { createSimulatedModel, lineOptions, rate } from './simulated-model.ts';

const Options = z.strictObject({
  ...lineOptions,
  precision: rate.default(0.85),
  harmfulRate: rate.default(0.1),
  duplicateRate: rate.default(0.1),
});

/**
 * Per edit: `harmfulRate` 0.1 states a wrong rule on a topic that was fine; of the others `precision` 0.85 state the right
 * rule, the rest a remark that changes nothing; `duplicateRate` 0.1 is followed by a repetition. `seed` 7, `latencyMs` 0
 * and `failureRate` 0 as for the target.
 */
export type SimulatedOptimizerOptions = z.input<typeof Options>;

/**
 * An optimizer for skills of the simulated world. It reads the prompt's text and nothing else: works out from questions
 * and references which rules the house follows, sees which of them the skill lacks, and proposes, merges and ranks edits.
 */
export function simulatedOptimizer(options: SimulatedOptimizerOptions = {}): ChatModel {
  const knobs = parseWith(Options, options, "The simulated optimizer's options are not valid.");
  const { seed, precision, harmfulRate, duplicateRate } = knobs;
  return createSimulatedModel({
    ...knobs,
    id: `sim-optimizer/1 seed=${seed} precision=${precision} harmful=${harmfulRate} duplicate=${duplicateRate}`,
    answer({ messages }, draw) {
      const prompt = readPrompt(messages);
      return JSON.stringify(work[prompt.assignment](prompt, knobs, draw), null, 2);
    },
  });
}

const work: Record<Assignment, (prompt: OptimizerPrompt, habits: Habits, draw: Draw) => object> = {
  'read-failures': readFailures,
  'read-successes': readSuccesses,
  merge: ({ patches }) => mergeEdits(patches),
  rank: rankEdits,
};
