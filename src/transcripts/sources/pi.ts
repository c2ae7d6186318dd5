import { join } from 'node:path';
import { blockTexts, type JsonObject, listOf, objectOf, textOf } from '../read/json.ts';
import { readRecords } from '../read/lines.ts';
import { homePath, listFiles } from '../read/list-files.ts';
import { collectInto, type SessionCollector } from '../session-collector.ts';
import type { TranscriptSource, Trouble } from '../transcript-source.ts';

/** pi: `sessions/<folder>/<time>_<id>.jsonl`, a tree of entries of which the last one ends the branch that counts. */
export const pi: TranscriptSource = {
  name: 'pi',
  title: 'pi',
  homeVariable: 'PI_CODING_AGENT_DIR',
  roots({ env, home }) {
    const agent = homePath(env.PI_CODING_AGENT_DIR || join('.pi', 'agent'), home);
    const named = [env.PI_CODING_AGENT_SESSION_DIR, env.PI_AGENT_DIR].flatMap((path) => path || []);
    return [...new Set([...named.map((path) => homePath(path, home)), join(agent, 'sessions')])];
  },
  list: (root) => listFiles(root, { accept: (path) => path.endsWith('.jsonl') }),
  async read(file, options) {
    const tree = openTree();
    const { position, trouble } = await readRecords({ path: file.path, signal: options.signal }, tree.take);
    const { entries, flaw } = tree.branch();
    if (flaw !== undefined) return { position, sessions: [], trouble: { ...trouble, ...flaw } };
    const sessions = collectInto({ ...options, source: 'pi', rawPath: file.path }, (session) => {
      for (const entry of entries) takeEntry(entry, session);
    });
    return { position, sessions, trouble };
  },
};

type Branch = { readonly entries: readonly JsonObject[]; readonly flaw?: Trouble };

const LINEAR_VERSIONS: readonly unknown[] = [undefined, 1];
const TREE_VERSIONS: readonly unknown[] = [2, 3];

/** Takes all entries. The branch is those that lead to the last one. */
function openTree() {
  const entries: JsonObject[] = [];
  const byId = new Map<string, JsonObject>();
  const missing = new Set<string>();
  let header: JsonObject = {};
  let isTangled = false;
  return {
    take(record: JsonObject): void {
      const { type, id, parentId } = record;
      if (type === 'session') header = record;
      else entries.push(reduced(record));
      if (type === 'session' || typeof id !== 'string') return;
      if (byId.has(id) || missing.has(id)) isTangled = true;
      if (typeof parentId === 'string' && !byId.has(parentId)) missing.add(parentId);
      byId.set(id, entries.at(-1)!);
    },
    branch(): Branch {
      if (LINEAR_VERSIONS.includes(header.version)) return { entries: [header, ...entries] };
      if (!TREE_VERSIONS.includes(header.version)) return { entries: [], flaw: { 'unknown-version': 1 } };
      if (isTangled) return { entries: [], flaw: { unreadable: 1 } };
      const last = entries.findLast(({ id }) => typeof id === 'string');
      return { entries: [header, ...ancestry(last, byId)] };
    },
  };
}

/** From the root to the entry. If a line was lost, from the entry after it. */
function ancestry(last: JsonObject | undefined, byId: ReadonlyMap<string, JsonObject>): JsonObject[] {
  const trail: JsonObject[] = [];
  for (let entry = last; entry !== undefined; entry = byId.get(textOf(entry.parentId))) trail.push(entry);
  return trail.reverse();
}

/** Without results of tools, which would fill the memory. */
function reduced({ type, id, parentId, timestamp, message }: JsonObject): JsonObject {
  const { role, content, toolName } = objectOf(message);
  const calls = listOf(content)
    .map(objectOf)
    .filter((block) => block.type === 'toolCall');
  const tools = [...calls.map(({ name, arguments: input }) => ({ name, input })), { name: toolName, input: undefined }];
  return { type, id, parentId, timestamp, role, tools, text: role === 'toolResult' ? '' : blockTexts(content) };
}

function takeEntry({ type, id, cwd, timestamp, role, text, tools }: JsonObject, session: SessionCollector): void {
  session.at(typeof timestamp === 'number' ? timestamp : textOf(timestamp));
  if (type === 'session') session.about({ sessionId: textOf(id), project: textOf(cwd) });
  if (type !== 'message') return;
  if (role === 'user') session.userSaid(textOf(text));
  if (role === 'assistant') session.assistantSaid(textOf(text));
  for (const { name, input } of listOf(tools).map(objectOf))
    if (textOf(name) !== '') session.usedTool(textOf(name), input);
}
