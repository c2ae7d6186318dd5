import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Dialect = {
  readonly name: string;
  readonly path: string;
  readonly streamedPath: string;
  body(text: string): object;
};

const message = (content: string) => [{ role: 'user', content }];

/** How the clients of four providers ask. */
export const dialects: readonly Dialect[] = [
  {
    name: 'Anthropic Messages',
    path: '/v1/messages?beta=true',
    streamedPath: '/v1/messages?beta=true',
    body: (text) => ({ model: 'some-model', max_tokens: 100, messages: message(text) }),
  },
  {
    name: 'Chat Completions',
    path: '/v1/chat/completions',
    streamedPath: '/v1/chat/completions',
    body: (text) => ({ model: 'some-model', messages: message(text) }),
  },
  {
    name: 'Responses',
    path: '/v1/responses',
    streamedPath: '/v1/responses',
    body: (text) => ({ model: 'some-model', input: message(text) }),
  },
  {
    name: 'Gemini',
    path: '/v1beta/models/some-model:generateContent?key=of-the-caller',
    streamedPath: '/v1beta/models/some-model:streamGenerateContent?alt=sse&key=of-the-caller',
    body: (text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
  },
];

export const [anthropic, chat, responses, gemini] = dialects as [Dialect, Dialect, Dialect, Dialect];

type Call = {
  readonly stream?: boolean;
  readonly text?: string;
  readonly more?: object;
  readonly signal?: AbortSignal;
};

/** One generation through `url`. */
export function ask(
  url: string | undefined,
  dialect: Dialect,
  { stream = false, text = 'hello', more = {}, signal }: Call = {},
) {
  const asksInBody = dialect.path === dialect.streamedPath;
  return fetch(`${url}${stream ? dialect.streamedPath : dialect.path}`, {
    method: 'POST',
    ...(signal && { signal }),
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer of-the-caller',
      'x-api-key': 'of-the-caller',
    },
    body: JSON.stringify({ ...dialect.body(text), ...(asksInBody && stream ? { stream } : {}), ...more }),
  });
}

/** A provider that answers as `handle` does. */
export async function startProvider(
  handle: (request: IncomingMessage & { text: string }, response: ServerResponse) => unknown,
) {
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    await handle(Object.assign(request, { text }), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

export const eventStream = { 'content-type': 'text/event-stream' };

export const data = (...events: readonly object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
