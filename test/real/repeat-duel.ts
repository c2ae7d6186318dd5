import { applyEdit } from 'skillopt';
import type { Message } from '../../examples/classify/classify-env.ts';
import type { Proposal } from '../../examples/classify/proposals.ts';
import { addOwn, noKnowledge } from '../../src/public/stats.ts';
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
type DuelResults = { readonly ours: DuelResult; readonly strict: DuelResult };

/** Room for the two passes of the incumbent and the one of the candidate. */
const sampleOf = (number: number) => 10_000 + 10 * number;

/**
 * One candidate before both gates. The strict gate compares one pass with one pass. Ours has a second pass of the incumbent
 * and may stop early or look twice. Where they look at the same thing, they see the same draws.
 */
async function duel({ chat, items, incumbent, candidate, number }: Duel): Promise<DuelResults> {
  const from = sampleOf(number);
  const sampleIndex = from + 2;
  const before = await passes(chat, incumbent, items, { from, count: 2 });
  const knowledge = addOwn(noKnowledge, before);
  const raced = await race({ chat, skill: candidate, items, incumbent: { skill: incumbent, knowledge }, sampleIndex });
  const after = meanScore(await pass(chat, candidate, items, sampleIndex));
  return {
    ours: { isAccepted: raced.judgement.verdict === 'accept', rollouts: raced.rollouts },
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
  return { name: proposal.name, trueChange, decisions: ROUNDS, ours: tally('ours'), strict: tally('strict') };
}
