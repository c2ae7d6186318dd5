import { knowsNoise } from '../core/contracts/index.ts';
import { type RunState, type SearchEnd, toKnowledge } from '../core/run/index.ts';
import { barFor, unmetItems, weigh } from '../core/stats/index.ts';
import { leastRollouts, rolloutsLeft } from './budget/rollouts-left.ts';
import type { Step } from './plan.ts';
import type { Run } from './run.ts';

/** A first look at a candidate has about so many tasks; with fewer left a step would be wasted. */
const LEAST_LOOK = 20;

/** Why no step need be taken any more; `undefined` while there is something to gain. */
export function whyOver(state: RunState, step: Step, { config, items }: Run): SearchEnd | undefined {
  const left = rolloutsLeft(state, config, items);
  if (left !== undefined && left < neededFor(state, step, items)) return 'rollouts_spent';
  return isNothingLeft(state, { config, items }) ? 'nothing_to_gain' : undefined;
}

const neededFor = (state: RunState, step: Step, items: Run['items']) =>
  newTasks(step, state) + Math.min(items.val.length, LEAST_LOOK);

/** What to say of a limit that has paid for a baseline and a final measurement, and for no step between them. */
export function noRoomForStep(state: RunState, step: Step, { config, items }: Run): string | undefined {
  const { maxRollouts } = config;
  if (maxRollouts === undefined || state.stepsDone > 0) return undefined;
  const least = leastRollouts(neededFor(state, step, items), config, items);
  return `maxRollouts: ${maxRollouts} attempts left no room for a step, so nothing was tried; the least is ${least}.`;
}

function newTasks({ batches }: Step, { attempted, current }: RunState): number {
  const known = new Set(attempted.hash === current.hash ? attempted.ids : []);
  return new Set(batches.flatMap((batch) => batch.items.map(({ id }) => id)).filter((id) => !known.has(id))).size;
}

/** Perfect scores would not be ahead by as much as a winner must be. Only where each task was attempted with this very skill. */
function isNothingLeft(state: RunState, { config, items }: Pick<Run, 'config' | 'items'>): boolean {
  if (!knowsNoise(config.gate) || !config.useGate) return false;
  const knowledge = toKnowledge(state.gate);
  const ids = items.val.map(({ id }) => id);
  if (unmetItems(knowledge, ids).length > 0) return false;
  const room = ids.reduce((sum, id) => sum + 1 - knowledge.own.get(id)!.sum / knowledge.own.get(id)!.count, 0);
  return room < barFor(weigh({ knowledge, observed: new Map(), ids }).noise, ids.length).lead;
}
