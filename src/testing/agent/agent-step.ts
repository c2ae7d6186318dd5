import type { AgentRequest, AgentTool } from './agent-request.ts';

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
