import type { ChatModel } from '../../../src/index.ts';
import type { Draw } from '../../../src/sim/draw.ts';
import { carryOutSuggestions, mergeEdits } from '../../../src/sim/optimizer/edits.ts';
import { decideRate } from '../../../src/sim/optimizer/propose-changes.ts';
import { type Assignment, type OptimizerPrompt, readPrompt } from '../../../src/sim/optimizer/read-prompt.ts';
import { createSimulatedModel, textOf } from '../../../src/sim/simulated-model.ts';
import { shortenReminders } from '../../../src/sim/world/world.ts';
import { type Habits, readFailures, readSuccesses } from './propose.ts';
import { type Ranker, rankEdits } from './rank.ts';
import type { RulesWorld } from './world.ts';

export type RulesOptimizerOptions = Pick<Habits, 'precision' | 'harm'> &
  Partial<Habits> & {
    readonly ranker?: Ranker;
  };
type Knobs = Habits & { readonly ranker: Ranker; readonly world: RulesWorld };

/**
 * An optimizer for skills of the rules world. It proposes, merges and rewrites by the prompt's text alone; only its ranker
 * knows the world, as far as its kind says.
 */
export function rulesOptimizer(world: RulesWorld, options: RulesOptimizerOptions): ChatModel {
  const habits = { wording: 'fixed', learns: false, ranker: 'right', ...options } as const;
  const { seed } = world;
  return createSimulatedModel({
    id: `rules-optimizer/1 seed=${seed} ${JSON.stringify(habits)}`,
    seed,
    latencyMs: 0,
    failureRate: 0,
    answer({ messages }, draw) {
      const prompt = readPrompt(messages);
      // Who is not told how many to keep ranks them all.
      const isLimited = /\bat most \d/i.test(textOf(messages, 'user'));
      const asked = isLimited ? prompt : { ...prompt, limit: Number.POSITIVE_INFINITY };
      return JSON.stringify(work[prompt.assignment](asked, { ...habits, world }, draw), null, 2);
    },
  });
}

const work: Record<Assignment, (prompt: OptimizerPrompt, knobs: Knobs, draw: Draw) => object> = {
  'read-failures': readFailures,
  'read-successes': readSuccesses,
  merge: mergeEdits,
  rank: (prompt, { ranker, world }, draw) => rankEdits(prompt, ranker, world, draw),
  'decide-rate': decideRate,
  rewrite: carryOutSuggestions,
  'write-guidance': () => ({ reasoning: '', slow_update_content: '' }),
  'write-notes': () => ({ reasoning: '', meta_skill_content: '' }),
  'shorten-reminders': shortenReminders,
};
