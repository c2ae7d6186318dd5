/** One view of what agents send to their models, in whichever of the four dialects. */
export type AgentRequest = {
  /** What the agent's makers say: system prompts and their kin. */
  readonly system: string;
  /** All that came in the role of the user before the first tool ran, the agent's own context included. */
  readonly context: string;
  /** The user's words: the last text in that role that is not the agent's own context. */
  readonly asked: string;
  /** What each tool call gave, with what the agent added to it. Their number says how far the work is. */
  readonly results: readonly string[];
  readonly tools: readonly AgentTool[];
};

export type AgentTool = {
  readonly name: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, Property>>;
  readonly required: readonly string[];
  /** Whether it takes a text and no arguments. */
  readonly takesText: boolean;
};

type Property = { readonly type?: string; readonly enum?: readonly unknown[] };
type Turn = { readonly role: 'system' | 'user' | 'result'; readonly text: string };

// biome-ignore lint/suspicious/noExplicitAny: requests of four providers, each of another shape, taken as they come
export type Json = any;

/** Turns and tools of a request, by the dialect it is in. */
export type RequestReader = { turns(body: Json): Turn[]; tools(body: Json): AgentTool[] };

export function readAgentRequest(body: Json, { turns, tools }: RequestReader): AgentRequest {
  const view = { system: '', context: '', asked: '', results: [] as string[], tools: tools(body) };
  for (const { role, text } of turns(body)) {
    if (role === 'system') view.system += `\n${text}`;
    else if (role === 'result') view.results.push(text);
    // Some agents send the text of a skill as a user's message behind the result of its tool.
    else if (view.results.length > 0) view.results[view.results.length - 1] += `\n${text}`;
    else {
      view.context += `\n${text}`;
      view.asked = withoutContext(text) || view.asked;
    }
  }
  return view;
}

/** Agents put what they add into tags. */
const withoutContext = (text: string) => text.replace(/<([\w-]+)>[\s\S]*?<\/\1>/g, '').trim();

export const anthropicReader: RequestReader = {
  turns: ({ system, messages = [] }) => [
    ...(system === undefined ? [] : [turn('system', system)]),
    ...messages.filter(({ role }: Json) => role !== 'assistant').flatMap(anthropicTurns),
  ],
  tools: ({ tools = [] }) => tools.map((tool: Json) => toTool(tool, tool.input_schema)),
};

function anthropicTurns({ role, content }: Json): Turn[] {
  const parts: Json[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const isResult = (part: Json) => part.type === 'tool_result';
  return [
    ...parts.filter(isResult).map((part) => turn('result', part.content)),
    ...parts.filter((part) => !isResult(part)).map((part) => turn(role === 'system' ? 'system' : 'user', part)),
  ];
}

export const chatReader: RequestReader = {
  turns: ({ messages = [] }) =>
    messages.flatMap(({ role, content }: Json) => {
      if (role === 'assistant') return [];
      if (role === 'tool') return [turn('result', content)];
      if (role !== 'user') return [turn('system', content)];
      return (Array.isArray(content) ? content : [content]).map((part: Json) => turn('user', part));
    }),
  tools: ({ tools = [] }) => tools.map((tool: Json) => toTool(tool.function ?? tool, tool.function?.parameters)),
};

export const responsesReader: RequestReader = {
  turns: ({ instructions, input = [] }) => [
    ...(instructions === undefined ? [] : [turn('system', instructions)]),
    ...(typeof input === 'string' ? [turn('user', input)] : input.flatMap(responsesTurns)),
  ],
  tools: ({ tools = [], input }) => [...tools, ...addedTools(input)].map((tool: Json) => toTool(tool, tool.parameters)),
};

/** Some models of Codex get their tools as a part of the input, in groups. */
const addedTools = (input: Json): Json[] =>
  (Array.isArray(input) ? input : [])
    .flatMap(({ type, tools = [] }: Json) => (type === 'additional_tools' ? tools : []))
    .flatMap((tool: Json) => (tool.type === 'namespace' ? tool.tools : [tool]));

function responsesTurns({ type = 'message', role, content, output }: Json): Turn[] {
  if (type.endsWith('_call_output')) return [turn('result', output)];
  if (role === 'user') return (Array.isArray(content) ? content : [content]).map((part: Json) => turn('user', part));
  return role === 'developer' || role === 'system' ? [turn('system', content)] : [];
}

export const geminiReader: RequestReader = {
  turns: ({ systemInstruction, contents = [] }) => [
    ...(systemInstruction === undefined ? [] : [turn('system', systemInstruction.parts ?? systemInstruction)]),
    ...contents
      .filter(({ role }: Json) => role !== 'model')
      .flatMap(({ parts = [] }: Json) =>
        parts.map(({ functionResponse: given, text }: Json) =>
          given === undefined ? turn('user', text) : turn('result', given.response?.output ?? given.response),
        ),
      ),
  ],
  tools: ({ tools = [] }) =>
    tools
      .flatMap(({ functionDeclarations = [] }: Json) => functionDeclarations)
      .map((tool: Json) => toTool(tool, tool.parametersJsonSchema ?? tool.parameters)),
};

function toTool({ name, type, description = '' }: Json, schema: Json): AgentTool {
  const { properties = {}, required = [] } = schema ?? {};
  return { name: name ?? type, description, properties, required, takesText: type === 'custom' };
}

const turn = (role: Turn['role'], content: Json): Turn => ({ role, text: textOf(content) });

/** Content is a text, or parts that hold one under one of three names. */
function textOf(content: Json): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(textOf).join('\n');
  const inner = content?.text ?? content?.content ?? content?.output;
  if (inner !== undefined) return textOf(inner);
  return content === undefined || content === null ? '' : JSON.stringify(content);
}
