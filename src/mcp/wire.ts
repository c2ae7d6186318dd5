import type { Readable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { isObject, parseJson, printable } from '../core/text/index.ts';

/** One line is one message. Longer ones are refused: nothing that a tool takes is near. */
const LONGEST_LINE = 4_000_000;

type Message = Readonly<Record<string, unknown>>;
type Id = string | number;

/** Reads JSON-RPC from lines and writes it to lines. What is no message is answered with an error, and goes no further. */
export function openWire(input: Readable, write: (text: string) => unknown) {
  const send = (message: object) => void write(`${JSON.stringify(message)}\n`);
  const refuse = (code: number, message: string, id: Id | null = null) =>
    send({ jsonrpc: '2.0', id, error: { code, message } });
  return {
    send,
    /** Calls `onMessage` for each message, and resolves when the input is over. */
    async read(onMessage: (message: Message) => void): Promise<void> {
      for await (const line of linesOf(input)) {
        if (line === undefined) refuse(-32600, `expected a line of at most ${LONGEST_LINE} characters`);
        else if (line.trim() !== '') takeLine(line, onMessage, refuse);
      }
    },
  };
}

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

/** Lines without their ends; `undefined` for one that is too long. */
async function* linesOf(input: Readable): AsyncGenerator<string | undefined> {
  let [kept, isTooLong] = ['', false];
  input.setEncoding('utf8');
  for await (const chunk of input as AsyncIterable<string>) {
    const [first = '', ...rest] = chunk.split('\n');
    kept = isTooLong ? '' : kept + first;
    if (kept.length > LONGEST_LINE) [kept, isTooLong] = ['', true];
    for (const next of rest) {
      yield isTooLong ? undefined : kept;
      [kept, isTooLong] = [next, false];
    }
  }
  if (kept !== '') yield kept;
}

/** Texts of sessions, models and clients without what acts on a terminal or hides. */
export function display(value: unknown): unknown {
  if (typeof value === 'string') return printable(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(display);
  if (!isObject(value)) return value ?? null;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(entries.map(([key, one]) => [printable(key), display(one)]));
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
    if (!isAnswer || !this.#answered.has(message.id)) this.#send(display(message) as object);
  }

  async close(): Promise<void> {
    this.onclose?.();
  }
}
