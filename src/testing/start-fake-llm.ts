import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type FakeAnswer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The model's text. With a status of failure: the provider's message. */
  readonly content?: string;
  /** Sent as it is, in place of a reply made from `content`. */
  readonly body?: string;
  readonly delayMs?: number;
  /** In the provider's spelling. */
  readonly finishReason?: string;
  /** In the provider's spelling. */
  readonly usage?: Readonly<Record<string, unknown>>;
  /** Resets the connection without an answer. */
  readonly destroy?: boolean;
  /** Sends this many bytes of the body, then resets the connection. */
  readonly tornAt?: number;
};

/** What the server understood of a request: the fields it was sent, unchecked. */
export type FakeRequest = {
  /** In every dialect as in Chat Completions: roles and texts, the system prompt first. */
  readonly messages: readonly { role: string; content: string }[];
  readonly [field: string]: unknown;
};

/** Answers for one request each, in order; or a function that answers any number of them. A text is its `content`. */
export type FakeAnswers =
  | readonly (string | FakeAnswer)[]
  | ((request: FakeRequest) => string | FakeAnswer | Promise<string | FakeAnswer>);

export interface FakeLLM extends AsyncDisposable {
  readonly baseURL: string;
  readonly requests: readonly FakeRequest[];
  /** The same as they were sent, with the parts of messages that are no texts. */
  readonly bodies: readonly Readonly<Record<string, unknown>>[];
  /** The headers of `requests`, one by one. */
  readonly headers: readonly IncomingHttpHeaders[];
  /** What each of `requests` was sent to: path and query. */
  readonly urls: readonly string[];
}

/**
 * A real server on a free loopback port. Answers in the dialect that the path asks for: Chat Completions, Anthropic
 * Messages, Gemini's generateContent or OpenAI Responses. Running out of answers is a 500. `await using` closes it.
 */
export async function startFakeLLM(answers: FakeAnswers): Promise<FakeLLM> {
  const requests: FakeRequest[] = [];
  const bodies: Record<string, unknown>[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const urls: string[] = [];
  const nextAnswer = answerSource(answers);
  const answer = async (incoming: IncomingMessage, dialect: FakeDialect | undefined) => {
    if (dialect === undefined) return { status: 404, content: `${incoming.method} ${incoming.url} is not served here` };
    const body = JSON.parse(Buffer.concat(await incoming.toArray()).toString());
    const request: FakeRequest = { ...body, messages: dialect.readMessages(body) };
    requests.push(request);
    bodies.push(body);
    headers.push(incoming.headers);
    urls.push(incoming.url ?? '');
    return nextAnswer(request);
  };
  const server = createServer(async (incoming, response) => {
    const dialect = findDialect(incoming);
    const given = await answer(incoming, dialect).catch((error) => ({ status: 500, content: String(error) }));
    await send(response, typeof given === 'string' ? { content: given } : given, dialect ?? chatCompletions);
  });
  const baseURL = `http://127.0.0.1:${await listen(server)}/v1`;
  return { baseURL, requests, bodies, headers, urls, [Symbol.asyncDispose]: () => close(server) };
}

function findDialect({ url = '' }: IncomingMessage): FakeDialect | undefined {
  const path = url.split('?')[0] ?? '';
  return fakeDialects.find((dialect) => dialect.path.test(path));
}

function answerSource(answers: FakeAnswers): Exclude<FakeAnswers, readonly unknown[]> {
  if (typeof answers === 'function') return answers;
  const remaining = [...answers];
  return () => remaining.shift() ?? { status: 500, content: 'the fake LLM ran out of answers' };
}

async function send(response: ServerResponse, answer: FakeAnswer, dialect: FakeDialect): Promise<void> {
  if (answer.delayMs) await sleep(answer.delayMs, undefined, { ref: false });
  if (answer.destroy) return void response.destroy();
  const { status = 200, content = '' } = answer;
  const made = status >= 300 ? dialect.toError(content, status) : dialect.toBody(answer);
  const body = Buffer.from(answer.body ?? JSON.stringify(made));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length, ...answer.headers });
  if (answer.tornAt === undefined) response.end(body);
  else response.write(body.subarray(0, answer.tornAt), () => response.destroy());
}

/** Listens on a free port of loopback. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

export async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

type Message = FakeRequest['messages'][number];
type Body = Readonly<Record<string, unknown>>;

/** How one API asks and answers. */
type FakeDialect = {
  /** The end of its paths. */
  readonly path: RegExp;
  readMessages(body: Body): readonly Message[];
  toBody(answer: FakeAnswer): object;
  toError(message: string, status: number): object;
};

const chatCompletions: FakeDialect = {
  path: /\/chat\/completions$/,
  readMessages: ({ messages }) => (messages as Message[]).map((turn) => ({ ...turn, content: textOf(turn.content) })),
  toBody({ content = '', finishReason = 'stop', usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }) {
    const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: finishReason };
    return { id: 'fake', object: 'chat.completion', created: 0, model: 'fake', choices: [choice], usage };
  },
  toError: (message) => ({ error: { message } }),
};

/** Anthropic Messages. */
const messages: FakeDialect = {
  path: /\/messages$/,
  readMessages: ({ system, messages }) => [...ofRole('system', system), ...toMessages(messages, 'content')],
  toBody({ content = '', finishReason = 'end_turn', usage = { input_tokens: 3, output_tokens: 2 } }) {
    const parts = content === '' ? [] : [{ type: 'text', text: content }];
    const head = { type: 'message', id: 'fake', role: 'assistant', model: 'fake' };
    return { ...head, content: parts, stop_reason: finishReason, usage };
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
  toBody({ content = '', finishReason = 'STOP', usage = { promptTokenCount: 3, candidatesTokenCount: 2 } }) {
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
  toBody({ content = '', finishReason, usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 } }) {
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

const fakeDialects: readonly FakeDialect[] = [chatCompletions, messages, generateContent, responses];

const toMessages = (turns: unknown, key: 'content' | 'parts'): Message[] =>
  ((turns ?? []) as Body[]).map((turn) => ({ role: String(turn.role), content: textOf(turn[key]) }));

const ofRole = (role: string, content: unknown) => (content === undefined ? [] : [{ role, content: textOf(content) }]);

/** Content is a text, or parts of which some have one. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return ((content ?? []) as { text?: string }[]).map(({ text = '' }) => text).join('');
}
