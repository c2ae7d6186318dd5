import { z } from 'zod';
import {
  type AgentLimits,
  type AgentSpending,
  type ChatReply,
  type ChatRequest,
  type ErrorCode,
  type Item,
  ModelCallError,
  PromptTooLongError,
  type RolloutResult,
  SkillError,
  type Usage,
} from '../core/contracts/index.ts';
import { maskKeys, redactSecrets } from '../core/guard/index.ts';
import { defined, jsonCandidates, parseJson } from '../core/text/index.ts';

/** What a job says: everything else is asked for, so that a queue stays small. */
export type Job = { readonly run: string; readonly attempt: number };

/** An attempt as a worker gets it. The skill is left out if the worker knows it. */
export type Task = {
  readonly key: string;
  readonly item: Item;
  readonly sampleIndex: number;
  readonly skillHash: string;
  readonly skill?: string | undefined;
  readonly target: string;
  readonly judge?: string | undefined;
};

/** What a worker asks the process that trains, by name: what it says, and what it is answered. */
export type Questions = {
  /** `undefined`: nobody waits for the attempt any more. */
  begin: [{ readonly attempt: number; readonly worker: string; readonly known: readonly string[] }, Task | undefined];
  call: [CallOf, ChatReply];
  drop: [Pick<CallOf, 'attempt' | 'role' | 'id'>, null];
  result: [{ readonly attempt: number; readonly result?: RolloutResult; readonly error?: WireError }, null];
  agent: [AgentOf & Pick<WireAgentRequest, 'limits' | 'stage' | 'sampleIndex'>, null];
  spend: [AgentOf & { readonly spending: AgentSpending }, null];
  slot: [AgentOf & { readonly isAgain: boolean }, SlotState & { readonly slot: number }];
  slotEnd: [AgentOf & { readonly slot: number; readonly how: SlotEnd; readonly retryAfterMs?: number }, SlotState];
};

/** What the process that trains asks a worker. */
export type Orders = {
  cancel: [{ readonly run: string; readonly attempt: number }, null];
  start: [{ readonly run: string } & AgentOf & { readonly limits: AgentLimits; readonly maxRetries?: number }, WireRun];
  end: [{ readonly run: string } & AgentOf, null];
};

export type CallOf = {
  readonly attempt: number;
  readonly role: 'target' | 'judge';
  /** The same for the same call of an attempt, on any worker. */
  readonly id: string;
  readonly request: WireRequest;
};

/** One run of an agent within an attempt. */
export type AgentOf = { readonly attempt: number; readonly agentRun: string };
export type WireAgentRequest = {
  readonly limits: AgentLimits;
  readonly stage?: string | undefined;
  readonly sampleIndex: number;
};
/** What of an agent's run is counted. */
export type WireRun = {
  readonly turns: number;
  readonly calls?: number | undefined;
  readonly usage: Usage;
  readonly costUsd?: number | undefined;
};
type SlotEnd = 'succeed' | 'refuse' | 'release';
export type SlotState = { readonly waiting: number; readonly refusedForMs?: number | undefined };

export type WireRequest = Omit<ChatRequest, 'schema' | 'isUsable' | 'signal'> & { readonly schema?: object };

/** A schema travels as JSON Schema. Functions do not travel: the schema decides whether a reply can be used. */
export function toWire({ schema, isUsable: _, signal: __, ...request }: ChatRequest): WireRequest {
  const sent = schema && orNothing(() => z.toJSONSchema(schema, { io: 'input' }));
  return { ...request, ...(sent && { schema: sent }) };
}

export function fromWire({ schema: sent, ...request }: WireRequest): ChatRequest {
  const schema = sent && orNothing(() => z.fromJSONSchema(sent as Parameters<typeof z.fromJSONSchema>[0]));
  if (!schema) return request;
  // Otherwise objects would come back as open ones, which no provider is held to.
  schema._zod.toJSONSchema = () => structuredClone(sent);
  const isUsable = ({ text }: ChatReply) =>
    jsonCandidates(text).some((candidate) => schema.safeParse(parseJson(candidate)).success);
  return { ...request, schema, isUsable };
}

/** A schema that cannot be written as JSON Schema, such as a date's, is sent to no provider either. */
function orNothing<T>(convert: () => T): T | undefined {
  try {
    return convert();
  } catch {
    return undefined;
  }
}

export const WireError = z.object({
  type: z.enum(['prompt', 'call', 'known', 'other']),
  message: z.string(),
  code: z.custom<ErrorCode>((code) => typeof code === 'string').optional(),
  hint: z.string().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type WireError = Readonly<z.infer<typeof WireError>>;

/** An error without its cause. Keys of this process and secrets of others do not leave it. */
export function encodeError(error: unknown): WireError {
  const message = redactSecrets(maskKeys(error instanceof Error ? error.message : String(error)));
  if (error instanceof PromptTooLongError) {
    const { status, promptTokens, maxTokens } = error;
    return { type: 'prompt', message, details: { status, promptTokens, maxTokens } };
  }
  if (error instanceof ModelCallError) {
    const { hint, status, isRetryable, isFatal, retryAfterMs, usage } = error;
    return { type: 'call', message, hint, details: { status, isRetryable, isFatal, retryAfterMs, usage } };
  }
  if (error instanceof SkillError) return { type: 'known', message, code: error.code, hint: error.hint };
  return { type: 'other', message };
}

export function decodeError({ type, message, code = 'ENV_FAILED', hint, details = {} }: WireError): Error {
  if (type === 'prompt') return new PromptTooLongError(message, details);
  if (type === 'call') return new ModelCallError(message, { ...details, ...defined({ hint }) });
  return type === 'known' ? new SkillError(code, message, defined({ hint })) : new Error(message);
}
