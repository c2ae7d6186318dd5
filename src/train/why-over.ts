import { toKnowledge } from '../core/gate/gate-evidence.ts';
import type { SearchEnd } from '../core/run/event.ts';
import { unmetItems, weigh } from '../core/stats/knowledge.ts';
import { barFor } from '../core/stats/race-settings.ts';
import { rolloutsLeft } from './budget/rollouts-left.ts';
import type { Step } from './plan.ts';
import type { TrainInput } from './setup/train-input.ts';

/** A first look at a candidate has about so many tasks; with fewer left a step would be wasted. */
const LEAST_LOOK = 20;

/** Why no step need be taken any more; `undefined` while there is something to gain. */
export function whyOver(step: Step, input: TrainInput): SearchEnd | undefined {
  const { config, items, state } = input;
  const left = rolloutsLeft(state, config, items);
  const needed = newTasks(step, state) + Math.min(items.val.length, LEAST_LOOK);
  if (left !== undefined && left < needed) return 'rollouts_spent';
  return isNothingLeft(input) ? 'nothing_to_gain' : undefined;
}

function newTasks({ batches }: Step, { attempted, current }: TrainInput['state']): number {
  const known = new Set(attempted.hash === current.hash ? attempted.ids : []);
  return new Set(batches.flatMap((batch) => batch.items.map(({ id }) => id)).filter((id) => !known.has(id))).size;
}

/** Perfect scores would not be ahead by as much as a winner must be. Only where each task was attempted with this very skill. */
function isNothingLeft({ config, items, state }: TrainInput): boolean {
  if (config.gate !== 'paired' || !config.useGate) return false;
  const knowledge = toKnowledge(state.gate);
  const ids = items.val.map(({ id }) => id);
  if (unmetItems(knowledge, ids).length > 0) return false;
  const room = ids.reduce((sum, id) => sum + 1 - knowledge.own.get(id)!.sum / knowledge.own.get(id)!.count, 0);
  return room < barFor(weigh({ knowledge, observed: new Map(), ids }).noise, ids.length).lead;
}
