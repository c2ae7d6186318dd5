import type { Usage } from '../../core/contracts/index.ts';
import { plainName, valuesOf } from './plain-names.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of four providers, each of another shape, read field by field
export type Json = any;

/** What went wrong, as a status and a message. */
export type Fault = { readonly status: number; readonly message: string };

/** How one API asks for a generation and answers. An event is one of a stream, or the whole answer. */
export type GatewayDialect = {
  /** How the path of a generation ends. */
  readonly path: RegExp;
  /** Whole paths, for calls with our key: what only ends like a generation may be another call, or one of another model. */
  readonly known: { readonly generation: RegExp; readonly count?: RegExp };
  modelOf(body: Json, path: string): string | undefined;
  toolNames(body: Json): (string | undefined)[];
  /** What may pass of a tool: all of it if the agent runs it, and nothing if the provider does. An unchanged tool is returned itself. */
  clientTool(tool: Json): Json | undefined;
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

/** What clients and providers write before a path: an API behind another one's address, a deployment of Azure, a version. */
const BEFORE = String.raw`^(?:/api)?(?:/v\d\w*)?(?:/anthropic|/openai(?:/deployments/[\w.-]+)?)?(?:/v\d\w*)?`;
const whole = (path: string) => new RegExp(`${BEFORE}${path}$`);

/** Lists of models, and single ones. */
export const MODELS = whole(String.raw`(?:/projects/[^/]+/locations/[^/]+)?(?:/publishers/\w+)?/models(?:/[^/]+){0,3}`);

/**
 * Whether an agent runs a tool, by its kind. A list of these, and not of the others: providers think up further ones. A tool
 * with a name and without a kind is a function.
 */
function isKind(tool: Json, kinds: RegExp): boolean {
  const named = valuesOf(tool, 'type').filter((kind) => kind !== null);
  if (named.length === 0) return ['name', 'function'].some((name) => valuesOf(tool, name).length > 0);
  return named.every((kind) => typeof kind === 'string' && kinds.test(kind));
}

/** Those with a date have a schema that the model knows, and run at the agent. A search for tools reads the request itself. */
const ANTHROPIC_KINDS =
  /^(?:custom|(?:bash|text_editor|computer|computer_toolset|memory)_\d{8}|tool_search_tool_(?:regex|bm25)(?:_\d{8})?)$/;

const anthropic: GatewayDialect = {
  path: /\/messages$/,
  known: { generation: whole('/messages'), count: whole('/messages/count_tokens') },
  modelOf: ({ model }) => model,
  toolNames: ({ tools }) => listOf(tools).map(({ name }) => name),
  clientTool: (tool) => (isKind(tool, ANTHROPIC_KINDS) ? tool : undefined),
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
  known: { generation: whole('/chat/completions') },
  modelOf: ({ model }) => model,
  toolNames: ({ tools }) => listOf(tools).map((tool) => tool.function?.name ?? tool.name),
  clientTool: (tool) => (isKind(tool, /^(?:function|custom)$/) ? tool : undefined),
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

/** Codex puts those of a server into a namespace, and searches for tools itself. */
const RESPONSES_KINDS =
  /^(?:function|custom|namespace|tool_search|local_shell|apply_patch|computer|computer_use_preview)$/;

/** A shell runs in a container of the provider, unless it is said to be local. */
const isLocalShell = (tool: Json): boolean =>
  tool.type === 'shell' && tool.environment?.type === 'local' && valuesOf(tool, 'environment').length === 1;

const responses: GatewayDialect = {
  path: /\/responses$/,
  known: { generation: whole('/responses'), count: whole('/responses/input_tokens') },
  modelOf: ({ model }) => model,
  toolNames: ({ tools }) => listOf(tools).map(({ name, type }) => name ?? type),
  clientTool: (tool) => (isKind(tool, RESPONSES_KINDS) || isLocalShell(tool) ? tool : undefined),
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

const GOOGLE_MODEL = String.raw`^/v\d\w*(?:/projects/[\w.:-]+/locations/[\w-]+)?(?:/publishers/google)?/models/[\w.@-]+`;

/** One tool of Google holds several. A computer is used by the agent. */
const GOOGLE_KINDS = ['functiondeclarations', 'computeruse'];

/** With a Google sign-in, requests and answers are wrapped in `request` and `response`. */
const google: GatewayDialect = {
  path: /:(?:streamG|g)enerateContent$/,
  known: {
    generation: new RegExp(`(?:${GOOGLE_MODEL}|^/v1internal):(?:streamG|g)enerateContent$`),
    count: new RegExp(`(?:${GOOGLE_MODEL}|^/v1internal):countTokens$`),
  },
  modelOf: ({ model }, path) => /models\/([^/:]+):/.exec(path)?.[1] ?? model, // the path is what the provider reads
  toolNames: (body) =>
    listOf((body.request ?? body).tools)
      .flatMap(({ functionDeclarations }) => listOf(functionDeclarations))
      .map(({ name }) => name),
  clientTool: (tool) => {
    const [all, own] = [Object.keys(tool), Object.keys(tool).filter((key) => GOOGLE_KINDS.includes(plainName(key)))];
    if (own.length === all.length) return tool;
    return own.length === 0 ? undefined : Object.fromEntries(own.map((key) => [key, tool[key]]));
  },
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

/** The dialect of a call that may be made with our key. */
export const findKnown = (path: string, what: 'generation' | 'count') =>
  dialects.find(({ known }) => known[what]?.test(path));

const listOf = (value: Json): Json[] => (Array.isArray(value) ? value.filter((one) => Object(one) === one) : []);

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
