import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import {
  type ChatMessage,
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  type FinishReason,
  ModelCallError,
  SkillError,
} from '../core/contracts/index.ts';
import { parseJson } from '../core/text/index.ts';

export type ServeSimOptions = {
  /** Served as `sim-target`, `sim-optimizer` and `sim-judge`. */
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  readonly judge?: ChatModel;
  readonly port?: number;
  /** 127.0.0.1 by default: there is no key and no limit. */
  readonly host?: string;
  /** Whether a repeated request without a `seed` gets another draw, as from a real server. */
  readonly variesRepeats?: boolean;
};

/** A running server. `await using` closes it. */
export interface SimServer extends AsyncDisposable {
  /** The base URL for clients, with `/v1` at its end. */
  readonly url: string;
  readonly requests: number;
  /** Stops listening, and cuts open connections. */
  close(): Promise<void>;
}

/**
 * Serves simulated models as an OpenAI-compatible endpoint: `POST /v1/chat/completions` without streaming, and
 * `GET /v1/models`. A request's `seed` is its sample index. A client that hangs up aborts its call.
 */
export async function serveSim(options: ServeSimOptions): Promise<SimServer> {
  const { target, optimizer, judge, port = 0, host = '127.0.0.1', variesRepeats = false } = options;
  const served = variesRepeats ? varyRepeats : (model: ChatModel) => model;
  const models = new Map([
    ['sim-target', served(target)],
    ['sim-optimizer', served(optimizer)],
    ...(judge ? [['sim-judge', served(judge)] as const] : []),
  ]);
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    void respond(models, request, response);
  });
  server.keepAliveTimeout = 60_000; // longer than clients keep a connection, so that none is cut under a request
  await listen(server, port, host);
  const { address, family, port: boundPort } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve()); // closed already is closed too
      server.closeAllConnections();
    });
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${boundPort}/v1`,
    get requests() {
      return requests;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function respond(models: Models, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const hangUp = new AbortController();
  response.once('close', () => hangUp.abort());
  try {
    send(response, await route(models, request, hangUp.signal));
  } catch (error) {
    if (!response.destroyed) send(response, toComplaint({ status: 500, message: String(error) }));
  }
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  const json = JSON.stringify(body);
  const length = Buffer.byteLength(json);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers }).end(json);
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const hint = 'Choose another port, or 0 for any free one.';
      reject(new SkillError('USAGE', `Cannot listen on ${host}:${port}: ${cause.message}`, { cause, hint }));
    });
    server.listen(port, host, resolve);
  });
}

type Models = ReadonlyMap<string, ChatModel>;

async function route(models: Models, request: IncomingMessage, signal: AbortSignal): Promise<Answer> {
  const path = request.url?.replace(/\?.*/, '');
  const body = await text(request);
  if (request.method === 'GET' && path === '/v1/models') {
    const data = [...models.keys()].map((id) => ({ id, object: 'model', created: 0, owned_by: 'skillopt' }));
    return { status: 200, body: { object: 'list', data } };
  }
  if (request.method === 'POST' && path === '/v1/chat/completions') return complete(models, parseJson(body), signal);
  return toComplaint({ status: 404, message: `Nothing is served at ${request.method} ${path}.` });
}

async function complete(models: Models, body: unknown, signal: AbortSignal): Promise<Answer> {
  if (body === undefined) return toComplaint({ status: 400, message: 'The body must be JSON.' });
  const parsed = CompletionRequest.safeParse(body);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    const param = path.join('.');
    return toComplaint({ status: 400, message: param ? `${param}: ${message}` : message, param });
  }
  const model = models.get(parsed.data.model);
  if (!model) {
    const message = `There is no model "${parsed.data.model}": ask for ${[...models.keys()].join(' or ')}.`;
    return toComplaint({ status: 404, message, param: 'model', code: 'model_not_found' });
  }
  try {
    const reply = await model.complete(toChatRequest(parsed.data, signal));
    return { status: 200, body: toCompletion(parsed.data.model, reply) };
  } catch (error) {
    if (error instanceof ModelCallError) return toRefusal(error);
    throw error;
  }
}

// OpenAI's Chat Completions, as far as a simulated model needs it. Unknown fields are ignored.

const Message = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: z.union([z.string(), z.array(z.object({ type: z.literal('text'), text: z.string() })), z.null()]),
});

const maxTokens = z.number().int().positive().nullish();

const CompletionRequest = z.object({
  model: z.string(),
  messages: z.array(Message).min(1),
  stream: z.literal(false, 'must be false: this server does not stream').nullish(),
  n: z.literal(1, 'must be 1: ask again with another seed').nullish(),
  seed: z.number().int().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  max_tokens: maxTokens,
  max_completion_tokens: maxTokens,
});
type CompletionRequest = z.infer<typeof CompletionRequest>;

/** `seed` is the sample index, the only thing on the wire that asks for another draw. */
function toChatRequest(body: CompletionRequest, signal: AbortSignal): ChatRequest {
  const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens;
  return {
    messages: body.messages.map(toChatMessage),
    signal,
    ...(typeof body.seed === 'number' ? { sampleIndex: body.seed } : {}),
    ...(typeof body.temperature === 'number' ? { temperature: body.temperature } : {}),
    ...(typeof maxOutputTokens === 'number' ? { maxOutputTokens } : {}),
  };
}

function toChatMessage({ role, content }: z.infer<typeof Message>): ChatMessage {
  const text = Array.isArray(content) ? content.map((part) => part.text).join('') : (content ?? '');
  return { role: role === 'developer' ? 'system' : role, content: text };
}

/** Without a clock or a counter: the same request gets the same bytes. */
function toCompletion(model: string, { text, usage, finishReason }: ChatReply): object {
  return {
    id: 'chatcmpl-simulated',
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: finishReasons[finishReason] }],
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      prompt_tokens_details: { cached_tokens: usage.cached },
      completion_tokens_details: { reasoning_tokens: usage.reasoning },
    },
  };
}

const finishReasons: Record<FinishReason, string> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  other: 'stop',
};

type Answer = { readonly status: number; readonly body: object; readonly headers?: Record<string, string> };

type Complaint = { readonly status: number; readonly message: string; readonly param?: string; readonly code?: string };

function toComplaint({ status, message, param, code }: Complaint): Answer {
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  return { status, body: { error: { message, type, param: param ?? null, code: code ?? null } } };
}

function toRefusal({ status = 500, message, retryAfterMs }: ModelCallError): Answer {
  const headers: Record<string, string> =
    retryAfterMs === undefined
      ? {}
      : { 'retry-after-ms': String(retryAfterMs), 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
  const type = status === 429 ? 'rate_limit_error' : 'server_error';
  return { status, body: { error: { message, type, param: null, code: null } }, headers };
}

/**
 * The n-th time that messages come without a sample index, n is their index. So many equal requests get the same replies,
 * whichever of them comes first.
 */
function varyRepeats(model: ChatModel): ChatModel {
  const seen = new Map<string, number>();
  return {
    ...model,
    complete(request) {
      if (request.sampleIndex !== undefined) return model.complete(request);
      const key = createHash('sha256').update(JSON.stringify(request.messages)).digest('base64');
      const sampleIndex = seen.get(key) ?? 0;
      seen.set(key, sampleIndex + 1);
      return model.complete({ ...request, sampleIndex });
    },
  };
}
