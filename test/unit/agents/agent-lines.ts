import { on, once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A server on loopback that hands out connections in the order they come. */
export async function openLines() {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const connections = on(server, 'connection');
  return {
    port: (server.address() as AddressInfo).port,
    async next(): Promise<{ readonly closed: Promise<unknown> }> {
      const [socket] = (await connections.next()).value as [Socket];
      socket.on('error', () => {}).resume();
      return { closed: once(socket, 'close') };
    },
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}
