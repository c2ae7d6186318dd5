import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import {
  createMcpHandler,
  type EventStore,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpServer,
  originValidationResponse,
  type ServerNotifier,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

type Create = (notify: () => ServerNotifier) => McpServer;

/** Serves over HTTP on loopback, both revisions at one address: without sessions as of 2026-07-28, with sessions before. */
export async function serveOverHttp(create: Create) {
  const modern = createMcpHandler(() => create(() => modern.notify), { legacy: 'reject' });
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const servers: McpServer[] = [];
  const openSession = async () => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: keepEvents(),
      retryInterval: 500,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = create(() => modern.notify);
    servers.push(server);
    await server.connect(transport);
    return transport;
  };
  const answer = async (request: Request): Promise<Response> => {
    const refused =
      hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins());
    if (refused) return refused;
    if (!(await isLegacyRequest(request))) return modern.fetch(request);
    const id = request.headers.get('mcp-session-id');
    const session = id === null ? await openSession() : sessions.get(id);
    return session?.handleRequest(request) ?? new Response('no such session', { status: 404 });
  };
  const server = serve({ fetch: answer, port: 0, hostname: '127.0.0.1' });
  if (!server.listening) await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      await Promise.all([modern.close(), ...servers.map((one) => one.close())]);
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
    },
  };
}

/** A client that comes back gets what was sent since. */
function keepEvents(): EventStore {
  const events: { readonly stream: string; readonly message: Parameters<EventStore['storeEvent']>[1] }[] = [];
  return {
    storeEvent: async (stream, message) => String(events.push({ stream, message }) - 1),
    async replayEventsAfter(last, { send }) {
      const { stream } = events[Number(last)]!;
      for (const [id, event] of events.entries())
        if (id > Number(last) && event.stream === stream && 'jsonrpc' in event.message)
          await send(String(id), event.message);
      return stream;
    },
  };
}
