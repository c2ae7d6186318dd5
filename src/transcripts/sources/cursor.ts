import { basename, join, sep } from 'node:path';
import { blockTexts, type JsonObject, objectOf, readJsonFile, textOf } from '../read/json.ts';
import { homePath, listFiles, statFile } from '../read/list-files.ts';
import { readSession, type SessionCollector } from '../session-collector.ts';
import type { TranscriptFile, TranscriptSource } from '../transcript-source.ts';

const TRANSCRIPT = /^[^/]+\/agent-transcripts\/(?:(?!subagents\/)[^/]+\/)?[^/]+\.jsonl$/;
const FOLDER = /^[^/]+(?:\/agent-transcripts(?:\/[^/]+)?)?$/;

/** Cursor's agent: a folder per workspace, named by a slug of its path, and in it a file per session. */
export const cursor: TranscriptSource = {
  name: 'cursor',
  title: 'Cursor',
  homeVariable: 'CURSOR_DATA_DIR',
  roots: ({ env, home }) => [join(homePath(env.CURSOR_DATA_DIR || '.cursor', home), 'projects')],
  list: (root) => listFiles(root, { accept: (path) => TRANSCRIPT.test(path), enter: (path) => FOLDER.test(path) }),
  async read(file, options) {
    const facts = { sessionId: basename(file.path, '.jsonl'), project: await workspaceOf(file) };
    const lines = { source: 'cursor', file, options, canContinue: true };
    const outcome = await readSession(lines, takeRecord, (session) => session.about(facts));
    // Records have no times. The file was last written when the session ended.
    const endedAt = new Date(file.mtimeMs).toISOString();
    return { ...outcome, sessions: outcome.sessions.map((session) => ({ ...session, startedAt: '', endedAt })) };
  },
};

/** The path if the agent noted it, else the slug, which is only a name for people. */
async function workspaceOf({ path }: TranscriptFile): Promise<string> {
  const folder = path.slice(0, path.lastIndexOf(`${sep}agent-transcripts${sep}`));
  const note = join(folder, '.workspace-trusted');
  if (statFile(note) === undefined) return basename(folder);
  const { workspacePath } = objectOf((await readJsonFile(note, undefined, 64 * 1024)).value);
  return textOf(workspacePath) || basename(folder);
}

function takeRecord(record: JsonObject, session: SessionCollector): void {
  const { content } = objectOf(record.message);
  if (record.type === 'turn_ended' && record.status === 'error') session.signal('neg:cursor_turn_error');
  if (record.role === 'user') session.userSaid(queryOf(blockTexts(content)));
  if (record.role !== 'assistant') return;
  session.assistantSaid(blockTexts(content));
  session.usedToolsIn(content);
}

const [OPENING, CLOSING] = ['<user_query>', '</user_query>'];

/** The last element holds what was typed. The editor added what comes before it. */
function queryOf(text: string): string {
  const whole = text.trim();
  const start = whole.lastIndexOf(OPENING);
  return start === -1 || !whole.endsWith(CLOSING) ? text : whole.slice(start + OPENING.length, -CLOSING.length).trim();
}
