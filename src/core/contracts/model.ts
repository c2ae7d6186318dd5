import type { z } from 'zod';

export type ChatMessage = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string };

export type ChatRequest = {
  readonly messages: readonly ChatMessage[];
  /** Which part of a run asks: `rollout`, `analyst`, `merge`, `ranking`. For accounting; never sent. */
  readonly stage?: string;
  /** Draws with different indexes are independent; the same index is the same draw, also from the cache. */
  readonly sampleIndex?: number;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** What a reply in JSON is parsed to. In the JSON itself names are in snake_case. Sent where a provider takes it. */
  readonly schema?: z.ZodType;
  /** Whether the caller can use a reply. One that it cannot is given to it, but served from no cache: asked again, it may be better. */
  readonly isUsable?: (reply: ChatReply) => boolean;
  readonly signal?: AbortSignal;
};

/** Tokens as the provider counted them. `cached` is part of `input`, `reasoning` part of `output`. */
export type Usage = {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
};

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'other';

export type ChatReply = { readonly text: string; readonly usage: Usage; readonly finishReason: FinishReason };

/**
 * The one contract with a frozen language model. `id` names the model and every setting that changes its
 * answers, so that replies can be cached under it. `complete` throws only `ModelCallError`, or the reason of
 * an aborted signal.
 */
export interface ChatModel {
  readonly id: string;
  /** Whose rate limit calls count against. Models with the same account wait in one line; without one, in none. */
  readonly account?: string;
  /** What prices are listed under, when it is not part of the id. */
  readonly modelName?: string;
  /** Costs nothing, unless the configuration gives a price. For models that no provider runs. */
  readonly isFree?: true;
  complete(request: ChatRequest): Promise<ChatReply>;
}

export const noUsage: Usage = { input: 0, cached: 0, output: 0, reasoning: 0 };

export const addTokens = (one: Usage, other: Usage): Usage => ({
  input: one.input + other.input,
  cached: one.cached + other.cached,
  output: one.output + other.output,
  reasoning: one.reasoning + other.reasoning,
});

/** Text by content hash, kept for as long as the run. `set` resolves once the entry would survive the process. */
export interface TextCache {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
}

/** Replies, which are paid for: so that each is counted once, however often a run is cut off. */
export interface ReplyCache extends TextCache {
  /** `onSafe` is called in the moment from which `mark` includes the entry, and also when the key had a value before. */
  set(key: string, value: string, onSafe?: () => void): Promise<void>;
  /** A number for all entries that are safe now. */
  mark?(): number;
  /** The values that became safe after a mark was taken, in order. */
  since?(mark: number): string[];
}

/** The two caches that make a resumed run pay for nothing twice. */
export type RunCaches = { readonly replies: ReplyCache; readonly rollouts: TextCache };

// What our own calls to agents carry, so that what an agent keeps of them is never taken for a person's work.

/** A call to an agent works in a folder of this beginning: agents write the folder into their transcripts. */
export const OWN_CALL_FOLDER = 'skillopt-agent-';

/** Stands in the first tag of a prompt whose sections we named, for agents that keep no folder. */
export const OWN_CALL_SENTINEL = 'from="skillopt"';

/** How programs of ours name themselves to agents that note who started them. */
export const OWN_CALL_ORIGINATOR = 'skillopt';
