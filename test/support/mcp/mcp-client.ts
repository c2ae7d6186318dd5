import { PassThrough } from 'node:stream';
import { serveMcp } from '../../../src/mcp/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies are looked into by the tests
type Any = any;
type Reply = { readonly id?: unknown; readonly result?: Any; readonly error?: { code: number; message: string } };

type ClientOptions = {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly mayRun?: boolean;
  /** How commands are called here. */
  readonly called?: (text: string) => string;
  /** Answers what the server asks the person. Without it the client cannot ask. */
  readonly answer?: (params: { message: string }) => object;
};

const INITIALIZE = { protocolVersion: '2025-11-25', clientInfo: { name: 'test', version: '1' } };

/** A client of the server in this process, over its lines. */
export function mcpClient({ env = {}, mayRun = false, answer, called = (text) => text }: ClientOptions = {}) {
  const input = new PassThrough();
  const lines: string[] = [];
  const waiting = new Map<unknown, (reply: Reply) => void>();
  const take = (line: string) => {
    lines.push(line);
    const message = JSON.parse(line) as Reply & { method?: string; params?: never };
    if (message.method === 'elicitation/create')
      return input.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer!(message.params!) })}\n`);
    waiting.get(message.id)?.(message);
  };
  const served = serveMcp({
    ...{ input, env, mayRun, version: '1.2.3', called },
    write: (text) => text.split('\n').filter(Boolean).forEach(take),
  });
  let next = 0;
  const send = (line: string) => void input.write(`${line}\n`);
  const request = (method: string, params: object = {}): Promise<Reply> => {
    const id = ++next;
    const reply = new Promise<Reply>((resolve) => waiting.set(id, resolve));
    send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return reply;
  };
  return {
    lines,
    send,
    request,
    open: () => request('initialize', { ...INITIALIZE, capabilities: answer ? { elicitation: {} } : {} }),
    call: async (name: string, input: object = {}) =>
      (await request('tools/call', { name, arguments: input })).result as {
        readonly content: readonly [{ readonly text: string }];
        readonly structuredContent: Any;
        readonly isError?: boolean;
      },
    async [Symbol.asyncDispose]() {
      input.end();
      await served;
    },
  };
}
