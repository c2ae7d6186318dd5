import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { streamFor } from './provider-streams.ts';
import { toolCallFor, type WantedTool } from './tool-calls.ts';

/** What a CLI sent. `text` is the whole body, in which planted instructions are looked for. */
type SeenRequest = { readonly path: string; readonly text: string };

/**
 * A provider on loopback that real agent CLIs accept: Anthropic Messages, OpenAI Chat Completions and Responses,
 * Gemini. It answers `reply` to everything, with `callsTools` after a call of the shell that it is offered. Below
 * `refusing(status)` it refuses everything with that status.
 */
export async function startFakeProvider(reply: string, { callsTools = false, wanted }: Calling = {}) {
  const seen: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const text = await readText(request);
    const path = (request.url ?? '/').split('?')[0]!;
    if (request.method === 'POST') seen.push({ path, text });
    const { status, type, body } = answerTo(path, text, reply, { callsTools, wanted });
    response.writeHead(status, { 'content-type': type });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    seen,
    refusing: (status: number) => `${url}/refuse-${status}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** A shell, or the tools that are wanted, are called if they are offered. */
type Calling = { readonly callsTools?: boolean; readonly wanted?: readonly WantedTool[] | undefined };

type Answer = { readonly status: number; readonly type: string; readonly body: string };

function answerTo(path: string, text: string, reply: string, { callsTools, wanted }: Calling): Answer {
  const refused = /^\/refuse-(\d+)/.exec(path)?.[1];
  if (refused !== undefined) return json(Number(refused), refusal(Number(refused)));
  if (path.endsWith('/count_tokens')) return json(200, { input_tokens: 11 });
  if (path.endsWith(':countTokens')) return json(200, { totalTokens: 11 });
  const stream = (callsTools || wanted ? toolCallFor(path, text, wanted) : undefined) ?? streamFor(path, reply);
  if (stream === undefined) return json(404, refusal(404));
  const isStreaming = path.endsWith(':streamGenerateContent') || /"stream":\s*true/.test(text);
  return isStreaming ? { status: 200, type: 'text/event-stream', body: stream.events } : json(200, stream.whole);
}

const json = (status: number, body: unknown): Answer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
});

/** One body that all providers' clients can read. */
function refusal(status: number) {
  const kinds: Record<number, [string, string, string]> = {
    401: ['authentication_error', 'UNAUTHENTICATED', 'invalid api key'],
    404: ['not_found_error', 'NOT_FOUND', 'model not found'],
    429: ['rate_limit_error', 'RESOURCE_EXHAUSTED', 'rate limit reached'],
  };
  const [type, name, message] = kinds[status] ?? ['api_error', 'INTERNAL', 'internal server error'];
  return { type: 'error', error: { type, code: status, status: name, message } };
}
