/** A reply as server-sent events, and as the one object that a call without streaming gets. */
export type Stream = { readonly events: string; readonly whole: unknown };

/** The tokens that the fake provider says it counted. */
const countedUsage = { input: 11, output: 7 };
const { input, output } = countedUsage;

/** What the provider behind `path` sends for `reply`. */
export function streamFor(path: string, reply: string): Stream | undefined {
  if (path.endsWith('/messages')) return anthropicMessages(reply);
  if (path.endsWith('/chat/completions')) return chatCompletions(reply);
  if (path.endsWith('/responses')) return responses(reply);
  if (/:(stream)?generateContent$/i.test(path)) return gemini(reply);
  return undefined;
}

type TypedEvent = { readonly type: string };

export const named = (events: readonly TypedEvent[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

export const unnamed = (events: readonly object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

function anthropicMessages(reply: string): Stream {
  const usage = { input_tokens: input, output_tokens: output };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'fake', stop_sequence: null };
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: reply } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: output },
    },
    { type: 'message_stop' },
  ];
  const content = [{ type: 'text', text: reply }];
  return { events: named(events), whole: { ...message, content, stop_reason: 'end_turn', usage } };
}

function chatCompletions(reply: string): Stream {
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const head = { id: 'chatcmpl-1', created: 1, model: 'fake-model' };
  const chunk = (delta: object, finish: string | null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const last = { ...head, object: 'chat.completion.chunk', choices: [], usage };
  const chunks = [chunk({ role: 'assistant', content: '' }, null), chunk({ content: reply }, null), chunk({}, 'stop')];
  const choice = { index: 0, message: { role: 'assistant', content: reply }, finish_reason: 'stop' };
  return {
    events: `${unnamed([...chunks, last])}data: [DONE]\n\n`,
    whole: { ...head, object: 'chat.completion', choices: [choice], usage },
  };
}

function responses(reply: string): Stream {
  const text = { type: 'output_text', text: reply, annotations: [] };
  const item = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [text] };
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
  const started = { id: 'resp_1', object: 'response', created_at: 1, model: 'fake-model', output: [], error: null };
  const completed = { ...started, status: 'completed', output: [item], usage };
  const place = { item_id: item.id, output_index: 0, content_index: 0 };
  const events = [
    { type: 'response.created', response: { ...started, status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...place, part: { ...text, text: '' } },
    { type: 'response.output_text.delta', ...place, delta: reply },
    { type: 'response.output_text.done', ...place, text: reply },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: completed },
  ];
  return { events: named(events.map((event, index) => ({ ...event, sequence_number: index }))), whole: completed };
}

function gemini(reply: string): Stream {
  const whole = {
    candidates: [{ content: { role: 'model', parts: [{ text: reply }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
  };
  return { events: unnamed([whole]), whole };
}
