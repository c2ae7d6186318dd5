import type { Usage } from '../../core/contracts/index.ts';
import {
  anthropicReader,
  chatReader,
  geminiReader,
  type Json,
  type RequestReader,
  responsesReader,
  type ToolCall,
} from './agent-step.ts';

/** What is said: last words, or a tool call. Ids differ from reply to reply, as agents expect. */
export type AgentReply = {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly call?: ToolCall | undefined;
  readonly usage: Usage;
};

/** A reply as server-sent events, and as the one object that a call without streaming gets. */
type WireReply = { readonly events: string; readonly whole: object };

const named = (events: readonly { readonly type: string }[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

const unnamed = (events: readonly object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

/** A part of the input is counted as written to the cache. There is no count of reasoning. */
function anthropicReply({ id, model, text, call, usage }: AgentReply): WireReply {
  const written = Math.floor((usage.input - usage.cached) / 5);
  const counts = {
    input_tokens: usage.input - usage.cached - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: usage.cached,
    output_tokens: usage.output,
  };
  const block = call ? { type: 'tool_use', id: `toolu_${id}`, name: call.name, input: call.args } : textBlock(text);
  const ending = { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null };
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model, content: [block], ...ending };
  const start = { ...message, content: [], stop_reason: null, usage: { ...counts, output_tokens: 1 } };
  const delta = call
    ? { type: 'input_json_delta', partial_json: JSON.stringify(call.args) }
    : { type: 'text_delta', text };
  const events = [
    { type: 'message_start', message: start },
    { type: 'content_block_start', index: 0, content_block: call ? { ...block, input: {} } : textBlock('') },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: ending, usage: { output_tokens: usage.output } },
    { type: 'message_stop' },
  ];
  return { events: named(events), whole: { ...message, usage: counts } };
}

const textBlock = (text: string) => ({ type: 'text', text });

function chatReply({ id, model, text, call, usage: { input, cached, output, reasoning } }: AgentReply): WireReply {
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
  const calls = call && [
    { id: `call_${id}`, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.args) } },
  ];
  const head = { id: `chatcmpl-${id}`, created: 1, model };
  const finish = call ? 'tool_calls' : 'stop';
  const message = { role: 'assistant', content: call ? null : text, ...(calls && { tool_calls: calls }) };
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const chunks = [
    chunk({ role: 'assistant', content: '' }),
    chunk(calls ? { tool_calls: calls.map((one, index) => ({ index, ...one })) } : { content: text }),
    chunk({}, finish),
    { ...head, object: 'chat.completion.chunk', choices: [], usage },
  ];
  const choice = { index: 0, message, finish_reason: finish };
  return {
    events: `${unnamed(chunks)}data: [DONE]\n\n`,
    whole: { ...head, object: 'chat.completion', choices: [choice], usage },
  };
}

function responsesReply({ id, model, text, call, usage }: AgentReply): WireReply {
  const { input, cached, output, reasoning } = usage;
  const counts = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
  const { item, blank, deltas } = call ? callItem(id, call) : messageItem(id, text);
  const started = { id: `resp_${id}`, object: 'response', created_at: 1, model, output: [], error: null };
  const completed = { ...started, status: 'completed', output: [item], usage: counts };
  const events = [
    { type: 'response.created', response: { ...started, status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, ...blank, status: 'in_progress' } },
    ...deltas.map((delta) => ({ item_id: item.id, output_index: 0, ...delta })),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: completed },
  ];
  return { events: named(events.map((event, index) => ({ ...event, sequence_number: index }))), whole: completed };
}

function callItem(id: string, { name, args, input }: ToolCall) {
  const head = { status: 'completed', call_id: `call_${id}`, name };
  if (input === undefined) {
    const text = JSON.stringify(args);
    const deltas = [
      { type: 'response.function_call_arguments.delta', delta: text },
      { type: 'response.function_call_arguments.done', arguments: text },
    ];
    const item = { id: `fc_${id}`, type: 'function_call', ...head, arguments: text };
    return { item, blank: { arguments: '' }, deltas };
  }
  const deltas = [
    { type: 'response.custom_tool_call_input.delta', delta: input },
    { type: 'response.custom_tool_call_input.done', input },
  ];
  return { item: { id: `ctc_${id}`, type: 'custom_tool_call', ...head, input }, blank: { input: '' }, deltas };
}

function messageItem(id: string, text: string) {
  const part = { type: 'output_text', text, annotations: [] };
  const deltas = [
    { type: 'response.content_part.added', content_index: 0, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', content_index: 0, delta: text },
    { type: 'response.output_text.done', content_index: 0, text },
  ];
  const head = { id: `msg_${id}`, type: 'message', status: 'completed', role: 'assistant' };
  return { item: { ...head, content: [part] }, blank: { content: [] }, deltas };
}

/** Reasoning is counted beside the candidates here, not among them. */
function geminiReply({ id, text, call, usage: { input, cached, output, reasoning } }: AgentReply): WireReply {
  const usageMetadata = {
    promptTokenCount: input,
    cachedContentTokenCount: cached,
    candidatesTokenCount: output - reasoning,
    thoughtsTokenCount: reasoning,
    totalTokenCount: input + output,
  };
  const part = call ? { functionCall: { name: call.name, args: call.args } } : { text };
  const content = { role: 'model', parts: [part] };
  const head = { modelVersion: 'gemini-fake', responseId: `g_${id}` };
  const first = { candidates: [{ content, index: 0 }], usageMetadata: { promptTokenCount: input }, ...head };
  const ending = { candidates: [{ content, finishReason: 'STOP', index: 0 }], usageMetadata, ...head };
  const last = { candidates: [{ content: { ...content, parts: [] }, finishReason: 'STOP', index: 0 }] };
  return { events: unnamed([first, { ...last, usageMetadata, ...head }]), whole: ending };
}

/** How one API asks for a generation, streamed or not, and answers. */
export type AgentDialect = {
  readonly path: RegExp;
  readonly reader: RequestReader;
  /** Whether it counts reasoning. */
  readonly countsReasoning: boolean;
  isStreamed(body: Json, path: string): boolean;
  toWire(reply: AgentReply): WireReply;
  toError(message: string, status: number): object;
};

const isStreamed = ({ stream }: Json) => stream === true;

const openaiError = (message: string, status: number) => ({
  error: { message, type: kindOf(status), code: kindOf(status) },
});
const openai = { countsReasoning: true, isStreamed, toError: openaiError };

const dialects: readonly AgentDialect[] = [
  {
    path: /\/messages$/,
    reader: anthropicReader,
    countsReasoning: false,
    isStreamed,
    toWire: anthropicReply,
    toError: (message, status) => ({ type: 'error', error: { type: kindOf(status), message } }),
  },
  { path: /\/chat\/completions$/, reader: chatReader, toWire: chatReply, ...openai },
  { path: /\/responses$/, reader: responsesReader, toWire: responsesReply, ...openai },
  {
    path: /:(?:streamG|g)enerateContent$/,
    reader: geminiReader,
    countsReasoning: true,
    isStreamed: (_, path) => path.endsWith(':streamGenerateContent'),
    toWire: geminiReply,
    toError: (message, code) => ({ error: { code, message, status: kindOf(code).toUpperCase() } }),
  },
];

export const findDialect = (path: string) => dialects.find((dialect) => dialect.path.test(path));

const KINDS: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

const kindOf = (status: number) => KINDS[status] ?? 'api_error';
