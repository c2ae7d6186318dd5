import { join } from 'node:path';
import { blockTexts, fieldText, hasString, type JsonObject, objectOf, textOf } from '../read/json.ts';
import { homePath, listFiles } from '../read/list-files.ts';
import { readSession, type SessionCollector } from '../session-collector.ts';
import type { TranscriptSource } from '../transcript-source.ts';

const isOfUser = hasString('user');
const [RESULT, TEXT] = [Buffer.from('"tool_result"'), Buffer.from('"text"')];
const TYPES: readonly string[] = ['user', 'assistant', 'file-history-snapshot'];

/** Results of tools are most of a transcript. They stand in records of the user. */
function isWanted(line: Buffer): boolean {
  const type = fieldText(line, 'type');
  if (type !== undefined && !TYPES.includes(type)) return false;
  const mayHoldResult = type === undefined ? isOfUser(line) : type === 'user';
  return !mayHoldResult || !isOnlyResult(line);
}

/** How many bytes at the end are searched for a person's text. */
const END_BYTES = 4_000;

function isOnlyResult(line: Buffer): boolean {
  const at = line.indexOf(RESULT);
  if (at === -1) return false;
  return line.lastIndexOf(TEXT, at) === -1 && line.indexOf(TEXT, Math.max(at, line.length - END_BYTES)) === -1;
}

/** Claude Code: a file per session, in a folder per project. Sub-agents have folders or files of their own. */
export const claude: TranscriptSource = {
  name: 'claude',
  title: 'Claude Code',
  homeVariable: 'CLAUDE_CONFIG_DIR',
  roots({ env, home }) {
    const homes = env.CLAUDE_CONFIG_DIR
      ? [homePath(env.CLAUDE_CONFIG_DIR, home)]
      : [join(home, '.claude'), join(env.XDG_CONFIG_HOME || join(home, '.config'), 'claude')];
    return homes.map((path) => join(path, 'projects'));
  },
  list: (root) =>
    listFiles(root, {
      accept: (path) => path.endsWith('.jsonl') && !/(?:^|\/)agent-[^/]*$/.test(path),
      enter: (path) => !/(?:^|\/)subagents$/.test(path),
    }),
  read: (file, options) =>
    readSession({ source: 'claude', file, options, wanted: isWanted, canContinue: true }, takeRecord),
};

function takeRecord(record: JsonObject, session: SessionCollector): void {
  const { type, sessionId, cwd, gitBranch } = record;
  if (type === 'file-history-snapshot') takeSnapshot(objectOf(record.snapshot), session);
  if (type !== 'user' && type !== 'assistant') return;
  session.at(textOf(record.timestamp));
  if (record.isSidechain === true) return;
  session.about({ sessionId: textOf(sessionId), project: textOf(cwd), gitBranch: textOf(gitBranch) });
  const { content } = objectOf(record.message);
  if (type === 'assistant' && record.isApiErrorMessage !== true) takeAnswer(content, session);
  if (type === 'user' && !isNotice(record)) session.userSaid(blockTexts(content));
}

/** The CLI wrote it, not the person. */
const isNotice = ({ isMeta, isCompactSummary, isVisibleInTranscriptOnly }: JsonObject) =>
  isMeta === true || isCompactSummary === true || isVisibleInTranscriptOnly === true;

/** The CLI writes this if the model said nothing. */
const NO_ANSWER = 'No response requested.';

function takeAnswer(content: unknown, session: SessionCollector): void {
  const text = blockTexts(content);
  if (text !== NO_ANSWER) session.assistantSaid(text);
  session.usedToolsIn(content);
}

const MAX_FILES = 20;

function takeSnapshot({ trackedFileBackups: files }: JsonObject, session: SessionCollector): void {
  const paths = Array.isArray(files) ? files.map(textOf) : Object.keys(objectOf(files));
  for (const path of paths.slice(0, MAX_FILES)) session.touchedFile(path);
}
