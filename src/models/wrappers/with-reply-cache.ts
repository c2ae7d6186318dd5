import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ChatModel, ChatReply, ChatRequest, ReplyCache } from '../../core/contracts/index.ts';
import type { Bill, StageUsage } from '../../core/run/index.ts';
import { parseJson } from '../../core/text/index.ts';
import { untilAborted } from '../on-abort.ts';

/** Part of every key: entries written under another format are never found. */
const FORMAT = 1;

const count = z.number().nonnegative();

const CachedReply = z.object({
  text: z.string(),
  usage: z.object({ input: count, cached: count, output: count, reasoning: count }),
  finishReason: z.enum(['stop', 'length', 'content-filter', 'other']),
});

export type ReplyCacheOptions = {
  /** Is notified of what a reply has cost, once it is safe in the cache together with that. */
  readonly onPaid?: (paid: Bill) => void;
  /** What a reply costs. */
  readonly billFor?: (reply: ChatReply) => Partial<StageUsage>;
  /** Is notified of every reply for which no call was sent: kept from earlier, or shared with an equal request in flight. */
  readonly onHit?: (request: ChatRequest) => void;
};

/**
 * The same model, asked only once for each reply. What a reply depends on is its key: the model's id, the messages,
 * the token limit, the temperature and the sample index. Failures and aborts are not kept, and an entry that cannot
 * be read, or that the caller cannot use, counts as missing. A reply is safe in the cache before it is returned.
 */
export function withReplyCache(model: ChatModel, cache: ReplyCache, options: ReplyCacheOptions = {}): ChatModel {
  const { onHit, onPaid, billFor } = options;
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
        const paid = billFor && { stage: request.stage ?? 'other', amounts: billFor(fresh) };
        const place = isUsable(fresh, request) ? key : `${key} ${randomUUID()}`;
        await setPaid(cache, place, { ...fresh, paid }, onPaid);
        return fresh;
      });
      if (!isSent) onHit?.(request);
      return reply;
    },
  };
}

type PaidEntry = { readonly paid?: Bill | undefined };

/** Tells of what was paid in the moment it is safe. */
async function setPaid(cache: ReplyCache, place: string, entry: PaidEntry, onPaid?: (paid: Bill) => void) {
  const tellOnce = once(() => entry.paid && onPaid?.(entry.paid));
  await cache.set(place, JSON.stringify(entry), tellOnce);
  tellOnce(); // for a cache that does not say when
}

/** Keeps a bill alone, under a key that nobody asks for: what was paid is still counted after a kill. */
export const keepBill = (cache: ReplyCache, paid: Bill, onPaid: (paid: Bill) => void): Promise<void> =>
  setPaid(cache, `bill ${randomUUID()}`, { paid }, onPaid);

const isUsable = (reply: ChatReply, request: ChatRequest) => request.isUsable?.(reply) ?? true;

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}

function replyKey(modelId: string, request: ChatRequest): string {
  const messages = request.messages.map(({ role, content }) => [role, content]);
  const { maxOutputTokens, temperature, sampleIndex = 0 } = request;
  const parts = [FORMAT, modelId, messages, maxOutputTokens, temperature, sampleIndex];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

async function readReply(cache: ReplyCache, key: string): Promise<ChatReply | undefined> {
  const entry = await cache.get(key);
  return entry === undefined ? undefined : CachedReply.safeParse(parseJson(entry)).data; // not of a torn or foreign entry
}

const PaidReply = z.object({ paid: z.object({ stage: z.string(), amounts: z.record(z.string(), count) }) });

/** What was paid for the entries that became safe after a mark; nothing when the cache keeps no order. */
export function paidSince(cache: Pick<ReplyCache, 'since'>, mark: number): Bill[] | undefined {
  return cache.since?.(mark).flatMap((entry) => PaidReply.safeParse(parseJson(entry)).data?.paid ?? []);
}

type Flight<T> = { readonly promise: Promise<T>; readonly controller: AbortController; waiting: number };

/**
 * Work under the same key is done once for all callers that ask while it is under way. A caller that aborts stops waiting;
 * the work itself is aborted when no caller waits any more. Nothing is kept after it has ended.
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
      if (flight.waiting === 0) this.#end(key, flight, signal);
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const flight = { promise: work(controller.signal), controller, waiting: 0 };
    this.#flights.set(key, flight);
    return flight;
  }

  #end(key: string, flight: Flight<T>, lastSignal: AbortSignal | undefined): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
    if (lastSignal?.aborted) flight.controller.abort(lastSignal.reason);
  }
}
