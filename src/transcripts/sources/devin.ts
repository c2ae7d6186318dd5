import { basename, dirname, join } from 'node:path';
import { blockTexts, type JsonObject, listOf, objectOf, readJsonFile, textOf } from '../read/json.ts';
import { homePath, listFiles } from '../read/list-files.ts';
import { type ForeignDatabase, readDatabase } from '../read/sqlite.ts';
import { collectInto, type SessionCollector } from '../session-collector.ts';
import type { Place, TranscriptSource } from '../transcript-source.ts';

/** Devin's CLI: a file per session in the Agent Trajectory Interchange Format, beside a database that knows the folder. */
export const devin: TranscriptSource = {
  name: 'devin',
  title: 'Devin',
  roots: (place) => commandFolders(place).map((folder) => join(folder, 'transcripts')),
  list: (root) => listFiles(root, { accept: (path) => path.endsWith('.json'), depth: 0 }),
  async read(file, options) {
    const { value, trouble } = await readJsonFile(file.path, options.signal);
    const trajectory = objectOf(value);
    if (value === undefined) return { position: 0, sessions: [], trouble };
    if (!isKnown(trajectory)) return { position: 0, sessions: [], trouble: { ...trouble, 'unknown-version': 1 } };
    const sessionId = textOf(trajectory.session_id) || basename(file.path, '.json');
    const project = await folderOf(file.path, sessionId);
    const sessions = collectInto({ ...options, source: 'devin', rawPath: file.path }, (session) => {
      session.about({ sessionId, project });
      for (const step of listOf(trajectory.steps)) takeStep(objectOf(step), session);
    });
    return { position: file.size, sessions, trouble };
  },
};

/** `CHISEL_SESSION_DB` names the database. Transcripts lie beside it. */
function commandFolders({ env, home, platform }: Place): readonly string[] {
  if (env.CHISEL_SESSION_DB) return [dirname(homePath(env.CHISEL_SESSION_DB, home))];
  const shared = env.XDG_DATA_HOME || join(home, '.local', 'share');
  const mac = platform === 'darwin' ? [join(home, 'Library', 'Application Support')] : [];
  const windows = platform === 'win32' ? [env.LOCALAPPDATA, env.APPDATA].filter((folder) => folder !== undefined) : [];
  return [shared, ...mac, ...windows].map((folder) => join(folder, 'devin', 'cli'));
}

/** Versions up to this one only add fields. */
const NEWEST_MINOR = 8;

function isKnown({ schema_version: version, steps }: JsonObject): boolean {
  const minor = /^ATIF-v1\.(\d{1,3})$/.exec(textOf(version))?.[1];
  return minor !== undefined && Number(minor) <= NEWEST_MINOR && Array.isArray(steps);
}

/** A locked database is not copied just for a folder's name: the project is then unknown. */
async function folderOf(path: string, sessionId: string): Promise<string> {
  const read = (database: ForeignDatabase) => {
    if (!database.hasTable('sessions', ['id', 'working_directory'])) return undefined;
    return database.rows({ texts: { folder: 'working_directory' }, from: 'FROM sessions WHERE id = ?' }, sessionId);
  };
  const { value } = await readDatabase(join(dirname(dirname(path)), 'sessions.db'), read, { maxCopyBytes: 0 });
  return value?.[0]?.folder ?? '';
}

function takeStep(step: JsonObject, session: SessionCollector): void {
  const { is_user_input: isTyped, created_at: createdAt } = objectOf(step.metadata);
  const moment = textOf(step.timestamp) || textOf(createdAt);
  session.at(moment);
  if (step.is_copied_context === true) return;
  const text = blockTexts(step.message);
  const isUser = step.source === 'user' || isTyped === true;
  if (isUser && isTyped !== false) session.userSaid(text, moment);
  if (step.source !== 'agent' || isUser) return;
  session.assistantSaid(text, moment);
  for (const { function_name: name, arguments: input } of listOf(step.tool_calls).map(objectOf)) {
    session.usedTool(textOf(name), input);
  }
}
