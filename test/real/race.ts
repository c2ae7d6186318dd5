import { type ChatModel, shuffle } from 'skillopt';
import type { Message } from '../../examples/classify/classify-env.ts';
import {
  addObservations,
  addOwn,
  disputedItems,
  type Evidence,
  judgeWave,
  type Knowledge,
  noEvidence,
  planWaves,
  raceOrder,
  settingsFor,
  type WaveInput,
  type WaveJudgement,
} from '../../src/public/stats.ts';
import { pass } from './rollouts.ts';

export type Race = {
  readonly chat: ChatModel;
  readonly skill: string;
  readonly items: readonly Message[];
  /** The current skill, and what is known of it: at least one rollout of each item. */
  readonly incumbent: { readonly skill: string; readonly knowledge: Knowledge };
  readonly sampleIndex: number;
};

type RaceResult = { readonly judgement: WaveJudgement; readonly observed: Evidence; readonly rollouts: number };

/** Draws of a second pass, far from all others. */
const SECOND = 1_000_000_000;
const BATCH = 40;

/** The gate on one candidate: waves until it is decided, disputes settled, then a second pass if it is worth its price. */
export async function race({ chat, skill, items, incumbent, sampleIndex }: Race): Promise<RaceResult> {
  const byId = new Map(items.map((item) => [item.id, item]));
  const ids = [...byId.keys()];
  let { knowledge } = incumbent;
  let observed = noEvidence;
  const settings = settingsFor(knowledge, ids, BATCH);
  const rateOf = (id: string) => knowledge.own.get(id)!.sum / knowledge.own.get(id)!.count;
  const order = raceOrder(shuffle(ids, sampleIndex), rateOf);
  const itemsOf = (wanted: readonly string[]) => wanted.map((id) => byId.get(id)!);
  const judge = async (more: Partial<WaveInput> = {}) => {
    const remaining = order.filter((id) => !observed.has(id));
    const once = () => judgeWave({ knowledge, observed, remaining, settings, ...more });
    const disputed = once().verdict === 'accept' ? disputedItems(knowledge, observed) : [];
    knowledge = addOwn(knowledge, await pass(chat, incumbent.skill, itemsOf(disputed), SECOND + sampleIndex));
    return once();
  };
  for (const end of planWaves(order.length, settings)) {
    const wave = order.slice(observed.size, end);
    observed = addObservations(observed, await pass(chat, skill, itemsOf(wave), sampleIndex));
    const judgement = await judge();
    if (judgement.verdict !== 'continue') return { judgement, observed, rollouts: observed.size };
  }
  observed = addObservations(observed, await pass(chat, skill, items, SECOND + sampleIndex));
  const judgement = await judge({ settings: { ...settings, hasSecondPass: false }, isSecondPass: true });
  return { judgement, observed, rollouts: 2 * observed.size };
}
