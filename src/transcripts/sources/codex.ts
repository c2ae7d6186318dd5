import { join } from 'node:path';
import { OWN_CALL_ORIGINATOR } from '../../core/contracts/index.ts';
import { blockTexts, hasString, type JsonObject, objectOf, textOf } from '../read/json.ts';
import { homePath, listFiles } from '../read/list-files.ts';
import { readSession, type SessionCollector } from '../session-collector.ts';
import { ownCopy, type TranscriptSource } from '../transcript-source.ts';

/** Outputs of tools and reasoning are long, and begin with their kind. */
const UNWANTED = ['function_call_output', 'custom_tool_call_output', 'reasoning', 'world_state', 'compacted'].map(
  hasString,
);
const MESSAGE = hasString('message');

/** Codex: the CLI's sessions by day, and what it or the desktop app put into the archive. */
export const codex: TranscriptSource = {
  name: 'codex',
  title: 'Codex',
  homeVariable: 'CODEX_HOME',
  roots({ env, home }) {
    const folder = env.CODEX_HOME ? homePath(env.CODEX_HOME, home) : join(home, '.codex');
    return [join(folder, 'sessions'), join(folder, 'archived_sessions')];
  },
  async list(root) {
    const files = await listFiles(root, { accept: (path) => /\.jsonl(?:\.zst)?$/.test(path) });
    const paths = new Set(files.map(({ path }) => path));
    return files.filter(({ path }) => !paths.has(path.replace(/\.zst$/, '')) || path.endsWith('.jsonl'));
  },
  read(file, options) {
    const once = eachOnce();
    const wanted = (line: Buffer) => MESSAGE(line) || !UNWANTED.some((isOf) => isOf(line));
    return readSession({ source: 'codex', file, options, wanted, canContinue: false }, (record, session) =>
      takeRecord(record, session, once),
    );
  },
};

type Once = ReturnType<typeof eachOnce>;

/**
 * Most versions write a message twice: as an item of the conversation and as an event. Which comes first differs, and some
 * write only one. A message that is matched by one from the other list is the same message.
 */
function eachOnce() {
  const unmatched = new Map<string, number>();
  return (text: string, list: 'item' | 'event'): boolean => {
    const ahead = unmatched.get(text) ?? 0;
    const step = list === 'item' ? 1 : -1;
    unmatched.set(text, ahead + step);
    return ahead * step >= 0;
  };
}

function takeRecord(record: JsonObject, session: SessionCollector, once: Once): void {
  const payload = objectOf(record.payload);
  const time = textOf(record.timestamp);
  session.at(time);
  takeFacts(record.type, payload, session);
  const list = payload.type === 'message' ? 'item' : 'event';
  const { speaker, text } = messageOf(payload);
  if (speaker === 'user' && once(`user ${text}`, list)) session.userSaid(text);
  if (speaker === 'assistant' && once(`assistant ${text}`, list)) session.assistantSaid(text);
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

type Message = { readonly speaker: 'user' | 'assistant' | undefined; readonly text: string };

function messageOf({ type, role, content, message }: JsonObject): Message {
  if (type === 'user_message') return { speaker: 'user', text: withoutPreamble(textOf(message)) };
  if (type === 'agent_message') return { speaker: 'assistant', text: textOf(message).trim() };
  if (type !== 'message') return { speaker: undefined, text: '' };
  const text = blockTexts(content, ['input_text', 'output_text', 'text']);
  if (role === 'user') return { speaker: 'user', text: withoutPreamble(text) };
  return { speaker: role === 'assistant' ? 'assistant' : undefined, text: text.trim() };
}

/** What stands before a person's words, and how it ends. */
const PREAMBLES = [
  ['# AGENTS.md instructions', '</INSTRUCTIONS>'],
  ['# Context from my IDE setup:', '## My request for Codex:'],
  ['<user_instructions>', '</user_instructions>'],
  ['<environment_context>', '</environment_context>'],
] as const;

/** Instructions and surroundings that are sent as if a person had said them. What follows them is kept. */
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
};

/** Enough to know what a patch was about. */
const MAX_FILES = 20;

function takeTool({ type, name, arguments: input, changes }: JsonObject, session: SessionCollector): void {
  const kind = textOf(type);
  if (kind === 'function_call' || kind === 'custom_tool_call') session.usedTool(textOf(name), input);
  else if (kind.endsWith('_call')) session.usedTool(kind);
  else if (Object.hasOwn(EVENT_TOOLS, kind)) session.usedTool(EVENT_TOOLS[kind]!);
  if (kind === 'patch_apply_end')
    for (const path of Object.keys(objectOf(changes)).slice(0, MAX_FILES)) session.touchedFile(path);
}
