import { basename, dirname, join } from 'node:path';
import { hasString, type JsonObject, objectOf, textOf } from '../read/json.ts';
import { homePath, listFiles } from '../read/list-files.ts';
import { changedSessions, type ForeignDatabase, readSessionsIn, statDatabase } from '../read/sqlite.ts';
import { readSession, SessionCollector } from '../session-collector.ts';
import {
  asUtc,
  type ReadOptions,
  type ReadOutcome,
  type TranscriptFile,
  type TranscriptSource,
} from '../transcript-source.ts';

const STORE = 'session-store.db';
const EVENTS = /^session-state\/[^/]+\/events\.jsonl$/;

/** GitHub Copilot CLI: a log of events per session, and a database that says less. Only sessions without a log are read from it. */
export const copilotCli: TranscriptSource = {
  name: 'copilot-cli',
  title: 'GitHub Copilot CLI',
  homeVariable: 'COPILOT_HOME',
  roots({ env, home }) {
    if (env.COPILOT_HOME) return [homePath(env.COPILOT_HOME, home)];
    const folders = [home, env.XDG_STATE_HOME || home, env.XDG_CONFIG_HOME || home]; // the last two: before 1.0
    return [...new Set(folders)].map((folder) => join(folder, '.copilot'));
  },
  async list(root) {
    const store = await statDatabase(join(root, STORE));
    return [...(store === undefined ? [] : [store]), ...(await listEvents(root))];
  },
  read: (file, options) =>
    basename(file.path) === STORE
      ? readStore(file, options)
      : readSession({ source: 'copilot-cli', file, options, wanted: isWanted, canContinue: true }, (event, session) =>
          takeEvent(event, session, basename(dirname(file.path))),
        ),
};

const listEvents = (root: string) =>
  listFiles(root, { accept: (path) => EVENTS.test(path), enter: (path) => path.startsWith('session-state'), depth: 2 });

const WANTED = [
  ...['session.start', 'session.resume', 'session.context_changed', 'session.shutdown', 'skill.invoked'],
  ...['user.message', 'assistant.message', 'tool.execution_start'],
].map(hasString);
const isWanted = (line: Buffer) => WANTED.some((isOf) => isOf(line));

function takeEvent(event: JsonObject, session: SessionCollector, folder: string): void {
  const data = objectOf(event.data);
  session.at(textOf(event.timestamp));
  if (textOf(event.agentId) !== '' || textOf(data.parentToolCallId) !== '') return; // of a sub-agent
  if (textOf(event.type).startsWith('session.')) takeFacts(event, session);
  else session.about({ sessionId: folder });
  if (event.type === 'user.message' && isTyped(data)) session.userSaid(textOf(data.content));
  if (event.type === 'assistant.message') session.assistantSaid(textOf(data.content));
  if (event.type === 'tool.execution_start') session.usedTool(textOf(data.toolName), data.arguments);
  if (event.type === 'skill.invoked' && data.trigger !== 'context-load') session.usedSkill(textOf(data.name));
}

function takeFacts({ data }: JsonObject, session: SessionCollector): void {
  const { sessionId, context, ...rest } = objectOf(data);
  const { cwd, branch } = { ...rest, ...objectOf(context) };
  session.about({ sessionId: textOf(sessionId), project: textOf(cwd), gitBranch: textOf(branch) });
}

/** Skills, other agents and the autopilot also write messages of the user. */
const isTyped = ({ source, isAutopilotContinuation }: JsonObject) =>
  isAutopilotContinuation !== true && (textOf(source) === '' || source === 'user');

async function readStore(file: TranscriptFile, options: ReadOptions): Promise<ReadOutcome> {
  const logs = await listEvents(dirname(file.path));
  const withLog = new Set(logs.map(({ path }) => basename(dirname(path))));
  return readSessionsIn(file, options, (database) => readSessions(database, withLog, file, options));
}

function readSessions(database: ForeignDatabase, withLog: Set<string>, file: TranscriptFile, options: ReadOptions) {
  const isKnown =
    database.hasTable('sessions', ['id', 'cwd', 'branch', 'created_at', 'updated_at']) &&
    database.hasTable('turns', ['session_id', 'turn_index', 'user_message', 'assistant_response']);
  if (!isKnown) return undefined;
  const rows = database.rows({
    texts: { id: 'id', cwd: 'cwd', branch: 'branch', createdAt: 'created_at', updatedAt: 'updated_at' },
    figures: { updatedMs: "unixepoch(updated_at, 'subsec') * 1000" },
    from: 'FROM sessions ORDER BY updated_at, id',
  });
  const hasFiles = database.hasTable('session_files', ['session_id', 'file_path', 'tool_name']);
  const read = ({ id = '', cwd = '', branch = '', createdAt = '', updatedAt = '' }: (typeof rows)[number]) => {
    const collector = new SessionCollector({ ...options, source: 'copilot-cli', rawPath: file.path });
    collector.about({ sessionId: id, project: cwd, gitBranch: branch });
    for (const time of [createdAt, updatedAt]) collector.at(asUtc(time));
    collectTurns(database, id, collector);
    if (hasFiles) collectFiles(database, id, collector);
    return collector.digest();
  };
  const alone = rows.filter(({ id }) => !withLog.has(id ?? ''));
  return changedSessions(alone, { file, options, count: database.count, read });
}

const MAX_CELL_BYTES = 8 * 1024 * 1024;
const short = (column: string) => `CASE WHEN octet_length(${column}) <= ${MAX_CELL_BYTES} THEN ${column} END`;

function collectTurns(database: ForeignDatabase, sessionId: string, collector: SessionCollector): void {
  const length = (column: string) => `coalesce(octet_length(${column}), 0)`;
  const turns = database.rows(
    {
      texts: { asked: short('user_message'), answered: short('assistant_response') },
      figures: { bytes: `max(${length('user_message')}, ${length('assistant_response')})` },
      from: 'FROM turns WHERE session_id = ? ORDER BY turn_index',
    },
    sessionId,
  );
  for (const { asked = '', answered = '', bytes = 0 } of turns) {
    if (bytes > MAX_CELL_BYTES) database.count('too-long');
    collector.userSaid(asked);
    collector.assistantSaid(answered);
  }
}

function collectFiles(database: ForeignDatabase, sessionId: string, collector: SessionCollector): void {
  const from = 'FROM session_files WHERE session_id = ? ORDER BY rowid';
  const files = database.rows({ texts: { path: short('file_path'), tool: short('tool_name') }, from }, sessionId);
  for (const { path = '', tool = '' } of files) {
    collector.touchedFile(path);
    collector.usedTool(tool);
  }
}
