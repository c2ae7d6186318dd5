import { type ChatModel, shuffle } from 'skillopt';
import type { Message } from '../../examples/classify/classify-env.ts';
import {
  addObservations,
  type Evidence,
  type GateSettings,
  gateSettings,
  judgeWave,
  noEvidence,
  planWaves,
  raceOrder,
  type WaveJudgement,
} from '../../src/core/stats/index.ts';
import { pass } from './rollouts.ts';

export type Race = {
  readonly chat: ChatModel;
  readonly skill: string;
  readonly items: readonly Message[];
  readonly incumbent: Evidence;
  readonly sampleIndex: number;
  readonly settings?: GateSettings;
};

type RaceResult = { readonly judgement: WaveJudgement; readonly observed: Evidence; readonly rollouts: number };

/** Draws of a second pass, far from all others. */
const SECOND = 1_000_000_000;

/** The gate on one candidate: waves until it is decided, then a second pass if the settings ask for one. */
export async function race(input: Race): Promise<RaceResult> {
  const { chat, skill, items, incumbent, sampleIndex, settings = gateSettings(items.length) } = input;
  const byId = new Map(items.map((item) => [item.id, item]));
  const order = raceOrder(shuffle([...byId.keys()], sampleIndex), incumbent);
  const judge = (observed: Evidence, remaining: string[]) =>
    judgeWave({ incumbent, observed, remaining, scoreKind: 'binary', settings });
  let observed = noEvidence;
  for (const end of planWaves(order.length, settings)) {
    const wave = order.slice(observed.size, end).map((id) => byId.get(id)!);
    observed = addObservations(observed, await pass(chat, skill, wave, sampleIndex));
    const judgement = judge(observed, order.slice(end));
    if (judgement.verdict !== 'continue') return { judgement, observed, rollouts: observed.size };
  }
  observed = addObservations(observed, await pass(chat, skill, items, SECOND + sampleIndex));
  return { judgement: judge(observed, []), observed, rollouts: 2 * observed.size };
}
