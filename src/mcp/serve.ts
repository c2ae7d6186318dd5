/*
 * The server, light at its start: an agent waits for it each time it starts, and some take no tools from one that is late. The first
 * `initialize` is answered before anything is loaded; then the SDK takes over, with the same message, whose answer it need not send
 * again. The engine is loaded by the first call of a tool. Nothing but messages gets to stdout.
 */
import { type McpOptions, openingAnswer } from './opening.ts';
import { openWire } from './wire.ts';

/** Serves one client until its input is over. */
export async function serveMcp(options: McpOptions): Promise<void> {
  const wire = openWire(options.input, options.write);
  const answered = new Set<unknown>();
  let deliver: Promise<(message: object) => void> | undefined;
  let isFirst = true;
  await wire.read((message) => {
    const opening = isFirst ? openingAnswer(message, options.version) : undefined;
    isFirst = false;
    if (opening) {
      wire.send(opening);
      answered.add(message.id);
    } else answered.delete(message.id);
    deliver ??= import('./server.ts').then(({ connect }) => connect(options, wire.send, answered));
    void deliver.then((take) => take(message));
  });
}
