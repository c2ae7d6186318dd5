import type { z } from 'zod';

export type ChatMessage = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string };

export type ChatRequest = {
  readonly messages: readonly ChatMessage[];
  /** Which part of a run asks: `rollout`, `analyst`, `merge`. For accounting; never sent. */
  readonly stage?: string;
  /** Draws with different indexes are independent; the same index is the same draw. */
  readonly sampleIndex?: number;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** The schema of a reply in JSON, whose names are in snake_case there. */
  readonly schema?: z.ZodType;
  /** A reply that the caller cannot use is not served from a cache: asked again, it may be better. */
  readonly isUsable?: (reply: ChatReply) => boolean;
  readonly signal?: AbortSignal;
};

/** As the provider counts. `cached` is part of `input`, `reasoning` part of `output`. */
export type Usage = {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
};

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'other';

export type ChatReply = { readonly text: string; readonly usage: Usage; readonly finishReason: FinishReason };

/**
 * The contract with a language model. `id` names the model and every setting that changes its answers: replies are cached
 * under it. `complete` throws only `ModelCallError`, or the reason of an aborted signal.
 */
export interface ChatModel {
  readonly id: string;
  /** Models with the same account share a rate limit. */
  readonly account?: string;
  /** The name in price lists, if it is not part of the id. */
  readonly modelName?: string;
  /** Costs nothing, unless the configuration gives a price. */
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

/** Text by content hash. `set` resolves once the entry would survive the process. */
export interface TextCache {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
}

/** With both, a resumed run pays for nothing twice. */
export type RunCaches = { readonly replies: TextCache; readonly rollouts: TextCache };

// Our own calls to agents are marked, so that their transcripts are never taken for a person's work.

/** The beginning of the folder that a call works in: agents write it into their transcripts. */
export const OWN_CALL_FOLDER = 'skillopt-agent-';

/** Stands in the first tag of a prompt, for agents that keep no folder. */
export const OWN_CALL_SENTINEL = 'from="skillopt"';

/** How our programs name themselves to agents that note who started them. */
export const OWN_CALL_ORIGINATOR = 'skillopt';
