import type { Readable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { head, isObject, jsonLine, parseJson, printable } from '../core/text/index.ts';
import { idOfLong } from './long-line.ts';

/** One line is one message. Longer ones are refused: nothing that a tool takes is near. */
const LONGEST_LINE = 4_000_000;

type Message = Readonly<Record<string, unknown>>;
type Id = string | number;

/** Reads JSON-RPC from lines and writes it to lines. What is no message is answered with an error, and goes no further. */
export function openWire(input: Readable, write: (text: string) => unknown) {
  const send = (message: object) => void write(`${jsonLine(message)}\n`); // an id may hold what acts on a terminal
  const refuse = (code: number, message: string, id: Id | null = null) =>
    send({ jsonrpc: '2.0', id, error: { code, message } });
  return {
    send,
    refuse,
    /** Calls `onMessage` for each message, and resolves when the input is over. */
    async read(onMessage: (message: Message) => void): Promise<void> {
      for await (const line of linesOf(input)) {
        if (typeof line === 'object') refuse(-32600, TOO_LONG, idOfLong(line.begin, line.end));
        else if (line.trim() !== '') takeLine(line, onMessage, refuse);
      }
    },
  };
}

const TOO_LONG = `expected a line of at most ${LONGEST_LINE} characters`;

function takeLine(
  line: string,
  onMessage: (message: Message) => void,
  refuse: (...answer: [number, string, (Id | null)?]) => void,
) {
  const message = parseJson(line);
  if (message === undefined) return refuse(-32700, 'expected JSON on one line');
  const problem = problemOf(message);
  if (problem === undefined) return onMessage(message as Message);
  return refuse(-32600, problem, isObject(message) && isId(message.id) ? message.id : null);
}

const isId = (value: unknown): value is Id => typeof value === 'string' || Number.isSafeInteger(value);

/** Why it is no JSON-RPC 2.0 message. */
function problemOf(message: unknown): string | undefined {
  if (Array.isArray(message)) return 'expected one message, got a list: batches are not part of the protocol';
  if (!isObject(message) || message.jsonrpc !== '2.0') return 'expected an object with jsonrpc: "2.0"';
  const { id, method, params, result: _, error: __, jsonrpc: ___, ...others } = message;
  if (Object.keys(others).length > 0) return 'expected no other keys than id, method, params, result and error';
  if (method !== undefined && ('result' in message || 'error' in message)) return 'expected a method or an answer';
  if (id !== undefined && !isId(id)) return 'expected an id that is text or a whole number';
  if (method === undefined) return 'result' in message || 'error' in message ? undefined : 'expected a method';
  if (typeof method !== 'string') return 'expected a method that is text';
  if (params === undefined) return undefined;
  if (!isObject(params)) return 'expected params by name';
  const { _meta: meta } = params;
  if (meta === undefined) return undefined;
  if (!isObject(meta)) return 'expected a _meta with keys';
  return meta.progressToken === undefined || isId(meta.progressToken)
    ? undefined
    : 'expected a progressToken that is text or a whole number';
}

/** The two ends of a line that is too long to be kept. */
type LongLine = { readonly begin: string; readonly end: string };

const KEPT = 2_000;

/** Lines without their ends. */
async function* linesOf(input: Readable): AsyncGenerator<string | LongLine> {
  let kept: string | LongLine = '';
  input.setEncoding('utf8');
  for await (const chunk of input as AsyncIterable<string>) {
    const [first = '', ...rest] = chunk.split('\n');
    kept = withMore(kept, first);
    for (const next of rest) {
      yield kept;
      kept = withMore('', next);
    }
  }
  if (kept !== '') yield kept;
}

function withMore(line: string | LongLine, more: string): string | LongLine {
  if (typeof line === 'object') return { ...line, end: (line.end + more).slice(-KEPT) };
  const all = line + more;
  return all.length > LONGEST_LINE ? { begin: all.slice(0, KEPT), end: all.slice(-KEPT) } : all;
}

/** Texts of sessions, models and clients without what acts on a terminal or hides, each at most this long. */
export function display(value: unknown, longest = Number.POSITIVE_INFINITY): unknown {
  const show = (text: string) => (text.length > longest ? `${printable(head(text, longest))}…` : printable(text));
  if (typeof value === 'string') return show(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((one) => display(one, longest));
  if (!isObject(value)) return value ?? null;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(entries.map(([key, one]) => [show(key), display(one, longest)]));
}

/** What was refused comes back with what is wrong about it: the beginning is enough to know it again. */
export const LONGEST_ECHO = 2_000;

/** The id goes back as it came, or the client would wait for ever. */
function cleaned(message: JSONRPCMessage): object {
  if ('error' in message) return { ...message, error: display(message.error, LONGEST_ECHO) };
  if (!('result' in message)) return message;
  const { result } = message as { readonly result: Message };
  const isOurs = !result.isError || result.structuredContent !== undefined; // else the SDK has refused the arguments
  return { ...message, result: display(result, isOurs ? undefined : LONGEST_ECHO) };
}

/** A wire as the SDK wants it. What it answers to a request that was answered before is left out. */
export class WireTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  readonly #send: (message: object) => void;
  readonly #answered: ReadonlySet<unknown>;

  constructor(send: (message: object) => void, answered: ReadonlySet<unknown>) {
    this.#send = send;
    this.#answered = answered;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    const isAnswer = 'result' in message || 'error' in message;
    if (!isAnswer || !this.#answered.has(message.id)) this.#send(cleaned(message));
  }

  async close(): Promise<void> {
    this.onclose?.();
  }
}
