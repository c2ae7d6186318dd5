/*
 * The server, light at its start: an agent waits for it each time it starts, and some take no tools from one that is late. The first
 * `initialize` is answered before anything is loaded; then the SDK takes over, with the same message, whose answer it need not send
 * again. The engine is loaded by the first call of a tool. Nothing but messages gets to stdout.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type McpOptions, openingAnswer, openingProblem } from './opening.ts';
import { openWire } from './wire.ts';

/** Serves one client until its input is over. */
export async function serveMcp(options: McpOptions): Promise<void> {
  const wire = openWire(options.input, options.write);
  const answered = new Set<unknown>();
  const asked = new Set<unknown>();
  const send = (message: { readonly id?: unknown }) => {
    asked.delete(message.id);
    wire.send(message);
  };
  let deliver: Promise<(message: object) => void> | undefined;
  let isFirst = true;
  await wire.read((message) => {
    const problem = openingProblem(message);
    if (problem !== undefined && message.id !== undefined)
      return wire.refuse(-32602, problem, message.id as string | number);
    const opening = isFirst ? openingAnswer(message, options.version) : undefined;
    isFirst = false;
    if (opening) {
      wire.send(opening);
      answered.add(message.id);
    } else answered.delete(message.id);
    deliver ??= import('./server.ts').then(({ connect }) => connect(options, send, answered));
    if (typeof message.method === 'string' && message.id !== undefined && !opening) asked.add(message.id);
    if (message.method === 'notifications/cancelled')
      asked.delete((message.params as { requestId?: unknown })?.requestId);
    void deliver.then((take) => take(message));
  });
  for (const end = Date.now() + ANSWERS_WITHIN_MS; asked.size > 0 && Date.now() < end; ) await sleep(20); // `printf … | skillopt mcp`
}

/** What was asked before the input ended is answered, if that takes no longer. */
const ANSWERS_WITHIN_MS = 5_000;
