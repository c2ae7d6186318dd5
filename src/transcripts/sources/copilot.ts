import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type JsonObject, listOf, objectOf, readJsonFile, textOf } from '../read/json.ts';
import { readRecords } from '../read/lines.ts';
import { homePath, listFiles, statFile, withoutOlder } from '../read/list-files.ts';
import { collectInto, type SessionCollector } from '../session-collector.ts';
import type { Place, TranscriptFile, TranscriptSource } from '../transcript-source.ts';

const SESSION = /^(?:workspaceStorage\/[^/]+\/chatSessions|globalStorage\/emptyWindowChatSessions)\/[^/]+\.jsonl?$/;
const FOLDER = /^(?:workspaceStorage(?:\/[^/]+(?:\/chatSessions)?)?|globalStorage(?:\/emptyWindowChatSessions)?)$/;

/** One line may be the whole session. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** Copilot Chat in VS Code: a log of changes per session, in a folder per workspace. Older sessions are one JSON value. */
export const copilot: TranscriptSource = {
  name: 'copilot',
  title: 'GitHub Copilot in VS Code',
  homeVariable: 'VSCODE_PORTABLE',
  roots: (place) => userFolders(place).map((folder) => join(folder, 'User')),
  async list(root) {
    const files = await listFiles(root, { accept: (path) => SESSION.test(path), enter: (path) => FOLDER.test(path) });
    return withoutOlder(files, (path) => `${path}l`);
  },
  async read(file, options) {
    if (file.size > MAX_FILE_BYTES) return { position: 0, sessions: [], trouble: { 'too-large': 1 } };
    const { state, trouble } = await readState(file, options.signal);
    const sessionId = textOf(state.sessionId) || basename(file.path).replace(/\.jsonl?$/, '');
    const project = await workspaceOf(file);
    const sessions = collectInto({ ...options, source: 'copilot', rawPath: file.path }, (session) => {
      session.about({ sessionId, project });
      session.at(momentOf(state.creationDate));
      for (const request of listOf(state.requests).map(objectOf)) if (isCopilot(request)) takeRequest(request, session);
    });
    const isKnown = Array.isArray(state.requests) || Object.keys(trouble).length > 0;
    return { position: file.size, sessions, trouble: isKnown ? trouble : { 'unknown-version': 1 } };
  },
};

function userFolders(place: Place): readonly string[] {
  const { env, home } = place;
  if (env.VSCODE_PORTABLE) return [join(homePath(env.VSCODE_PORTABLE, home), 'user-data')];
  const folder = env.VSCODE_APPDATA ?? applicationData(place);
  return ['Code', 'Code - Insiders', 'VSCodium'].map((product) => join(folder, product));
}

function applicationData({ env, home, platform }: Place): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming');
  return env.XDG_CONFIG_HOME || join(home, '.config');
}

async function readState(file: TranscriptFile, signal: AbortSignal | undefined) {
  if (file.path.endsWith('.json')) {
    const { value, trouble } = await readJsonFile(file.path, signal);
    return { state: objectOf(value), trouble };
  }
  const log = operationLog();
  const lines = { path: file.path, maxLineBytes: MAX_LINE_BYTES, signal };
  const { trouble } = await readRecords(lines, (record) => log.take(record));
  return { state: log.state(), trouble };
}

/** The folder of the workspace. A workspace on another machine has none here. */
async function workspaceOf({ path }: TranscriptFile): Promise<string> {
  const mapping = join(dirname(dirname(path)), 'workspace.json');
  if (statFile(mapping) === undefined) return '';
  const { folder, workspace } = objectOf((await readJsonFile(mapping, undefined, 64 * 1024)).value);
  const file = localPath(textOf(workspace));
  return localPath(textOf(folder)) || (file && dirname(file));
}

function localPath(address: string): string {
  if (!address.startsWith('file:')) return '';
  try {
    const { host, pathname } = new URL(address);
    return host === '' ? fileURLToPath(address) : `//${host}${decodeURIComponent(pathname)}`; // a share of another machine
  } catch {
    return '';
  }
}

function isCopilot({ agent, isSystemInitiated }: JsonObject): boolean {
  const { extensionId } = objectOf(agent);
  const id = textOf(extensionId) || textOf(objectOf(extensionId).value);
  return id.toLowerCase() === 'github.copilot-chat' && isSystemInitiated !== true;
}

function takeRequest(request: JsonObject, session: SessionCollector): void {
  session.userSaid(textOf(request.message) || textOf(objectOf(request.message).text), momentOf(request.timestamp));
  const parts = listOf(request.response).map(objectOf);
  session.assistantSaid(parts.map(markdownOf).join(''), momentOf(objectOf(request.modelState).completedAt));
  for (const { kind, toolId } of parts) if (kind === 'toolInvocationSerialized') session.usedTool(textOf(toolId));
  if (request.vote === 0) session.signal('neg:copilot_vote_down');
  if (request.vote === 1) session.signal('pos:copilot_vote_up');
}

/** Reasoning has a value too, but also a kind. */
function markdownOf({ kind, value, content }: JsonObject): string {
  if (kind === 'markdownContent') return textOf(objectOf(content).value);
  return kind === undefined ? textOf(value) : '';
}

const momentOf = (value: unknown) => (typeof value === 'number' ? value : undefined);

/**
 * A state that is written as a log of changes: 0 the whole state, 1 set a value, 2 cut a list at `i` and append to it,
 * 3 remove. A change with an unknown path, or before the first state, is ignored.
 */
export function operationLog() {
  let state: unknown;
  return {
    take({ kind, k: path, v: value, i: index }: JsonObject): void {
      if (kind === 0) state = value;
      else if (Array.isArray(path) && path.length > 0) change(state, path, { kind, value, index });
    },
    state: () => objectOf(state),
  };
}

type Change = { readonly kind: unknown; readonly value: unknown; readonly index: unknown };
type Key = string | number;
type Holder = Record<Key, unknown>;

function change(state: unknown, path: readonly unknown[], { kind, value, index }: Change): void {
  const holder = path.slice(0, -1).reduce(childOf, state);
  const key = path.at(-1);
  if (kind === 2) append(childOf(holder, key), value, index);
  else if (isHolder(holder) && isKey(key) && canHold(holder, key)) {
    if (kind === 1) holder[key] = value;
    if (kind === 3 && Array.isArray(holder)) holder.splice(Number(key), 1);
    else if (kind === 3) delete holder[key];
  }
}

/** Own keys only: a path through a prototype would reach every object of this process. */
const childOf = (holder: unknown, key: unknown): unknown =>
  isHolder(holder) && isKey(key) && Object.hasOwn(holder, key) ? holder[key] : undefined;

/** In a list only existing indexes and the next one: an index in the millions would fill the memory. */
function canHold(holder: Holder, key: Key): boolean {
  if (!Array.isArray(holder)) return key !== '__proto__';
  return Number.isInteger(key) && Number(key) >= 0 && Number(key) <= holder.length;
}

const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null;
const isKey = (key: unknown): key is Key => typeof key === 'string' || typeof key === 'number';

function append(list: unknown, items: unknown, index: unknown): void {
  if (!Array.isArray(list)) return;
  if (index !== undefined) {
    if (!Number.isInteger(index) || Number(index) < 0 || Number(index) > list.length) return;
    list.length = Number(index);
  }
  if (Array.isArray(items)) for (const item of items) list.push(item);
}
