import { realpath } from 'node:fs/promises';
import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import pLimit from 'p-limit';
import { stringify } from 'yaml';
import { z } from 'zod';
import { SkillError } from '../core/contracts/index.ts';
import { head } from '../core/text/index.ts';
import { calledOutside } from './called-outside.ts';
import { INSTRUCTIONS, type McpOptions, SERVER_NAME } from './opening.ts';
import type { Answer, Facts, ToolContext } from './tool-context.ts';
import { type Tool, tools } from './tools.ts';
import { display, LONGEST_ECHO, WireTransport } from './wire.ts';

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
  const bounded = boundActs();
  for (const tool of tools) register(server, tool, options, bounded);
  return server;
}

type Act = (context: ToolContext) => Promise<Answer>;

/** A plan may read many sessions: few act at once, and few more may wait. One that only waits for a night is in nobody's way. */
const ACTS_AT_ONCE = 4;
const MOST_CALLS = 64;

function boundActs() {
  const limit = pLimit(ACTS_AT_ONCE);
  let calls = 0;
  return async (act: Act, isWaiting: boolean, context: ToolContext): Promise<Answer> => {
    if (calls >= MOST_CALLS) throw tooMany();
    calls += 1;
    const begin = async () => {
      context.signal.throwIfAborted(); // it may have been cancelled while it waited
      return act(context);
    };
    return (isWaiting ? begin() : limit(begin)).finally(() => {
      calls -= 1;
    });
  };
}

const tooMany = () =>
  new SkillError('USAGE', `${MOST_CALLS} calls are not answered yet`, { hint: 'Wait for answers, and call again.' });

const Agreed = z.object({ run: z.boolean().describe('Start it') });

function register(server: McpServer, tool: Tool, options: McpOptions, bounded: ReturnType<typeof boundActs>): void {
  const { name, title, description, input, hints, act, isWaiting } = tool;
  const config = { title, description, inputSchema: input, annotations: hints };
  server.registerTool(name, config, async (given, context) => {
    try {
      const answer = await bounded((about) => act(given as never, about), isWaiting?.(given as never) ?? false, {
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
    return { code: 'BUG', message: briefly(String((error as Error)?.message ?? error)), hint: 'Please report it.' };
  const paths = Object.values(given).filter((one) => typeof one === 'string' && one.includes('/'));
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
  const say = (text: string) => calledOutside([...paths, ...real, env.HOME, env.SKILLOPT_HOME], text, called);
  return { code: error.code, message: briefly(say(error.message)), hint: say(error.hint ?? '') };
}

const briefly = (text: string) => (text.length > LONGEST_ECHO ? `${head(text, LONGEST_ECHO)}…` : text);
