import type { ChatModel } from 'skillopt';
import { askForLabel, classifyEnv, type Message } from '../../examples/classify/classify-env.ts';
import type { Observation } from '../../src/public/stats.ts';
import type { LocalChat } from './local-chat.ts';

const signal = new AbortController().signal;

/** One attempt at one message, through the environment's front door. */
async function rollout(chat: ChatModel, skill: string, item: Message, sampleIndex: number): Promise<Observation> {
  const target: ChatModel = { ...chat, complete: (request) => chat.complete({ ...request, sampleIndex }) };
  const { hard } = await classifyEnv.rolloutOne({ item, skill, target, extras: {}, signal });
  return { id: item.id, score: hard };
}

/** One attempt at each message. */
export async function pass(chat: ChatModel, skill: string, items: readonly Message[], sampleIndex: number) {
  const observations: Observation[] = [];
  for (const item of items) observations.push(await rollout(chat, skill, item, sampleIndex));
  return observations;
}

/** Several passes, with consecutive sample indexes. */
export async function passes(chat: ChatModel, skill: string, items: readonly Message[], samples: Samples) {
  const observations: Observation[] = [];
  for (let index = 0; index < samples.count; index++) {
    observations.push(...(await pass(chat, skill, items, samples.from + index)));
  }
  return observations;
}

export type Samples = { readonly from: number; readonly count: number };

/** What infinitely many passes would show: nothing is drawn. */
export async function trueScore(chat: LocalChat, skill: string, items: readonly Message[]): Promise<number> {
  let sum = 0;
  for (const item of items) sum += (await chat.chances(askForLabel(skill, item))).get(item.label) ?? 0;
  return sum / items.length;
}

export function meanScore(observations: readonly Observation[]): number {
  return observations.reduce((sum, { score }) => sum + (score ?? 0), 0) / observations.length;
}
