import { join } from 'node:path';
import { OWN_CALL_ORIGINATOR } from '../../core/contracts/index.ts';
import { blockTexts, hasString, type JsonObject, objectOf, textOf } from '../read/json.ts';
import { homePath, listFiles, withoutOlder } from '../read/list-files.ts';
import { readSession, type SessionCollector } from '../session-collector.ts';
import { ownCopy, type TranscriptSource } from '../transcript-source.ts';

const UNWANTED = ['function_call_output', 'custom_tool_call_output', 'reasoning', 'world_state', 'compacted'].map(
  hasString,
);
const MESSAGE = hasString('message');

/** Codex: the sessions of the CLI by day, and the archive. */
export const codex: TranscriptSource = {
  name: 'codex',
  title: 'Codex',
  homeVariable: 'CODEX_HOME',
  roots({ env, home }) {
    const folder = homePath(env.CODEX_HOME || '.codex', home);
    return [join(folder, 'sessions'), join(folder, 'archived_sessions')];
  },
  async list(root) {
    const files = await listFiles(root, { accept: (path) => /\.jsonl(?:\.zst)?$/.test(path) });
    return withoutOlder(files, (path) => path.replace(/\.zst$/, ''));
  },
  read(file, options) {
    const isNew = eachOnce();
    const wanted = (line: Buffer) => MESSAGE(line) || !UNWANTED.some((isOf) => isOf(line));
    return readSession({ source: 'codex', file, options, wanted, canContinue: false }, (record, session) =>
      takeRecord(record, session, isNew),
    );
  },
};

/**
 * Most versions write a message twice, in either order: as an item of the conversation and as an event. Some write only
 * one of them. Equal messages of the two kinds are the same message.
 */
function eachOnce() {
  const unmatched = { user: new Map<string, number>(), assistant: new Map<string, number>() };
  return (speaker: 'user' | 'assistant', text: string, list: 'item' | 'event'): boolean => {
    const ahead = unmatched[speaker].get(text) ?? 0;
    const step = list === 'item' ? 1 : -1;
    unmatched[speaker].set(text, ahead + step);
    return ahead * step >= 0;
  };
}

function takeRecord(record: JsonObject, session: SessionCollector, isNew: ReturnType<typeof eachOnce>): void {
  const payload = objectOf(record.payload);
  session.at(textOf(record.timestamp));
  takeFacts(record.type, payload, session);
  const list = payload.type === 'message' ? 'item' : 'event';
  const { speaker, text } = messageOf(payload);
  if (speaker === 'user' && isNew('user', text, list)) session.userSaid(text);
  if (speaker === 'assistant' && isNew('assistant', text, list)) session.assistantSaid(text);
  takeTool(payload, session);
}

function takeFacts(type: unknown, payload: JsonObject, session: SessionCollector): void {
  const { id, session_id, cwd, git, originator, source } = payload;
  session.about({ project: textOf(cwd) });
  if (type !== 'session_meta') return;
  session.about({ sessionId: textOf(session_id) || textOf(id), gitBranch: textOf(objectOf(git).branch) });
  if (textOf(originator).startsWith(OWN_CALL_ORIGINATOR)) session.leaveOut('own-call');
  if ('subagent' in objectOf(source) || textOf(payload.parent_thread_id) !== '') session.leaveOut('sub-agent');
}

const EVENT_SPEAKERS: JsonObject = { user_message: 'user', agent_message: 'assistant' };

function messageOf({ type, role, content, message }: JsonObject): { readonly speaker: unknown; readonly text: string } {
  const isItem = type === 'message';
  const speaker = isItem ? role : EVENT_SPEAKERS[textOf(type)];
  const text = isItem ? blockTexts(content, ['input_text', 'output_text', 'text']) : textOf(message);
  return { speaker, text: speaker === 'user' ? withoutPreamble(text) : text.trim() };
}

/** Texts before a person's words, and how they end. */
const PREAMBLES = [
  ['# AGENTS.md instructions', '</INSTRUCTIONS>'],
  ['# Context from my IDE setup:', '## My request for Codex:'],
  ['<user_instructions>', '</user_instructions>'],
  ['<environment_context>', '</environment_context>'],
] as const;

/** Removes instructions and surroundings that are sent in a person's name. */
export function withoutPreamble(text: string): string {
  let rest = text.trim();
  for (;;) {
    const preamble = PREAMBLES.find(([start]) => rest.startsWith(start));
    if (preamble === undefined) return rest.length < text.length / 2 ? ownCopy(rest) : rest;
    const end = rest.indexOf(preamble[1]);
    rest = end === -1 ? '' : rest.slice(end + preamble[1].length).trim();
  }
}

const EVENT_TOOLS: Readonly<Record<string, string>> = {
  exec_command_end: 'exec_command',
  patch_apply_end: 'apply_patch',
  web_search_call: 'web_search',
  tool_search_call: 'tool_search',
};

const MAX_FILES = 20;

function takeTool({ type, name, arguments: input, changes }: JsonObject, session: SessionCollector): void {
  const kind = textOf(type);
  if (kind === 'function_call' || kind === 'custom_tool_call') session.usedTool(textOf(name), input);
  else if (Object.hasOwn(EVENT_TOOLS, kind)) session.usedTool(EVENT_TOOLS[kind]!);
  else if (kind.endsWith('_call')) session.usedTool(kind);
  if (kind === 'patch_apply_end')
    for (const path of Object.keys(objectOf(changes)).slice(0, MAX_FILES)) session.touchedFile(path);
}
