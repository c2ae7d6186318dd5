import { applyEdit } from 'skillopt';
import type { Message } from '../../examples/classify/classify-env.ts';
import type { Proposal } from '../../examples/classify/proposals.ts';
import {
  addObservations,
  type GateSettings,
  gateSettings,
  noEvidence,
  patientSettings,
} from '../../src/core/stats/index.ts';
import type { LocalChat } from './local-chat.ts';
import { race } from './race.ts';
import { meanScore, pass, passes, trueScore } from './rollouts.ts';

type Duel = {
  readonly chat: LocalChat;
  readonly items: readonly Message[];
  readonly incumbent: string;
  readonly candidate: string;
  /** Duels with different numbers share no draw. */
  readonly number: number;
};

type DuelResult = { readonly isAccepted: boolean; readonly rollouts: number };
type DuelResults = { readonly fast: DuelResult; readonly patient: DuelResult; readonly strict: DuelResult };

/** Room for the two passes of the incumbent and the one of the candidate. */
const sampleOf = (number: number) => 10_000 + 10 * number;

/**
 * One candidate before three gates. `fast` is what the trainer uses for several proposals a batch, which is its default,
 * `patient` what it uses for a single one. The strict gate compares one pass with one pass. The others have a second pass of
 * the incumbent and may stop early or look twice. Where they look at the same thing, they see the same draws.
 */
async function duel({ chat, items, incumbent, candidate, number }: Duel): Promise<DuelResults> {
  const from = sampleOf(number);
  const sampleIndex = from + 2;
  const before = await passes(chat, incumbent, items, { from, count: 2 });
  const decide = async (settings: GateSettings): Promise<DuelResult> => {
    const evidence = addObservations(noEvidence, before);
    const result = await race({ chat, skill: candidate, items, incumbent: evidence, sampleIndex, settings });
    return { isAccepted: result.judgement.verdict === 'accept', rollouts: result.rollouts };
  };
  const after = meanScore(await pass(chat, candidate, items, sampleIndex));
  return {
    fast: await decide(gateSettings(items.length)),
    patient: await decide(patientSettings(items.length)),
    strict: { isAccepted: after > meanScore(before.slice(0, items.length)), rollouts: items.length },
  };
}

type Duels = Omit<Duel, 'candidate' | 'number'> & { readonly proposal: Proposal; readonly place: number };
export type Gate = keyof DuelResults;
type GateTally = { readonly accepted: number; readonly rollouts: number };
export type DuelTally = Readonly<Record<Gate, GateTally>> & {
  readonly name: string;
  /** What infinitely many rollouts would show. */
  readonly trueChange: number;
  readonly decisions: number;
};

const ROUNDS = 20;

/** One proposal decided again and again, each time with draws of its own. */
export async function repeatDuel({ chat, items, incumbent, proposal, place }: Duels): Promise<DuelTally> {
  const candidate = applyEdit(incumbent, proposal.editFor(incumbent));
  const trueChange = (await trueScore(chat, candidate, items)) - (await trueScore(chat, incumbent, items));
  const results: DuelResults[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    results.push(await duel({ chat, items, incumbent, candidate, number: place * ROUNDS + round }));
  }
  const tally = (gate: Gate): GateTally => ({
    accepted: results.filter((result) => result[gate].isAccepted).length,
    rollouts: results.reduce((sum, result) => sum + result[gate].rollouts, 0),
  });
  const [fast, patient, strict] = [tally('fast'), tally('patient'), tally('strict')];
  return { name: proposal.name, trueChange, decisions: ROUNDS, fast, patient, strict };
}
