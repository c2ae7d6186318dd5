import { DRAFTING } from './draft-tasks.ts';

/** Of a skill that covers as much as most. */
const TOPICS = 8;
const MOST_TOPICS = 12;
/** Drafts that are solved for each task that is kept, and solutions of each, as they usually are. */
const USUAL_TRIES = 1.3;
const USUAL_SOLUTIONS = 2.3;
const MOST_SOLUTIONS = 3;

/** How often a model is asked for so many tasks: once about the skill, once for each topic, and for the solutions. */
export function estimateDrafting(count: number): { readonly likely: number; readonly most: number } {
  const { MOST_ROUNDS, MOST_TRIES } = DRAFTING;
  const likely = 1 + 2 * Math.min(TOPICS, count) + count * USUAL_TRIES * USUAL_SOLUTIONS;
  const most = 2 * (1 + MOST_ROUNDS * (MOST_TOPICS + 1)) + Math.ceil(count * MOST_TRIES) * MOST_SOLUTIONS;
  return { likely: Math.round(likely), most };
}
