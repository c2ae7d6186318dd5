/** What an answer is made from. Reason and usage are in the provider's spelling. */
type Reply = {
  readonly content: string;
  readonly finishReason?: string | undefined;
  readonly usage?: Readonly<Record<string, unknown>> | undefined;
};

type Message = { readonly role: string; readonly content: string };
type Body = Readonly<Record<string, unknown>>;

/** How one API asks and answers. */
export type FakeDialect = {
  /** The end of its paths. */
  readonly path: RegExp;
  readMessages(body: Body): readonly Message[];
  toBody(reply: Reply): object;
  toError(message: string, status: number): object;
};

const chatCompletions: FakeDialect = {
  path: /\/chat\/completions$/,
  readMessages: ({ messages }) => messages as readonly Message[],
  toBody({ content, finishReason = 'stop', usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }) {
    const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: finishReason };
    return { id: 'fake', object: 'chat.completion', created: 0, model: 'fake', choices: [choice], usage };
  },
  toError: (message) => ({ error: { message } }),
};

/** Anthropic Messages. */
const messages: FakeDialect = {
  path: /\/messages$/,
  readMessages: ({ system, messages }) => [...ofRole('system', system), ...toMessages(messages, 'content')],
  toBody({ content, finishReason = 'end_turn', usage = { input_tokens: 3, output_tokens: 2 } }) {
    const parts = content === '' ? [] : [{ type: 'text', text: content }];
    return {
      type: 'message',
      id: 'fake',
      role: 'assistant',
      model: 'fake',
      content: parts,
      stop_reason: finishReason,
      usage,
    };
  },
  toError: (message) => ({ type: 'error', error: { type: 'fake_error', message } }),
};

/** Gemini. */
const generateContent: FakeDialect = {
  path: /:generateContent$/,
  readMessages({ systemInstruction, contents }) {
    const system = (systemInstruction as Body | undefined)?.parts;
    const turns = toMessages(contents, 'parts').map(({ role, content }) => ({
      role: role === 'model' ? 'assistant' : role,
      content,
    }));
    return [...ofRole('system', system), ...turns];
  },
  toBody({ content, finishReason = 'STOP', usage = { promptTokenCount: 3, candidatesTokenCount: 2 } }) {
    const parts = content === '' ? [] : [{ text: content }];
    return { candidates: [{ index: 0, content: { role: 'model', parts }, finishReason }], usageMetadata: usage };
  },
  toError: (message, code) => ({ error: { code, message, status: 'FAKE_ERROR' } }),
};

/** OpenAI Responses. A `finishReason` is why a reply is incomplete. */
const responses: FakeDialect = {
  path: /\/responses$/,
  readMessages: ({ instructions, input }) => [
    ...ofRole('system', instructions),
    ...(typeof input === 'string' ? ofRole('user', input) : toMessages(input, 'content')),
  ],
  toBody({ content, finishReason, usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 } }) {
    const text = { type: 'output_text', text: content, annotations: [] };
    const output = [{ type: 'message', id: 'msg_fake', role: 'assistant', status: 'completed', content: [text] }];
    const ending =
      finishReason === undefined
        ? { status: 'completed', incomplete_details: null }
        : { status: 'incomplete', incomplete_details: { reason: finishReason } };
    return { id: 'resp_fake', object: 'response', created_at: 0, model: 'fake', ...ending, output, usage };
  },
  toError: (message) => ({ error: { message } }),
};

export const fakeDialects: readonly FakeDialect[] = [chatCompletions, messages, generateContent, responses];

function toMessages(turns: unknown, key: 'content' | 'parts'): Message[] {
  return ((turns ?? []) as Body[]).map((turn) => ({ role: String(turn.role), content: textOf(turn[key]) }));
}

function ofRole(role: string, content: unknown): Message[] {
  return content === undefined ? [] : [{ role, content: textOf(content) }];
}

/** Content is a text, or parts of which some have one. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return ((content ?? []) as { text?: string }[]).map(({ text = '' }) => text).join('');
}
