import { z } from 'zod';
import { type ChatModel, parseWith } from '../../core/contracts/index.ts';
import { draftTasks, outlineSkill } from '../drafter/draft-tasks.ts';
import { solveTask } from '../drafter/house-style.ts';
import type { Draw } from '../draw.ts';
import { createSimulatedModel, lineOptions, rate } from '../simulated-model.ts';
import { shortenReminders } from '../world/reminders.ts';
import type { Character } from './character.ts';
import { decideRate } from './decide-rate.ts';
import { mergeEdits } from './merge-edits.ts';
import { rankEdits } from './rank-edits.ts';
import { readFailures } from './read-failures.ts';
import { type Assignment, type OptimizerPrompt, readPrompt, type TaskAssignment } from './read-prompt.ts';
import { readSuccesses } from './read-successes.ts';
import { carryOutSuggestions } from './whole-version.ts';
import { writeGuidance } from './write-guidance.ts';
import { writeMetaNotes } from './write-meta-notes.ts';

const Options = z.strictObject({
  ...lineOptions,
  precision: rate.default(0.85),
  harmfulRate: rate.default(0.1),
  duplicateRate: rate.default(0.1),
  stubbornness: rate.default(0),
  metaGain: rate.default(0.5),
  slowGain: rate.default(0.5),
  draftErrorRate: rate.default(0.2),
  draftRepeatRate: rate.default(0.2),
  solveErrorRate: rate.default(0.2),
});

/**
 * Per edit: `harmfulRate` 0.1 states a wrong rule on a topic that was fine; of the others `precision` 0.85 state the right
 * rule, the rest a remark that changes nothing; `duplicateRate` 0.1 is followed by a repetition. `stubbornness` 0 is the
 * share of edits whose mistake is a habit, and comes again until a memory speaks against it. Warned by its own notes it
 * makes a share `metaGain` 0.5 fewer mistakes of a kind; with two epochs side by side, `slowGain` 0.5 fewer of any kind.
 * Asked to draft tasks, it gives a wrong reference in a share `draftErrorRate` 0.2 and repeats a task, word for word or in other
 * words, in a share `draftRepeatRate` 0.2; asked to solve one, it is wrong in a share `solveErrorRate` 0.2, independently.
 * `seed` 7, `latencyMs` 0 and `failureRate` 0 as for the target.
 */
export type SimulatedOptimizerOptions = z.input<typeof Options>;

/**
 * An optimizer for skills of the simulated world. It reads the prompt's text and nothing else: works out from questions
 * and references which rules the house follows, sees which of them the skill lacks, and proposes, merges and ranks edits.
 * It remembers nothing by itself. What earlier steps and epochs have shown it takes from the prompt, if it stands there.
 */
export function simulatedOptimizer(options: SimulatedOptimizerOptions = {}): ChatModel {
  const knobs = parseWith(Options, options, "The simulated optimizer's options are not valid.");
  return createSimulatedModel({
    ...knobs,
    id: nameOf(knobs),
    answer({ messages }, draw) {
      const prompt = readPrompt(messages);
      const { assignment, taskAssignment } = prompt;
      if (taskAssignment === 'solve') return solveTask(prompt, knobs, draw);
      const reply = taskAssignment ? taskWork[taskAssignment] : work[assignment];
      return JSON.stringify(reply(prompt, knobs, draw), null, 2);
    },
  });
}

function nameOf({ seed, precision, harmfulRate, duplicateRate, ...knobs }: z.output<typeof Options>): string {
  const { stubbornness, metaGain, slowGain, draftErrorRate, draftRepeatRate, solveErrorRate } = knobs;
  const isUsualDrafter = draftErrorRate === 0.2 && draftRepeatRate === 0.2 && solveErrorRate === 0.2;
  const drafts = isUsualDrafter ? '' : ` drafts=${draftErrorRate}/${draftRepeatRate}/${solveErrorRate}`;
  const memory = stubbornness === 0 && metaGain === 0.5 && slowGain === 0.5;
  const rest = memory ? '' : ` stubborn=${stubbornness} meta=${metaGain} slow=${slowGain}`;
  return `sim-optimizer/1 seed=${seed} precision=${precision} harmful=${harmfulRate} duplicate=${duplicateRate}${rest}${drafts}`;
}

type Work = (prompt: OptimizerPrompt, character: Character, draw: Draw) => object;

const taskWork: Record<Exclude<TaskAssignment, 'solve'>, Work> = { outline: outlineSkill, draft: draftTasks };

const work: Record<Assignment, Work> = {
  'read-failures': readFailures,
  'read-successes': readSuccesses,
  merge: mergeEdits,
  rank: rankEdits,
  'decide-rate': decideRate,
  rewrite: carryOutSuggestions,
  'write-guidance': writeGuidance,
  'write-notes': writeMetaNotes,
  'shorten-reminders': shortenReminders,
};
