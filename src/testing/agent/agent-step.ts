/** What the model has its agent do next, whatever that agent calls its tools. */
export type FakeAgentStep =
  /** Load a skill: with the tool for it, or by reading the SKILL.md that the prompt names. */
  | { readonly skill: string }
  | { readonly write: string; readonly content: string }
  | { readonly read: string }
  | { readonly shell: string }
  /** Exactly this tool. */
  | { readonly call: string; readonly args?: Readonly<Record<string, unknown>> }
  /** The last words. */
  | { readonly text: string }
  /** A refusal with this status. */
  | { readonly fail: number }
  /** The last words, so late. */
  | { readonly hang: number };

export type ToolCall = {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** In place of arguments, for a tool that takes a text. */
  readonly input?: string;
};

export const SKILL_TOOLS = ['Skill', 'skill', 'activate_skill'];
const SHELL = ['Bash', 'bash', 'exec_command', 'shell', 'shell_command', 'run_shell_command'];
const WRITE = ['Write', 'write_file', 'write', 'create'];
const READ = ['Read', 'read_file', 'read', 'view'];

const PATH = ['file_path', 'filePath', 'absolute_path', 'path'];

/** The tool call that does `step`, of the tools on offer. Undefined if none of them can, or the step needs none. */
export function toToolCall(step: FakeAgentStep, request: AgentRequest): ToolCall | undefined {
  if ('call' in step) return { name: step.call, args: step.args ?? {} };
  if ('shell' in step) return shellCall(step.shell, request);
  if ('skill' in step) return skillCall(step.skill, request);
  if ('read' in step) return readCall(step.read, request);
  return 'write' in step ? writeCall(step, request) : undefined;
}

function shellCall(command: string, request: AgentRequest): ToolCall | undefined {
  const tool = findTool(request, SHELL);
  if (tool === undefined) return scriptCall(command, request);
  return callOf(tool, { [keyIn(tool, ['command', 'cmd'])]: command, description: 'a step of the script' });
}

/** For agents whose model writes programs that call the tools. */
function scriptCall(command: string, { tools }: AgentRequest): ToolCall | undefined {
  const tool = tools.find(({ takesText, description }) => takesText && description.includes('exec_command'));
  const input = `const ran = await tools.exec_command(${JSON.stringify({ cmd: command })});\ntext(ran.output);`;
  return tool && { name: tool.name, args: {}, input };
}

function skillCall(name: string, request: AgentRequest): ToolCall | undefined {
  const tool = findTool(request, SKILL_TOOLS);
  if (tool === undefined) return readCall(skillPath(name, request), request);
  return callOf(tool, { [keyIn(tool, ['skill', 'name', 'skill_name'])]: name });
}

function readCall(path: string, request: AgentRequest): ToolCall | undefined {
  const tool = findTool(request, READ);
  if (tool === undefined) return shellCall(`cat '${path}'`, request);
  return callOf(tool, { [keyIn(tool, PATH)]: absolute(path, request) });
}

function writeCall({ write, content }: { write: string; content: string }, request: AgentRequest) {
  const tool = findTool(request, WRITE);
  if (tool === undefined) return shellCall(`cat > '${write}' <<'END-OF-FILE'\n${content}\nEND-OF-FILE`, request);
  const text = keyIn(tool, ['content', 'file_text', 'contents']);
  return callOf(tool, { [keyIn(tool, PATH)]: absolute(write, request), [text]: content });
}

const findTool = ({ tools }: AgentRequest, names: readonly string[]) => tools.find(({ name }) => names.includes(name));

const keyIn = ({ properties }: AgentTool, names: readonly string[]) =>
  names.find((name) => name in properties) ?? names[0]!;

/** With what else the tool demands, and without what it does not know. */
function callOf({ name, properties, required }: AgentTool, given: Readonly<Record<string, string>>): ToolCall {
  const known = Object.entries(given).filter(([key]) => key in properties || key !== 'description');
  const rest = required.filter((key) => !known.some(([given]) => given === key)).map((key) => [key, filler(key)]);
  const typed = known.map(([key, value]) => [key, properties[key]?.type === 'array' ? ['bash', '-lc', value] : value]);
  function filler(key: string): unknown {
    const { type, enum: [first] = [] } = properties[key] ?? {};
    if (first !== undefined) return first;
    return type === 'boolean' ? false : type === 'number' || type === 'integer' ? 10 : 'fake';
  }
  return { name, args: Object.fromEntries([...rest, ...typed]) };
}

const WORKING_FOLDER =
  /(?:<cwd>|(?:[Cc]urrent )?(?:[Ww]orking )?[Dd]irectory:?|working in the directory:?)\s*[`*]*(\/[^\s<"'`*]+)/;

/** Where the agent says that it works: one server serves many workspaces. */
function absolute(path: string, { system, context }: AgentRequest): string {
  const folder = WORKING_FOLDER.exec(`${system}\n${context}`)?.[1]?.replace(/[.,]$/, '');
  return path.startsWith('/') || folder === undefined ? path : `${folder}/${path}`;
}

/** Where the prompt says that the file of a skill is. Roots may be short names: a table beside them says what they stand for. */
function skillPath(name: string, { system, context }: AgentRequest): string {
  const said = `${system}\n${context}`;
  const path = new RegExp(`[^\\s()"'<>\`]*/${name}/SKILL\\.md`).exec(said)?.[0] ?? `.agents/skills/${name}/SKILL.md`;
  const [root = ''] = path.split('/');
  const full = root && new RegExp(`\`${root}\` = \`([^\`]+)\``).exec(said)?.[1];
  return full ? full + path.slice(root.length) : path;
}

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

type AgentTool = {
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
    // Some agents send the text of a skill as a user's message after the result of its tool.
    else if (view.results.length > 0) view.results[view.results.length - 1] += `\n${text}`;
    else {
      view.context += `\n${text}`;
      view.asked = withoutContext(text) || view.asked;
    }
  }
  return view;
}

/** Agents put what they add into tags. */
function withoutContext(text: string): string {
  let [rest, kept] = [text, ''];
  for (let tag = TAG.exec(rest); tag; tag = TAG.exec(rest)) {
    const end = rest.indexOf(`</${tag[1]}>`, tag.index);
    if (end === -1) break; // the text after a tag that is never closed is the question
    kept += rest.slice(0, tag.index);
    rest = rest.slice(end + tag[0].length + 1);
  }
  return (kept + rest).trim();
}

const TAG = /<([\w-]{1,64})>/;

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
