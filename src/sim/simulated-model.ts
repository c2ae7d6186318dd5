import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import {
  type ChatMessage,
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  ModelCallError,
  requireTexts,
} from '../core/contracts/index.ts';
import { createDraw, type Draw } from './draw.ts';

export const rate = z.number().min(0).max(1);

/** Options of every simulated model: the seed of its dice, and how slow and unreliable it is. */
export const lineOptions = {
  seed: z.number().default(7),
  latencyMs: z.number().nonnegative().default(0),
  failureRate: rate.default(0),
};

type SimulatedModelOptions = {
  readonly id: string;
  readonly seed: number;
  readonly latencyMs?: number;
  readonly failureRate?: number;
  readonly answer: (request: ChatRequest, draw: Draw) => string;
};

/** Every reply is a function of seed, messages and sample index, behind a line with delays and faults. */
export function createSimulatedModel(options: SimulatedModelOptions): ChatModel {
  const { id, seed, latencyMs = 0, failureRate = 0, answer } = options;
  const line = createFaultyLine(id, failureRate);
  return {
    id,
    isFree: true,
    async complete(request) {
      request.signal?.throwIfAborted();
      const { messages, sampleIndex = 0 } = request;
      requireTexts(messages, id);
      const draw = createDraw(seed, [String(sampleIndex), ...messages.flatMap(({ role, content }) => [role, content])]);
      if (latencyMs > 0) await wait(latencyMs * (0.75 + 0.5 * draw('latency')), request.signal);
      line(draw);
      return toReply(answer(request, draw), request);
    },
  };
}

async function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(milliseconds, undefined, signal ? { signal } : {});
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}

/** Fails a try by its number, counted per request since the last success, so that trying again helps. */
function createFaultyLine(id: string, failureRate: number): (draw: Draw) => void {
  const failures = new Map<number, number>();
  return (draw) => {
    if (failureRate === 0) return;
    const request = draw('request');
    const failed = failures.get(request) ?? 0;
    failures.delete(request);
    if (draw(`try ${failed}`) >= failureRate) return;
    failures.set(request, failed + 1);
    if (draw(`fault ${failed}`) >= 0.25) throw new ModelCallError(`${id} is unavailable (simulated)`, { status: 503 });
    throw new ModelCallError(`${id} had too many requests (simulated)`, { status: 429, retryAfterMs: 20 });
  };
}

function toReply(text: string, { messages, maxOutputTokens = Number.POSITIVE_INFINITY }: ChatRequest): ChatReply {
  const isCut = countTokens(text.length) > maxOutputTokens;
  const shown = isCut ? text.slice(0, maxOutputTokens * CHARACTERS_PER_TOKEN) : text;
  const input = countTokens(messages.reduce((sum, message) => sum + message.content.length, 0));
  const usage = { input, cached: 0, output: countTokens(shown.length), reasoning: 0 };
  return { text: shown, usage, finishReason: isCut ? 'length' : 'stop' };
}

const CHARACTERS_PER_TOKEN = 4;
const countTokens = (characters: number) => Math.ceil(characters / CHARACTERS_PER_TOKEN);

const ANSWER = /<answer-([0-9a-f]{8})>\n?([\s\S]*?)\n?<\/answer-\1>/g;

/** The fenced answers that a judge is asked about. */
export const answersIn = (messages: readonly ChatMessage[]) =>
  [...textOf(messages, 'user').matchAll(ANSWER)].map(([, , body = '']) => body);

/** Of two scores; a difference below `tie` is none. */
export const winnerOf = (a: number, b: number, tie = 0) =>
  a === b || Math.abs(a - b) < tie ? 'tie' : a > b ? 'A' : 'B';

export function textOf(messages: readonly ChatMessage[], role: ChatMessage['role']): string {
  return messages.flatMap((message) => (message.role === role ? [message.content] : [])).join('\n');
}
