import type { z } from 'zod';

export type ChatMessage = {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
  /** Pictures that belong to the text of a user. Only models with `readsImages` are asked about them. */
  readonly images?: readonly ChatImage[];
};

export type ChatImage = {
  /** `image/png`, `image/jpeg`, `image/webp` or `image/gif`. */
  readonly mediaType: string;
  /** The bytes in base64: messages travel as JSON. */
  readonly base64: string;
  /** How closely the model looks, where a provider lets one choose. Default: the provider's choice. */
  readonly detail?: 'low' | 'high';
};

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
  /** Looks at the images of messages. A model without it is never asked about any. */
  readonly readsImages?: true;
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

/** A place among the calls in flight. The first of its methods that is called gives it back. */
export interface Slot {
  /** The call was answered. */
  succeed(): void;
  /** The provider refused because there were too many calls. `retryAfterMs` is the wait that it asked for. */
  refuse(retryAfterMs?: number): void;
  /** The call ended in a way that says nothing about the limit. */
  release(): void;
}

export type SlotRequest = {
  /** The first signal to abort ends the wait with its reason. */
  readonly signals?: readonly (AbortSignal | undefined)[];
  /** After a refusal: such callers are served before those that ask for the first time. */
  readonly isAgain?: boolean;
};

/** The line in which all calls under one key wait. */
export interface RateLimiter {
  /** Slots are given in the order of asking. */
  acquire(request?: SlotRequest): Promise<Slot>;
  /** No call starts for this time. Makes a pause longer, never shorter. */
  pause(ms: number): void;
  /** How many calls may be in flight, how many are, and how many wait. */
  state(): { readonly calls: number; readonly inFlight: number; readonly waiting: number };
  /** For how long every call was refused, once that is too long to wait on. */
  refusedForMs(): number | undefined;
}

/** With both, a resumed run pays for nothing twice. */
export type RunCaches = {
  readonly replies: TextCache;
  readonly rollouts: TextCache;
  /** For finished work that has no score yet. It may not exist, and is removed at the end of the run. */
  readonly workFolder?: string;
};

// Our own calls to agents are marked, so that their transcripts are never taken for a person's work.

/** The beginning of the folder that a call works in: agents write it into their transcripts. */
export const OWN_CALL_FOLDER = 'skillopt-agent-';

/** Stands in the first tag of a prompt, for agents that keep no folder. */
export const OWN_CALL_SENTINEL = 'from="skillopt"';

/** How our programs name themselves to agents that note who started them. */
export const OWN_CALL_ORIGINATOR = 'skillopt';
