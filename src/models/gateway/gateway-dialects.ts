import type { Usage } from '../../core/contracts/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of four providers, each of another shape, read field by field
export type Json = any;

/** What went wrong, as a status and a message. */
export type Fault = { readonly status: number; readonly message: string };

/** How one API asks for a generation and answers. An event is one of a stream, or the whole answer. */
export type GatewayDialect = {
  readonly path: RegExp;
  modelOf(body: Json, path: string): string | undefined;
  toolNames(body: Json): (string | undefined)[];
  /** The tokens in an event. Later ones replace earlier ones, field by field. */
  usageIn(event: Json): object | undefined;
  toUsage(tokens: Json): Usage;
  /** Whether the answer is complete with this event. */
  isLast(event: Json): boolean;
  faultIn(event: Json): Json;
  toError(status: number, message: string): object;
  /** Changes the request before it is sent. */
  prepare?(body: Json): Json;
};

const anthropic: GatewayDialect = {
  path: /\/messages$/,
  modelOf: ({ model }) => model,
  toolNames: ({ tools = [] }) => tools.map(({ name }: Json) => name),
  usageIn: (event) => event.message?.usage ?? event.usage,
  toUsage: ({ input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens }) => ({
    input: count(input_tokens) + count(cache_creation_input_tokens) + count(cache_read_input_tokens),
    cached: count(cache_read_input_tokens),
    output: count(output_tokens),
    reasoning: 0,
  }),
  isLast: ({ type }) => type === 'message_stop',
  faultIn: ({ type, error }) => (type === 'error' ? error : undefined),
  toError: (status, message) => ({ type: 'error', error: { type: kindOf(status), message } }),
};

const chat: GatewayDialect = {
  path: /\/chat\/completions$/,
  modelOf: ({ model }) => model,
  toolNames: ({ tools = [] }) => tools.map((tool: Json) => tool.function?.name ?? tool.name),
  usageIn: ({ usage }) => usage,
  toUsage: (tokens) => ({
    input: count(tokens.prompt_tokens),
    cached: count(tokens.prompt_tokens_details?.cached_tokens ?? tokens.prompt_cache_hit_tokens),
    output: count(tokens.completion_tokens),
    reasoning: count(tokens.completion_tokens_details?.reasoning_tokens),
  }),
  isLast: ({ choices = [] }) => choices.some((choice: Json) => typeof choice?.finish_reason === 'string'),
  faultIn: ({ error }) => error,
  toError: openaiError,
  prepare: (body) => {
    if (body.stream !== true || body.stream_options?.include_usage === true) return body;
    return { ...body, stream_options: { ...body.stream_options, include_usage: true } };
  },
};

const ENDS = ['response.completed', 'response.incomplete', 'response.failed'];

const responses: GatewayDialect = {
  path: /\/responses$/,
  modelOf: ({ model }) => model,
  toolNames: ({ tools = [] }) => tools.map(({ name, type }: Json) => name ?? type),
  usageIn: (event) => event.response?.usage ?? event.usage,
  toUsage: (tokens) => ({
    input: count(tokens.input_tokens),
    cached: count(tokens.input_tokens_details?.cached_tokens),
    output: count(tokens.output_tokens),
    reasoning: count(tokens.output_tokens_details?.reasoning_tokens),
  }),
  isLast: ({ type }) => ENDS.includes(type),
  faultIn: (event) => {
    if (event.type === 'error') return event.error ?? event;
    return event.response?.error ?? (event.object === 'response' ? event.error : undefined);
  },
  toError: openaiError,
};

/** With a Google sign-in, requests and answers are wrapped in `request` and `response`. */
const google: GatewayDialect = {
  path: /:(?:streamG|g)enerateContent$/,
  modelOf: ({ model }, path) => /models\/([^/:]+):/.exec(path)?.[1] ?? model, // the path is what the provider reads
  toolNames: (body) =>
    ((body.request ?? body).tools ?? [])
      .flatMap(({ functionDeclarations = [] }: Json) => functionDeclarations)
      .map(({ name }: Json) => name),
  usageIn: (event) => (event.response ?? event).usageMetadata,
  toUsage: (tokens) => ({
    input: count(tokens.promptTokenCount) + count(tokens.toolUsePromptTokenCount),
    cached: count(tokens.cachedContentTokenCount),
    output: count(tokens.candidatesTokenCount) + count(tokens.thoughtsTokenCount),
    reasoning: count(tokens.thoughtsTokenCount),
  }),
  isLast: (event) => {
    const { candidates = [], promptFeedback } = event.response ?? event;
    return promptFeedback !== undefined || candidates.some(({ finishReason }: Json) => finishReason !== undefined);
  },
  faultIn: ({ error }) => error,
  toError: (code, message) => ({ error: { code, message, status: kindOf(code).toUpperCase() } }),
};

const dialects = [anthropic, chat, responses, google];

export const findDialect = (path: string) => dialects.find((dialect) => dialect.path.test(path));

function openaiError(status: number, message: string): object {
  return { error: { message, type: kindOf(status), code: kindOf(status), param: null } };
}

const kindOf = (status: number) =>
  ({ 401: 'authentication_error', 403: 'permission_error', 404: 'not_found_error' })[status] ?? 'invalid_request_error';

/** Some servers write numbers as text. */
function count(value: unknown): number {
  const tokens = typeof value === 'string' ? Number(value) : value;
  return typeof tokens === 'number' && tokens > 0 ? tokens : 0;
}

/** Statuses by the words that stand for them in the middle of an answer. */
const WORDS: readonly (readonly [RegExp, number])[] = [
  [/overloaded/i, 529],
  [/rate.?limit|exhausted|quota|billing|credit/i, 429],
  [/authentication|api.?key|permission/i, 401],
  [/invalid.?(?:request|prompt|argument)|context.?length|too.?long|content|policy|safety/i, 400],
];

/** The error in an answer that began with a status of success. */
export function faultOf(error: Json): Fault | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const code = Number(error.code);
  const words = [error.type, error.code, error.status].join(' ');
  const status = code >= 400 ? code : (WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? 500);
  return { status, message: JSON.stringify({ error }) };
}
