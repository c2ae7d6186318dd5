import { createHash } from 'node:crypto';
import { basename, dirname, resolve } from 'node:path';
import type { ChatMessage, ChatModel } from 'skillopt';
import { ForwardPasses } from './forward-passes.ts';
import { type Engine, startEngine } from './llama-engine.ts';

export type LocalChat = ChatModel & {
  readonly passes: ForwardPasses;
  /** Choice → its chance: what infinitely many draws would show. */
  chances(messages: readonly ChatMessage[]): Promise<ReadonlyMap<string, number>>;
};

export type LocalChatOptions = {
  readonly modelPath: string;
  /** Replies are one of these, as with an endpoint that takes an enumeration. */
  readonly choices: readonly string[];
  readonly temperature: number;
  /** What the chance of each choice is multiplied with, to set off that a model likes one word more than another. Default: 1. */
  readonly weights?: readonly number[];
};

/** A real model whose draws are a function of request and `sampleIndex`. It is loaded when first needed. */
export function localChat({ modelPath, choices, temperature, weights }: LocalChatOptions): LocalChat {
  const passes = new ForwardPasses(resolve(dirname(modelPath), 'passes.txt'));
  const weighted = weights ? ` weights=${weights.join('|')}` : '';
  const id = `${basename(modelPath)} t=${temperature} ${choices.join('|')}${weighted}`;
  let engine: Promise<Engine> | undefined;
  const chances = async (messages: readonly ChatMessage[]) => {
    const prompt = messages.map(({ content }) => content).join('\n\n');
    const words = `${basename(modelPath)} ${choices.join('|')}`;
    const raw = await passes.get(words, prompt, async () => {
      engine ??= startEngine(modelPath);
      return (await engine).chancesOf(choices, prompt);
    });
    return new Map(temper(raw, temperature, weights).map((chance, index) => [choices[index]!, chance]));
  };
  return {
    id,
    isFree: true,
    passes,
    chances,
    async complete({ messages, sampleIndex = 0 }) {
      const text = pick(await chances(messages), uniform(id, messages, sampleIndex));
      const usage = { input: 0, cached: 0, output: 1, reasoning: 0 };
      return { text, usage, finishReason: 'stop' };
    },
  };
}

/** Chances of the choices alone at a temperature: the same as drawing until a choice comes. */
function temper(raw: readonly number[], temperature: number, weights: readonly number[] = []): number[] {
  const powers = raw.map((chance, index) => Math.max(chance, 1e-12) ** (1 / temperature) * (weights[index] ?? 1));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

function uniform(id: string, messages: readonly ChatMessage[], sampleIndex: number): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([id, messages, sampleIndex]))
    .digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}

function pick(chances: ReadonlyMap<string, number>, draw: number): string {
  let left = draw;
  for (const [choice, chance] of chances) {
    left -= chance;
    if (left < 0) return choice;
  }
  return [...chances.keys()].at(-1)!;
}
