import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { hasString, type JsonObject, listOf, objectOf, readJsonFile, readSmallText, textOf } from '../read/json.ts';
import { readRecords } from '../read/lines.ts';
import { homePath, listFiles, withoutOlder } from '../read/list-files.ts';
import { collectInto, readSession, type SessionCollector } from '../session-collector.ts';
import type { TranscriptFile, TranscriptSource } from '../transcript-source.ts';

/** Gemini CLI: `tmp/<project>/chats/session-….jsonl`, of earlier versions `.json`. Sub-agents have folders below that. */
export const gemini: TranscriptSource = {
  name: 'gemini',
  title: 'Gemini CLI',
  homeVariable: 'GEMINI_CLI_HOME',
  roots: ({ env, home }) => [join(env.GEMINI_CLI_HOME ? homePath(env.GEMINI_CLI_HOME, home) : home, '.gemini', 'tmp')],
  async list(root) {
    const files = await listFiles(root, { accept: (path) => /^[^/]+\/chats\/[^/]+\.jsonl?$/.test(path), depth: 2 });
    return withoutOlder(files, (path) => `${path}l`);
  },
  async read(file, options) {
    const { conversation, position, trouble } = await readConversation(file, options.signal);
    const { sessionId, startTime, lastUpdated, kind, directories } = conversation.facts;
    const project = await projectOf(file.path);
    const sessions = collectInto({ ...options, source: 'gemini', rawPath: file.path }, (session) => {
      session.about({ sessionId: textOf(sessionId), project });
      session.about({ project: textOf(listOf(directories)[0]) });
      for (const time of [startTime, lastUpdated]) session.at(textOf(time));
      if (kind === 'subagent') session.leaveOut('sub-agent');
      for (const message of conversation.messages()) takeMessage(message, session);
    });
    return { position, sessions, trouble };
  },
};

async function readConversation(file: TranscriptFile, signal: AbortSignal | undefined) {
  const conversation = openConversation();
  if (file.path.endsWith('.jsonl')) {
    return { conversation, ...(await readRecords({ path: file.path, signal }, conversation.take)) };
  }
  const { value, trouble } = await readJsonFile(file.path, signal);
  conversation.take({ $set: objectOf(value) });
  return { conversation, position: file.size, trouble };
}

/** Later records change earlier ones: a known id replaces its message, and a rewind removes messages. */
function openConversation() {
  const facts: Record<string, unknown> = {};
  const messages = new Map<string, JsonObject>();
  const put = (message: JsonObject) => messages.set(textOf(message.id), reduced(message));
  const rewind = (id: string) => {
    const ids = [...messages.keys()];
    for (const later of ids.slice(Math.max(0, ids.indexOf(id)))) messages.delete(later);
  };
  const update = ({ messages: all, ...others }: JsonObject) => {
    Object.assign(facts, others);
    if (!Array.isArray(all)) return;
    messages.clear();
    for (const message of all.map(objectOf)) put(message);
  };
  return {
    facts,
    messages: () => [...messages.values()],
    take(record: JsonObject): void {
      const { $set, $rewindTo, id } = record;
      if (typeof $rewindTo === 'string') rewind($rewindTo);
      else if (typeof id === 'string') put(record);
      else update(objectOf($set ?? record));
    },
  };
}

/** Without results of tools, which would fill the memory. */
function reduced({ id, type, timestamp, content, displayContent, toolCalls }: JsonObject): JsonObject {
  const tools = listOf(toolCalls).map((call) => ({ name: objectOf(call).name, args: objectOf(call).args }));
  return { id, type, timestamp, text: partTexts(displayContent ?? content), tools };
}

function partTexts(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = (Array.isArray(content) ? content : [content]).map(
    (part) => textOf(part) || textOf(objectOf(part).text),
  );
  return parts.filter((part) => part !== '').join('\n');
}

function takeMessage({ type, timestamp, text, tools }: JsonObject, session: SessionCollector): void {
  if (type === 'user') session.userSaid(textOf(text), textOf(timestamp));
  if (type !== 'gemini') return;
  session.assistantSaid(textOf(text), textOf(timestamp));
  for (const { name, args } of listOf(tools).map(objectOf)) session.usedTool(textOf(name), args);
}

/** A file in the folder of chats names the project, or the folder is named by the hash of its path. */
async function projectOf(path: string): Promise<string> {
  const folder = dirname(dirname(path));
  const marked = (await readSmallText(join(folder, '.project_root'))).trim();
  if (marked !== '') return marked;
  const registry = await readJsonFile(join(folder, '..', '..', 'projects.json'));
  const known = Object.keys(objectOf(objectOf(registry.value).projects));
  return known.find((project) => path.includes(createHash('sha256').update(project).digest('hex'))) ?? '';
}

const isUser = hasString('user');
const isAssistant = hasString('assistant');
const isResult = hasString('tool_result');

/** Qwen Code: `projects/<folder>/chats/<session>.jsonl`. It began as Gemini CLI: its messages have Gemini's parts. */
export const qwen: TranscriptSource = {
  name: 'qwen',
  title: 'Qwen Code',
  homeVariable: 'QWEN_HOME',
  roots: ({ env, home }) => [join(homePath(env.QWEN_RUNTIME_DIR || env.QWEN_HOME || '.qwen', home), 'projects')],
  list: (root) => listFiles(root, { accept: (path) => /^[^/]+\/chats\/[^/]+\.jsonl$/.test(path), depth: 2 }),
  read: (file, options) => {
    const wanted = (line: Buffer) => !isResult(line) && (isUser(line) || isAssistant(line));
    return readSession({ source: 'qwen', file, options, wanted, canContinue: true }, takeLine);
  },
};

function takeLine(record: JsonObject, session: SessionCollector): void {
  const { type, timestamp, sessionId, cwd, gitBranch, message } = record;
  session.at(textOf(timestamp));
  session.about({ sessionId: textOf(sessionId), project: textOf(cwd), gitBranch: textOf(gitBranch) });
  const parts = listOf(objectOf(message).parts).map(objectOf);
  const text = partTexts(parts.filter(({ thought }) => thought !== true));
  if (type === 'user') session.userSaid(text);
  if (type !== 'assistant') return;
  session.assistantSaid(text);
  for (const call of parts.map(({ functionCall }) => objectOf(functionCall))) {
    if (textOf(call.name) !== '') session.usedTool(textOf(call.name), call.args);
  }
}
