import type { ChatModel, Item, SkillEnv } from 'skillopt';
import { askForLabel, classifyEnv, type Message } from '../../examples/classify/classify-env.ts';
import type { Observation } from '../../src/public/stats.ts';
import type { LocalChat } from './local-chat.ts';

const signal = new AbortController().signal;

/** One attempt at each item, through the environment's front door. */
export async function pass(
  chat: ChatModel,
  skill: string,
  items: readonly Item[],
  sampleIndex: number,
  env: SkillEnv = classifyEnv,
) {
  const target: ChatModel = { ...chat, complete: (request) => chat.complete({ ...request, sampleIndex }) };
  const observations: Observation[] = [];
  for (const item of items) {
    const { hard } = await env.rolloutOne({ item, skill, target, extras: {}, signal });
    observations.push({ id: item.id, score: hard });
  }
  return observations;
}

/** Several passes, with consecutive sample indexes. */
export async function passes(chat: ChatModel, skill: string, items: readonly Item[], { from, count, env }: Samples) {
  const observations: Observation[] = [];
  for (let index = 0; index < count; index++) {
    observations.push(...(await pass(chat, skill, items, from + index, env)));
  }
  return observations;
}

/** Without an environment, customer messages are sorted. */
export type Samples = { readonly from: number; readonly count: number; readonly env?: SkillEnv };

/** What infinitely many passes would show: nothing is drawn. */
export async function trueScore(chat: LocalChat, skill: string, items: readonly Message[]): Promise<number> {
  let sum = 0;
  for (const item of items) sum += (await chat.chances(askForLabel(skill, item))).get(item.label) ?? 0;
  return sum / items.length;
}

export function meanScore(observations: readonly Observation[]): number {
  return observations.reduce((sum, { score }) => sum + (score ?? 0), 0) / observations.length;
}
