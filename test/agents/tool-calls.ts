import { named, type Stream, unnamed } from './provider-streams.ts';

/** The names under which agents offer a shell. */
const SHELLS = ['Bash', 'bash', 'shell', 'exec_command', 'shell_command', 'run_shell_command'];
const COMMAND = 'echo tool-ran > out.txt; cat out.txt';
const DONE = /"tool_result"|"role":\s*"tool"|"function_call_output"|"functionResponse"/g;

type Schema = {
  readonly properties?: Record<string, { readonly type?: string }>;
  readonly required?: readonly string[];
};
type Tool = { readonly name?: string; readonly namespace?: string; readonly schema?: Schema };
type Call = {
  /** How many have returned before. */
  readonly at: number;
  readonly name: string;
  readonly namespace?: string;
  readonly args: Record<string, unknown>;
};

/** A tool to call in place of the shell: what its name ends with, and its arguments. */
export type WantedTool = { readonly ends: string; readonly args: Record<string, unknown> };

/**
 * A call of the shell that the request offers; none when it offers none, or when a tool has already run. If tools are wanted, they
 * are called in their order, each after the one before has returned.
 */
export function toolCallFor(path: string, body: string, wanted?: readonly WantedTool[]): Stream | undefined {
  const at = body.match(DONE)?.length ?? 0;
  if (at >= (wanted?.length ?? 1)) return undefined;
  const call = callIn(JSON.parse(body || '{}'), at, wanted?.[at]);
  if (call === undefined) return undefined;
  if (path.endsWith('/messages')) return anthropicCall(call);
  if (path.endsWith('/chat/completions')) return chatCall(call);
  if (path.endsWith('/responses')) return responsesCall(call);
  return /:(stream)?generateContent$/i.test(path) ? geminiCall(call) : undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: four providers' requests, each of another shape
function callIn({ tools = [] }: { tools?: readonly any[] }, at: number, wanted?: WantedTool): Call | undefined {
  const offered: Tool[] = tools.flatMap((tool) => [
    ...(tool.tools ?? []).map((inner: Tool) => ({ name: inner.name, namespace: tool.name })), // of a server, in Codex
    { name: tool.name, schema: tool.input_schema ?? tool.parameters },
    { name: tool.function?.name, schema: tool.function?.parameters },
    ...(tool.functionDeclarations ?? []).map(
      (declared: { name: string; parametersJsonSchema?: Schema; parameters?: Schema }) => ({
        name: declared.name,
        schema: declared.parametersJsonSchema ?? declared.parameters,
      }),
    ),
  ]);
  if (wanted !== undefined) {
    const { name, namespace } = offered.find((tool) => tool.name?.endsWith(wanted.ends)) ?? {};
    return name === undefined ? undefined : { at, name, args: wanted.args, ...(namespace && { namespace }) };
  }
  const shell = offered.find(({ name }) => SHELLS.includes(name ?? ''));
  return shell && { at, name: shell.name!, args: shellArguments(shell.schema ?? {}) };
}

function shellArguments({ properties = {}, required = [] }: Schema): Record<string, unknown> {
  const known: Record<string, unknown> = {
    command: properties.command?.type === 'array' ? ['bash', '-lc', COMMAND] : COMMAND,
    cmd: COMMAND,
    description: 'run a harmless echo',
    is_background: false,
  };
  const wanted = Object.keys(properties).filter((name) => name in known);
  const rest = required.filter((name) => !(name in known));
  const filler = (type: string | undefined) => (type === 'boolean' ? false : type === 'string' ? 'sync' : 10);
  return Object.fromEntries([
    ...wanted.map((name) => [name, known[name]]),
    ...rest.map((name) => [name, filler(properties[name]?.type)]),
  ]);
}

function anthropicCall({ at, name, args }: Call): Stream {
  const usage = { input_tokens: 11, output_tokens: 7 };
  const message = { id: `msg_0${at}`, type: 'message', role: 'assistant', model: 'fake', stop_sequence: null };
  const block = { type: 'tool_use', id: `toolu_${at + 1}`, name };
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
    { type: 'content_block_start', index: 0, content_block: { ...block, input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: JSON.stringify(args) } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ];
  return {
    events: named(events),
    whole: { ...message, content: [{ ...block, input: args }], stop_reason: 'tool_use', usage },
  };
}

function chatCall({ at, name, args }: Call): Stream {
  const head = { id: `chatcmpl-0${at}`, created: 1, model: 'fake-model' };
  const call = { id: `call_${at + 1}`, type: 'function', function: { name, arguments: JSON.stringify(args) } };
  const chunk = (delta: object, finish: string | null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  const chunks = [
    chunk({ role: 'assistant', content: '' }, null),
    chunk({ tool_calls: [{ index: 0, ...call }] }, null),
    chunk({}, 'tool_calls'),
    { ...head, object: 'chat.completion.chunk', choices: [], usage },
  ];
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  const whole = {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    usage,
  };
  return { events: `${unnamed(chunks)}data: [DONE]\n\n`, whole };
}

function responsesCall({ at, name, namespace, args }: Call): Stream {
  const text = JSON.stringify(args);
  const called = { status: 'completed', call_id: `call_${at + 1}`, name, ...(namespace && { namespace }) };
  const item = { id: `fc_${at + 1}`, type: 'function_call', ...called, arguments: text };
  const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 };
  const started = {
    id: `resp_0${at}`,
    object: 'response',
    created_at: 1,
    model: 'fake-model',
    output: [],
    error: null,
  };
  const completed = { ...started, status: 'completed', output: [item], usage };
  const place = { item_id: item.id, output_index: 0 };
  const events = [
    { type: 'response.created', response: { ...started, status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', arguments: '' } },
    { type: 'response.function_call_arguments.delta', ...place, delta: text },
    { type: 'response.function_call_arguments.done', ...place, arguments: text },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: completed },
  ];
  return { events: named(events.map((event, index) => ({ ...event, sequence_number: index }))), whole: completed };
}

function geminiCall({ name, args }: Call): Stream {
  const content = { role: 'model', parts: [{ functionCall: { name, args } }] };
  const usageMetadata = { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 };
  const whole = { candidates: [{ content, finishReason: 'STOP', index: 0 }], usageMetadata };
  return { events: unnamed([whole]), whole };
}
