import { applyEdit, PythonRandom } from 'skillopt';
import type { Message } from '../../examples/classify/classify-env.ts';
import type { Proposal } from '../../examples/classify/proposals.ts';
import {
  addObservations,
  type Evidence,
  gateSettings,
  mergeAccepted,
  noEvidence,
  pooledMean,
  type Verdict,
} from '../../src/core/stats/index.ts';
import type { LocalChat } from './local-chat.ts';
import { race } from './race.ts';
import { refresh } from './refresh.ts';
import { passes } from './rollouts.ts';

type Step = {
  readonly name: string;
  readonly intent: Proposal['intent'];
  readonly verdict: Verdict | 'continue';
  readonly rollouts: number;
  readonly incumbent: string;
  readonly candidate: string;
};
export type Trained = {
  readonly skill: string;
  readonly steps: readonly Step[];
  readonly seed: Evidence;
  /** What the gate thinks of the winner. Never reported as its score. */
  readonly believed: number;
  readonly rollouts: number;
};

/** The proposals in turn through the default gate, from the empty skill. */
export async function trainSkill(chat: LocalChat, items: readonly Message[], proposals: readonly Proposal[]) {
  const { keptRollouts } = gateSettings(items.length);
  const random = new PythonRandom(1);
  let skill = '';
  let seed = addObservations(noEvidence, await passes(chat, skill, items, { from: 0, count: 2 }));
  let incumbent = seed;
  let rollouts = 2 * items.length;
  const steps: Step[] = [];
  for (const [index, proposal] of proposals.entries()) {
    const samples = { refresh: 100 + index, race: 200 + index };
    const fresh = await refresh({ chat, skill, items, incumbent, sampleIndex: samples.refresh, draw: random.random() });
    incumbent = fresh.evidence;
    if (skill === '') seed = incumbent;
    const candidate = applyEdit(skill, proposal.editFor(skill));
    const { judgement, observed } = await race({ chat, skill: candidate, items, incumbent, sampleIndex: samples.race });
    rollouts += fresh.rollouts + observed.size;
    const { name, intent } = proposal;
    const { verdict } = judgement;
    steps.push({ name, intent, verdict, rollouts: observed.size, incumbent: skill, candidate });
    if (verdict !== 'accept') continue;
    skill = candidate;
    incumbent = mergeAccepted({ incumbent, candidate: observed, keptRollouts });
  }
  return { skill, steps, seed, rollouts, believed: pooledMean(incumbent) ?? 0 } satisfies Trained;
}
