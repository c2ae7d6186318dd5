import type { ChatModel } from 'skillopt';
import type { Message } from '../../examples/classify/classify-env.ts';
import { addObservations, type Evidence, gateSettings, refreshPlan } from '../../src/core/stats/index.ts';
import { pass } from './rollouts.ts';

export type Refresh = {
  readonly chat: ChatModel;
  readonly skill: string;
  readonly items: readonly Message[];
  readonly incumbent: Evidence;
  readonly sampleIndex: number;
  /** From [0, 1). */
  readonly draw: number;
};

/** The incumbent's evidence with the rollouts that are due in this step. */
export async function refresh({ chat, skill, items, incumbent, sampleIndex, draw }: Refresh) {
  const ids = items.map(({ id }) => id);
  const due = refreshPlan({ items: ids, incumbent, share: gateSettings(items.length).refreshShare, draw });
  const again = items.filter(({ id }) => due.includes(id));
  const evidence = addObservations(incumbent, await pass(chat, skill, again, sampleIndex));
  return { evidence, rollouts: again.length };
}
