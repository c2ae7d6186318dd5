import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { addTokens, noUsage, type Usage } from '../../core/contracts/index.ts';
import { close, listen } from '../start-fake-llm.ts';
import { type AgentDialect, type AgentReply, findDialect } from './agent-replies.ts';
import {
  type AgentRequest,
  type FakeAgentStep,
  type Json,
  readAgentRequest,
  SKILL_TOOLS,
  toToolCall,
} from './agent-step.ts';

export type FakeAgentLLMOptions =
  /** Steps, one for each call: as many tools as have given results since the prompt are done. After the last: "done". */
  | { readonly script: readonly FakeAgentStep[] }
  /** Loads what the prompt asks for and does what it says; of these skills alone, if they are named. */
  | { readonly policy: 'follow'; readonly only?: readonly string[] };

export type FakeAgentRequest = {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The whole body. */
  readonly text: string;
};

export interface FakeAgentLLM extends AsyncDisposable {
  /** The root: agents add `/v1/messages`, `/v1/chat/completions`, `/v1/responses` or `/v1beta/models/…`. */
  readonly url: string;
  /** All that came, generations or not. */
  readonly requests: readonly FakeAgentRequest[];
  /** How many generations were answered. */
  calls(): number;
  /** The sum of what those answers said they used. Each says something else, by the length of its request. */
  usage(): Usage;
  /** From now on refuses generations with this status: so many times, or until it is called without one. */
  failWith(status: number | undefined, options?: { times?: number; headers?: Readonly<Record<string, string>> }): void;
  /** From now on answers no generation before this many milliseconds are over. */
  hang(ms: number): void;
}

/**
 * A provider on loopback that drives real agents: it speaks Anthropic Messages, OpenAI Chat Completions and Responses, and
 * Gemini, streamed or not, and answers with calls of the tools that it is offered. What it does is a function of the
 * request alone, so that one serves many agents in many workspaces. `await using` closes it.
 */
