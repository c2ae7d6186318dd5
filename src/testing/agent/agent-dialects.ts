import {
  type AgentReply,
  anthropicReply,
  chatReply,
  geminiReply,
  responsesReply,
  type WireReply,
} from './agent-replies.ts';
import {
  anthropicReader,
  chatReader,
  geminiReader,
  type Json,
  type RequestReader,
  responsesReader,
} from './agent-request.ts';

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

const dialects: readonly AgentDialect[] = [
  {
    path: /\/messages$/,
    reader: anthropicReader,
    countsReasoning: false,
    isStreamed,
    toWire: anthropicReply,
    toError: (message, status) => ({ type: 'error', error: { type: kindOf(status), message } }),
  },
  {
    path: /\/chat\/completions$/,
    reader: chatReader,
    countsReasoning: true,
    isStreamed,
    toWire: chatReply,
    toError: (message, status) => ({ error: { message, type: kindOf(status), code: kindOf(status) } }),
  },
  {
    path: /\/responses$/,
    reader: responsesReader,
    countsReasoning: true,
    isStreamed,
    toWire: responsesReply,
    toError: (message, status) => ({ error: { message, type: kindOf(status), code: kindOf(status) } }),
  },
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
