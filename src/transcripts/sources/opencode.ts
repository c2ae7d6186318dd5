import { isAbsolute, join } from 'node:path';
import { groupBy } from '../../core/text/index.ts';
import { listFiles } from '../read/list-files.ts';
import { changedSessions, type ForeignDatabase, readSessionsIn, statDatabase } from '../read/sqlite.ts';
import { SessionCollector } from '../session-collector.ts';
import type { Place, ReadOptions, TranscriptFile, TranscriptSource } from '../transcript-source.ts';

/** Sessions, messages and their parts in SQLite. Sub-agents have sessions of their own, with a parent. */
export const opencode: TranscriptSource = {
  name: 'opencode',
  title: 'OpenCode',
  homeVariable: 'OPENCODE_DATA_DIR',
  roots,
  async list(root) {
    const named = root.endsWith('.db') ? [{ path: root }] : [];
    const found = await listFiles(root, { accept: (path) => DATABASE.test(path), depth: 0 });
    const files = await Promise.all([...named, ...found].map(({ path }) => statDatabase(path)));
    return files.filter((file) => file !== undefined);
  },
  read: (file, options) => readSessionsIn(file, options, (database) => readSessions(database, file, options)),
};

/** One for each release channel. */
const DATABASE = /^opencode(-[\w.-]+)?\.db$/;

/** `OPENCODE_DB` names a file, by itself or in the data folder. */
function roots(place: Place): readonly string[] {
  const { OPENCODE_DB: database } = place.env;
  if (database === ':memory:') return [];
  const folders = dataFolders(place);
  if (!database) return folders;
  return isAbsolute(database) ? [database] : folders.map((folder) => join(folder, database));
}

function dataFolders({ env, home, platform }: Place): readonly string[] {
  if (env.OPENCODE_DATA_DIR) return [env.OPENCODE_DATA_DIR];
  const shared = env.XDG_DATA_HOME || join(home, '.local', 'share');
  const windows = platform === 'win32' ? [env.LOCALAPPDATA, env.APPDATA] : [];
  return [shared, ...windows].filter((folder) => folder !== undefined).map((folder) => join(folder, 'opencode'));
}

const isKnown = (database: ForeignDatabase) =>
  database.hasTable('session', ['id', 'parent_id', 'directory', 'time_created', 'time_updated']) &&
  database.hasTable('message', ['id', 'session_id', 'time_created', 'data']) &&
  database.hasTable('part', ['id', 'message_id', 'session_id', 'data']);

/** The agents that SkillOpt-Sleep replays tasks with. */
const REPLAY = /^skillopt-sleep-[0-9a-f]{32}$/;

function readSessions(database: ForeignDatabase, file: TranscriptFile, options: ReadOptions) {
  if (!isKnown(database)) return undefined;
  const rows = database.rows({
    texts: {
      id: 'id',
      directory: 'directory',
      gitBranch: database.hasTable('session', ['metadata']) ? field('metadata', 'gitBranch') : 'NULL',
      agent: database.hasTable('session', ['agent']) ? 'agent' : 'NULL',
    },
    figures: { createdMs: 'time_created', updatedMs: 'time_updated' },
    from: 'FROM session WHERE parent_id IS NULL ORDER BY time_updated, id',
  });
  const read = ({ id = '', directory = '', gitBranch = '', agent = '', createdMs }: (typeof rows)[number]) => {
    const collector = new SessionCollector({ ...options, source: 'opencode', rawPath: file.path });
    collector.about({ sessionId: id, project: isAbsolute(directory) ? directory : '', gitBranch });
    if (REPLAY.test(agent)) collector.leaveOut('own-call');
    collector.at(createdMs);
    collectMessages(database, id, collector);
    return collector.digest();
  };
  return changedSessions(rows, { file, options, count: database.count, read });
}

const MAX_CELL_BYTES = 8 * 1024 * 1024;

/** Whether the cell is a JSON text. SQLite would trust a blob as its own binary JSON. */
const isRecord = (column: string) =>
  `(typeof(${column}) = 'text' AND octet_length(${column}) <= ${MAX_CELL_BYTES} AND json_valid(${column}))`;

/** One field of it. The other fields never leave the database. */
const field = (column: string, path: string) =>
  `CASE WHEN ${isRecord(column)} THEN json_extract(${column}, '$.${path}') END`;

const isSet = (path: string) => `CASE WHEN ${isRecord('data')} THEN json_type(data, '$.${path}') END`;

const recordFigures = { isRecord: isRecord('data'), bytes: 'octet_length(data)' };

function collectMessages(database: ForeignDatabase, sessionId: string, collector: SessionCollector): void {
  const parts = partsByMessage(database, sessionId);
  const messages = database.rows(
    {
      texts: { id: 'id', role: field('data', 'role'), error: isSet('error'), summary: isSet('summary') },
      figures: { ...recordFigures, createdMs: 'time_created', completedMs: field('data', 'time.completed') },
      from: 'FROM message WHERE session_id = ? ORDER BY time_created, id',
    },
    sessionId,
  );
  for (const message of messages.filter((message) => isWhole(message, database))) {
    const own = parts.get(message.id ?? '') ?? [];
    const text = own.flatMap((part) => part.text || []).join('\n');
    collector.at(message.completedMs);
    if (message.role === 'user') collector.userSaid(unquoted(text), message.createdMs);
    if (message.role !== 'assistant') continue;
    if (message.summary !== 'true') collector.assistantSaid(text, message.createdMs);
    for (const { tool = '', skill = '' } of own) {
      collector.usedTool(tool);
      if (tool === 'skill') collector.usedSkill(skill);
    }
    if (message.error === 'object') collector.signal('neg:opencode_message_error');
  }
}

function partsByMessage(database: ForeignDatabase, sessionId: string) {
  const value = (path: string) => `json_extract(data, '$.${path}')`;
  const isSaid = `${value('type')} = 'text' AND ${value('synthetic')} IS NOT 1 AND ${value('ignored')} IS NOT 1`;
  const isTool = `${value('type')} = 'tool'`;
  const part = (condition: string, path: string) =>
    `CASE WHEN ${isRecord('data')} THEN CASE WHEN ${condition} THEN ${value(path)} END END`;
  const parts = database.rows(
    {
      texts: {
        messageId: 'message_id',
        text: part(isSaid, 'text'),
        tool: part(isTool, 'tool'),
        skill: part(`${isTool} AND ${value('tool')} = 'skill'`, 'state.input.name'),
      },
      figures: recordFigures,
      from: 'FROM part WHERE session_id = ? ORDER BY message_id, id',
    },
    sessionId,
  );
  const whole = parts.filter((part) => isWhole(part, database));
  return new Map(groupBy(whole, ({ messageId = '' }) => messageId).map((group) => [group[0]!.messageId ?? '', group]));
}

type RecordRow = Readonly<Record<keyof typeof recordFigures, number | undefined>>;

function isWhole(row: RecordRow, { count }: ForeignDatabase): boolean {
  if (row.isRecord !== 1) count((row.bytes ?? 0) > MAX_CELL_BYTES ? 'too-long' : 'malformed');
  return row.isRecord === 1;
}

/** `opencode run` stores a prompt of several words in quotes. */
function unquoted(text: string): string {
  const whole = text.trim();
  const isQuoted = whole.length > 1 && whole.startsWith('"') && whole.endsWith('"');
  const inside = whole.slice(1, -1);
  return !isQuoted || /(?<!\\)"|\\$/.test(inside) ? text : inside.replaceAll('\\"', '"');
}
