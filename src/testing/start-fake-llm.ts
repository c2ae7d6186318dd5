import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FakeDialect, fakeDialects } from './fake-dialects.ts';

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
  /** The headers of `requests`, one by one. */
  readonly headers: readonly IncomingHttpHeaders[];
  /** What each of `requests` was sent to: path and query. */
  readonly urls: readonly string[];
}

const ranOut: FakeAnswer = { status: 500, content: 'the fake LLM ran out of answers' };

/**
 * A real server on a free loopback port. Answers in the dialect that the path asks for: Chat Completions, Anthropic
 * Messages, Gemini's generateContent or OpenAI Responses. Running out of answers is a 500. `await using` closes it.
 */
export async function startFakeLLM(answers: FakeAnswers): Promise<FakeLLM> {
  const requests: FakeRequest[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const urls: string[] = [];
  const nextAnswer = answerSource(answers);
  const answer = async (incoming: IncomingMessage, dialect: FakeDialect | undefined) => {
    if (dialect === undefined) return notFound(incoming);
    const request = await readRequest(incoming, dialect);
    requests.push(request);
    headers.push(incoming.headers);
    urls.push(incoming.url ?? '');
    return nextAnswer(request);
  };
  const server = createServer(async (incoming, response) => {
    const dialect = findDialect(incoming);
    const given = await answer(incoming, dialect).catch((error) => ({ status: 500, content: String(error) }));
    await send(response, typeof given === 'string' ? { content: given } : given, dialect ?? fakeDialects[0]!);
  });
  const port = await listen(server);
  const baseURL = `http://127.0.0.1:${port}/v1`;
  return { baseURL, requests, headers, urls, [Symbol.asyncDispose]: () => close(server) };
}

function findDialect({ url = '' }: IncomingMessage): FakeDialect | undefined {
  const path = url.split('?')[0] ?? '';
  return fakeDialects.find((dialect) => dialect.path.test(path));
}

function answerSource(answers: FakeAnswers): Exclude<FakeAnswers, readonly unknown[]> {
  if (typeof answers === 'function') return answers;
  const remaining = [...answers];
  return () => remaining.shift() ?? ranOut;
}

function notFound({ method, url }: IncomingMessage): FakeAnswer {
  return { status: 404, content: `${method} ${url} is not served here` };
}

async function readRequest(incoming: IncomingMessage, dialect: FakeDialect): Promise<FakeRequest> {
  const body = JSON.parse(Buffer.concat(await incoming.toArray()).toString());
  return { ...body, messages: dialect.readMessages(body) };
}

async function send(response: ServerResponse, answer: FakeAnswer, dialect: FakeDialect): Promise<void> {
  if (answer.delayMs) await sleep(answer.delayMs, undefined, { ref: false });
  if (answer.destroy) return void response.destroy();
  const body = Buffer.from(answer.body ?? JSON.stringify(toBody(answer, dialect)));
  response.writeHead(answer.status ?? 200, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...answer.headers,
  });
  if (answer.tornAt === undefined) response.end(body);
  else response.write(body.subarray(0, answer.tornAt), () => response.destroy());
}

function toBody({ status = 200, content = '', finishReason, usage }: FakeAnswer, dialect: FakeDialect): object {
  return status >= 300 ? dialect.toError(content, status) : dialect.toBody({ content, finishReason, usage });
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