export async function startFakeAgentLLM(options: FakeAgentLLMOptions): Promise<FakeAgentLLM> {
  const requests: FakeAgentRequest[] = [];
  const closing = new AbortController();
  const state: ServerState = { calls: 0, usage: noUsage, hangMs: 0, refusal: { status: 0, times: 0, headers: {} } };
  const server = createServer(async (incoming, response) => {
    const request = await readRequest(incoming);
    requests.push(request);
    const path = request.path.split('?')[0]!;
    const dialect = request.method === 'POST' ? findDialect(path) : undefined;
    if (dialect === undefined) return sendOther(response, path);
    const generation = { request, dialect, response, signal: closing.signal };
    await generate(generation, options, state).catch((error) => {
      if (!closing.signal.aborted) send(response, { error: { message: String(error) } }, 500);
    });
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    requests,
    calls: () => state.calls,
    usage: () => state.usage,
    failWith(status = 0, { times = Number.POSITIVE_INFINITY, headers = {} } = {}) {
      state.refusal = { status, times: status === 0 ? 0 : times, headers };
    },
    hang(ms) {
      state.hangMs = ms;
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await close(server);
    },
  };
}

/** What was answered so far, and how the next answers are refused or held up. */
type ServerState = {
  calls: number;
  usage: Usage;
  hangMs: number;
  refusal: { readonly status: number; times: number; readonly headers: Readonly<Record<string, string>> };
};

type Generation = {
  readonly request: FakeAgentRequest;
  readonly dialect: AgentDialect;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
};

async function generate(generation: Generation, options: FakeAgentLLMOptions, state: ServerState): Promise<void> {
  const { dialect, response, signal } = generation;
  const { path, text } = generation.request;
  const body: Json = JSON.parse(text);
  const request = readAgentRequest(body, dialect.reader);
  const step = nextStep(request, options);
  await sleep(Math.max(state.hangMs, 'hang' in step ? step.hang : 0), undefined, { signal });
  if (response.destroyed) return;
  const { refusal } = state;
  const status = refusal.times-- > 0 ? refusal.status : 'fail' in step ? step.fail : 0;
  if (status > 0) return send(response, dialect.toError(`fake failure ${status}`, status), status, refusal.headers);
  const usage = usageFor(text, dialect);
  state.calls += 1;
  state.usage = addTokens(state.usage, usage);
  const model = body.model ?? 'fake-model';
  const wire = dialect.toWire({ id: `fake${state.calls}`, model, ...wordsFor(step, request, body), usage });
  if (dialect.isStreamed(body, path.split('?')[0]!)) sendEvents(response, wire.events);
  else send(response, wire.whole);
}

function nextStep(request: AgentRequest, options: FakeAgentLLMOptions): FakeAgentStep {
  if (request.tools.length === 0) return { text: 'done' }; // a title, a summary
  if ('policy' in options) return followSkills(request, options.only);
  return options.script[request.results.length] ?? { text: 'done' };
}

function wordsFor(step: FakeAgentStep, request: AgentRequest, body: Json): Pick<AgentReply, 'text' | 'call'> {
  if ('text' in step) return { text: isJsonWanted(body) ? ROUTED : step.text };
  if ('hang' in step || 'fail' in step) return { text: 'done' };
  const call = toToolCall(step, request);
  const offered = request.tools.map(({ name }) => name).join(', ');
  return { call, text: call ? '' : `no tool for ${JSON.stringify(step)} among ${offered}` };
}

/** Gemini asks which model is to answer, and who speaks next. */
const isJsonWanted = ({ generationConfig: wanted }: Json) =>
  wanted?.responseMimeType === 'application/json' || wanted?.responseJsonSchema !== undefined;

const ROUTED = JSON.stringify({
  complexity_reasoning: 'short',
  complexity_score: 1,
  reasoning: 'short',
  model_choice: 'flash',
  next_speaker: 'user',
});

/** About four characters to a token, and no two requests of a conversation are of one length. */
function usageFor(text: string, { countsReasoning }: AgentDialect): Usage {
  const input = Math.ceil(text.length / 4);
  const output = 20 + (text.length % 13);
  return { input, cached: Math.floor(input / 3), output, reasoning: countsReasoning ? text.length % 7 : 0 };
}

async function readRequest(incoming: IncomingMessage): Promise<FakeAgentRequest> {
  const text = Buffer.concat(await incoming.toArray()).toString();
  return { method: incoming.method ?? 'GET', path: incoming.url ?? '/', headers: incoming.headers, text };
}

function sendOther(response: ServerResponse, path: string): void {
  const served = OTHERS.find(([pattern]) => pattern.test(path))?.[1];
  if (served !== undefined) send(response, served);
  else send(response, { error: { type: 'not_found_error', message: `${path} is not served here` } }, 404);
}

const OTHERS: readonly (readonly [RegExp, object])[] = [
  [/\/count_tokens$/, { input_tokens: 11 }],
  [/:countTokens$/, { totalTokens: 11 }],
  [/\/models$/, { object: 'list', data: [{ id: 'fake-model', object: 'model' }] }],
];

function send(response: ServerResponse, body: object, status = 200, headers: Readonly<Record<string, string>> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function sendEvents(response: ServerResponse, events: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.end(events);
}

/** Words of this length and more are compared, but not those that any prompt may hold. */
const WORD = /[a-z]{5,}/g;
const COMMON = new Set([
  ...['please', 'write', 'using', 'these', 'those', 'there', 'their', 'which', 'where', 'while', 'would', 'could'],
  ...['should', 'about', 'after', 'before', 'project', 'files', 'other', 'asked', 'skill', 'agent'],
]);

/**
 * A model whose mind is known. It loads each offered skill whose description shares a word with what was asked, then has
 * each `DO: <command>` line of the loaded texts run, then says that it is done.
 */
function followSkills(request: AgentRequest, only: readonly string[] | undefined): FakeAgentStep {
  const asked = wordsOf(request.asked);
  const wanted = offeredSkills(request)
    .filter(([name]) => only?.includes(name) ?? true)
    .filter(([, description]) => wordsOf(description).some((word) => asked.includes(word)))
    .map(([skill]) => ({ skill }));
  const loaded = request.results.slice(0, wanted.length).join('\n');
  const steps = [...wanted, ...commandsIn(loaded).map((shell) => ({ shell }))];
  return steps[request.results.length] ?? { text: 'done' };
}

const wordsOf = (text: string): string[] => (text.toLowerCase().match(WORD) ?? []).filter((word) => !COMMON.has(word));

/** Some tools that read files put numbers before the lines. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/^[ \t]*(?:\d{1,9}[ \t]*[:|→]?[ \t]*)?DO: (.+)$/gm)].map(([, command]) => command!.trim());

const TAGGED = /<name>\s*([\w-]+)\s*<\/name>\s*<description>((?:(?!<name>)[\s\S])*?)<\/description>/g;
const LISTED = /^[ \t]*- \*{0,2}`?([a-z0-9][\w-]{0,63})`?\*{0,2}: (.+)$/gm;

/** Names and descriptions, in the notations of all agents that were seen. */
function offeredSkills({ system, context, tools }: AgentRequest): [string, string][] {
  const ofSkills = tools.filter(({ name }) => SKILL_TOOLS.includes(name)); // those of other tools list other things
  const said = [system, context, ...ofSkills.map(({ description }) => description)].join('\n');
  const found = [...said.matchAll(TAGGED), ...said.matchAll(LISTED)].map(([, name, text]) => [name!, text!] as const);
  return [...new Map(found.toReversed())].toReversed(); // the first of each name
}
