import { join } from 'node:path';
import { hasString, type JsonObject, listOf, objectOf, textOf } from '../read/json.ts';
import { homePath, listFiles } from '../read/list-files.ts';
import { readSession, type SessionCollector } from '../session-collector.ts';
import type { TranscriptSource } from '../transcript-source.ts';

const isUser = hasString('user');
const isAssistant = hasString('assistant');
const isResult = hasString('tool_result');

/** Qwen Code: `projects/<folder>/chats/<session>.jsonl`. */
export const qwen: TranscriptSource = {
  name: 'qwen',
  title: 'Qwen Code',
  homeVariable: 'QWEN_HOME',
  roots: ({ env, home }) => [join(homePath(env.QWEN_RUNTIME_DIR || env.QWEN_HOME || '.qwen', home), 'projects')],
  list: (root) => listFiles(root, { accept: (path) => /^[^/]+\/chats\/[^/]+\.jsonl$/.test(path), depth: 2 }),
  read: (file, options) => {
    const wanted = (line: Buffer) => !isResult(line) && (isUser(line) || isAssistant(line));
    return readSession({ source: 'qwen', file, options, wanted, canContinue: true }, takeRecord);
  },
};

function takeRecord(record: JsonObject, session: SessionCollector): void {
  const { type, timestamp, sessionId, cwd, gitBranch, message } = record;
  session.at(textOf(timestamp));
  session.about({ sessionId: textOf(sessionId), project: textOf(cwd), gitBranch: textOf(gitBranch) });
  const parts = listOf(objectOf(message).parts).map(objectOf);
  const spoken = parts.filter(({ thought }) => thought !== true).map(({ text }) => textOf(text));
  const text = spoken.filter((part) => part !== '').join('\n');
  if (type === 'user') session.userSaid(text);
  if (type !== 'assistant') return;
  session.assistantSaid(text);
  for (const call of parts.map(({ functionCall }) => objectOf(functionCall))) {
    if (textOf(call.name) !== '') session.usedTool(textOf(call.name), call.args);
  }
}
