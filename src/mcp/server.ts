import { realpath } from 'node:fs/promises';
import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { stringify } from 'yaml';
import { z } from 'zod';
import { SkillError } from '../core/contracts/index.ts';
import { calledOutside } from './called-outside.ts';
import { INSTRUCTIONS, type McpOptions, SERVER_NAME } from './opening.ts';
import type { Facts } from './tool-context.ts';
import { type Tool, tools } from './tools.ts';
import { display, WireTransport } from './wire.ts';

/** Connects the SDK to a wire, and returns what takes its messages. */
export function connect(options: McpOptions, send: (message: object) => void, answered: ReadonlySet<unknown>) {
  const transport = new WireTransport(send, answered);
  serveStdio(() => createServer(options), { transport });
  return (message: object) => transport.onmessage?.(message as never);
}

/** The same server for each way to serve it. */
export function createServer(options: McpOptions): McpServer {
  const info = { name: SERVER_NAME, version: options.version };
  const server = new McpServer(info, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
  for (const tool of tools) register(server, tool, options);
  return server;
}

const Agreed = z.object({ run: z.boolean().describe('Start it') });

function register(server: McpServer, tool: Tool, options: McpOptions): void {
  const { name, title, description, input, hints, act } = tool;
  const config = { title, description, inputSchema: input, annotations: hints };
  server.registerTool(name, config, async (given, context) => {
    try {
      const answer = await act(given as never, {
        ...options,
        signal: context.mcpReq.signal,
        isAgreed: acceptedContent(context.mcpReq.inputResponses, 'agree', Agreed)?.run === true,
        wasAsked: context.mcpReq.inputResponses !== undefined,
        canAsk: server.server.getClientCapabilities()?.elicitation !== undefined,
      });
      if (!('ask' in answer)) return result(answer.facts);
      const agree = inputRequired.elicit({ message: answer.ask, requestedSchema: Agreed });
      return inputRequired({ inputRequests: { agree } });
    } catch (error) {
      return { ...result(await failure(error, given, options)), isError: true };
    }
  });
}

/** As text and as values: some clients show their model the one, and some the other. */
function result(facts: Facts) {
  const shown = display(facts) as Facts;
  return { content: [{ type: 'text' as const, text: factsText(shown) }], structuredContent: shown };
}

const factsText = (facts: Facts): string => stringify(facts, { lineWidth: 0, aliasDuplicateObjects: false });

async function failure(error: unknown, given: object, { called, env }: McpOptions): Promise<Facts> {
  if (!(error instanceof SkillError))
    return { code: 'BUG', message: String((error as Error)?.message ?? error), hint: 'Please report it.' };
  const paths = Object.values(given).filter((one) => typeof one === 'string' && one.includes('/'));
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
  const say = (text: string) => calledOutside([...paths, ...real, env.HOME, env.SKILLOPT_HOME], text, called);
  return { code: error.code, message: say(error.message), hint: say(error.hint ?? '') };
}
