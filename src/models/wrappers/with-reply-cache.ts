import { hash } from 'node:crypto';
import { z } from 'zod';
import type { ChatImage, ChatModel, ChatReply, ChatRequest, TextCache } from '../../core/contracts/index.ts';
import { maskKeys } from '../../core/guard/index.ts';
import { parseJson } from '../../core/text/index.ts';
import { untilAborted } from '../on-abort.ts';

/** Part of every key, so that entries of another format are never found. */
const FORMAT = 1;

const count = z.number().nonnegative();

const CachedReply = z.object({
  text: z.string(),
  usage: z.object({ input: count, cached: count, output: count, reasoning: count }),
  finishReason: z.enum(['stop', 'length', 'content-filter', 'other']),
});

export type ReplyCacheOptions = {
  /** Notified of every reply for which no call was sent: from the cache, or shared with an equal request in flight. */
  readonly onHit?: (request: ChatRequest) => void;
};

/**
 * The same model, asked only once for each reply. The key of a reply is the model's id, the messages, the token limit, the
 * temperature and the sample index. Failures and aborts are not kept. An entry that cannot be read, or that the caller
 * cannot use, counts as missing. A reply is safe in the cache before it is returned.
 */
export function withReplyCache(model: ChatModel, cache: TextCache, { onHit }: ReplyCacheOptions = {}): ChatModel {
  const flights = new SingleFlight<ChatReply>();
  return {
    id: model.id,
    async complete(request) {
      const key = replyKey(model.id, request);
      let isSent = false;
      const reply = await flights.run(key, request.signal, async (signal) => {
        const kept = await readReply(cache, key);
        if (kept !== undefined && isUsable(kept, request)) return kept;
        isSent = true;
        const fresh = await model.complete({ ...request, signal });
        if (isUsable(fresh, request)) await cache.set(key, JSON.stringify(fresh));
        return fresh;
      });
      if (!isSent) onHit?.(request);
      return reply;
    },
  };
}

const isUsable = (reply: ChatReply, request: ChatRequest) => request.isUsable?.(reply) ?? true;

function replyKey(modelId: string, request: ChatRequest): string {
  const messages = request.messages.map(({ role, content, images }) => [
    role,
    content,
    ...(images ?? []).map(imageKey),
  ]);
  const { maxOutputTokens, temperature, sampleIndex = 0 } = request;
  const parts = [FORMAT, modelId, messages, maxOutputTokens, temperature, sampleIndex];
  return hash('sha256', JSON.stringify(parts));
}

const imageKey = ({ mediaType, base64, detail }: ChatImage) => [mediaType, hash('sha256', base64), detail];

async function readReply(cache: TextCache, key: string): Promise<ChatReply | undefined> {
  const entry = await cache.get(key);
  const kept = entry === undefined ? undefined : CachedReply.safeParse(parseJson(entry)).data; // undefined for a torn entry
  return kept && { ...kept, text: maskKeys(kept.text) }; // earlier versions kept what came
}

type Flight<T> = { readonly promise: Promise<T>; readonly controller: AbortController; waiting: number };

/**
 * Work under one key is done once for all callers that ask while it is under way. A caller that aborts stops waiting. The
 * work is aborted when no caller waits any more.
 */
class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  async run(key: string, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#start(key, work);
    flight.waiting++;
    try {
      return await untilAborted(flight.promise, signal);
    } finally {
      flight.waiting--;
      if (flight.waiting === 0) {
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
        if (signal?.aborted) flight.controller.abort(signal.reason);
      }
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const flight = { promise: work(controller.signal), controller, waiting: 0 };
    this.#flights.set(key, flight);
    return flight;
  }
}
