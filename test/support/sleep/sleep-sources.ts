import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { buildDatabase, type TableRows } from '../foreign-database.ts';
import { copilotCliRows, each, lines, msOf, opencodeRows, type Talk, timeOf, zst } from '../talk-rows.ts';
import { claudeSession, hoursAgo, type SleepHome } from './sleep-home.ts';

function claude(talk: Talk): string {
  const { id, cwd, branch, tool, file, output } = talk;
  const turns = talk.turns.flatMap(({ asked, answered }) => [
    ['user', asked] as const,
    ['assistant', answered] as const,
  ]);
  const base = { cwd, sessionId: id, gitBranch: branch, timestamp: hoursAgo(1) };
  const used = { type: 'tool_use', name: tool, input: { file_path: output } };
  const result = { type: 'tool_result', content: output };
  return (
    lines([{ type: 'file-history-snapshot', snapshot: { trackedFileBackups: { [file]: {} } } }]) +
    claudeSession({ cwd, id, branch, turns }) +
    lines([
      { ...base, type: 'assistant', message: { content: [used] } },
      { ...base, type: 'user', message: { content: [result] } },
    ])
  );
}

function codex(talk: Talk): string {
  const { id, cwd, branch, tool, file, output } = talk;
  const said = (role: string, kind: string, text: string) => ({
    type: 'message',
    role,
    content: [{ type: kind, text }],
  });
  const records = each(talk, ({ asked, answered }, timestamp) => [
    { timestamp, type: 'response_item', payload: said('user', 'input_text', asked) },
    { timestamp, type: 'response_item', payload: said('assistant', 'output_text', answered) },
  ]);
  const payload = (timestamp: string, one: object) => ({ timestamp, type: 'response_item', payload: one });
  return lines([
    { timestamp: timeOf(talk, 0), type: 'session_meta', payload: { id, cwd, git: { branch } } },
    ...records,
    payload(hoursAgo(1), { type: 'function_call', name: tool, arguments: output }),
    payload(hoursAgo(1), { type: 'function_call_output', output }),
    { timestamp: hoursAgo(1), type: 'event_msg', payload: { type: 'patch_apply_end', changes: { [file]: {} } } },
  ]);
}

function gemini(talk: Talk): string {
  const toolCalls = [{ name: talk.tool, args: { a: talk.output }, result: talk.output }];
  const records = each(talk, ({ asked, answered }, timestamp, at) => [
    { id: `u${at}`, timestamp, type: 'user', content: asked },
    { id: `a${at}`, timestamp, type: 'gemini', content: answered, toolCalls },
  ]);
  return lines([
    { sessionId: talk.id, startTime: timeOf(talk, 0), lastUpdated: hoursAgo(1), kind: 'main', directories: [talk.cwd] },
    ...records,
  ]);
}

function qwen(talk: Talk): string {
  const base = { sessionId: talk.id, cwd: talk.cwd, gitBranch: talk.branch };
  return lines(
    each(talk, ({ asked, answered }, timestamp) => [
      { ...base, timestamp, type: 'user', message: { parts: [{ text: asked }] } },
      {
        ...base,
        timestamp,
        type: 'assistant',
        message: { parts: [{ text: answered }, { functionCall: { name: talk.tool, args: {} } }] },
      },
      { ...base, timestamp, type: 'tool_result', message: { parts: [{ functionResponse: { output: talk.output } }] } },
    ]),
  );
}

function pi(talk: Talk): string {
  const records = each(talk, ({ asked, answered }, timestamp, at) => [
    {
      type: 'message',
      id: `u${at}`,
      parentId: at === 0 ? null : `a${at - 1}`,
      timestamp,
      message: { role: 'user', content: asked },
    },
    {
      type: 'message',
      id: `a${at}`,
      parentId: `u${at}`,
      timestamp,
      message: {
        role: 'assistant',
        content: [
          { type: 'text', text: answered },
          { type: 'toolCall', name: talk.tool, arguments: { a: talk.output } },
        ],
      },
    },
  ]);
  return lines([{ type: 'session', version: 3, id: talk.id, cwd: talk.cwd, timestamp: timeOf(talk, 0) }, ...records]);
}

function cursor(talk: Talk): string {
  return lines(
    each(talk, ({ asked, answered }) => [
      { role: 'user', message: { content: [{ type: 'text', text: `<user_query>\n${asked}\n</user_query>` }] } },
      {
        role: 'assistant',
        message: {
          content: [
            { type: 'text', text: answered },
            { type: 'tool_use', name: talk.tool, input: { a: talk.output } },
          ],
        },
      },
    ]),
  );
}

function devin(talk: Talk): string {
  const steps = each(talk, ({ asked, answered }, timestamp) => [
    { source: 'user', message: asked, timestamp },
    {
      source: 'agent',
      message: answered,
      timestamp,
      tool_calls: [{ function_name: talk.tool, arguments: {} }],
      observation: { results: [{ content: talk.output }] },
    },
  ]);
  return JSON.stringify({ schema_version: 'ATIF-v1.7', session_id: talk.id, steps });
}

function copilot(talk: Talk): string {
  const agent = { extensionId: 'GitHub.copilot-chat' };
  const requests = talk.turns.map(({ asked, answered }, at) => ({
    agent,
    timestamp: msOf(talk, at),
    message: { text: asked },
    variableData: talk.output,
    response: [{ value: answered }, { kind: 'toolInvocationSerialized', toolId: talk.tool }],
  }));
  return lines([{ kind: 0, v: { sessionId: talk.id, creationDate: msOf(talk, 0), requests } }]);
}

function copilotCliEvents(talk: Talk): string {
  const records = each(talk, ({ asked, answered }, timestamp) => [
    { type: 'user.message', data: { content: asked }, timestamp },
    { type: 'assistant.message', data: { content: answered }, timestamp },
    { type: 'tool.execution_start', data: { toolName: talk.tool, arguments: { a: talk.output } }, timestamp },
    { type: 'skill.invoked', data: { name: talk.skill }, timestamp },
  ]);
  const context = { cwd: talk.cwd, branch: talk.branch };
  return lines([
    { type: 'session.start', data: { sessionId: talk.id, context }, timestamp: timeOf(talk, 0) },
    ...records,
  ]);
}

const perTalk =
  (path: (name: string) => string, content: (talk: Talk) => string | Buffer) =>
  (home: SleepHome, talks: readonly Talk[]) => {
    for (const [at, talk] of talks.entries()) home.write(path(`n${at}`), content(talk));
  };

function writeDatabase(home: SleepHome, name: string, rows: TableRows): void {
  const path = join(home.path, name);
  buildDatabase(path, rows);
  utimesSync(path, Date.now() / 1000 - 60, Date.now() / 1000 - 60);
}

const STORAGE = '.config/Code/User/workspaceStorage/abc';

/** Writes talks where each agent would have kept them. The names of files say nothing. */
export const TALK_WRITERS: Readonly<Record<string, (home: SleepHome, talks: readonly Talk[]) => void>> = {
  claude: perTalk((name) => `.claude/projects/p/${name}.jsonl`, claude),
  codex: perTalk((name) => `.codex/sessions/2026/01/01/${name}.jsonl`, codex),
  'codex .zst': perTalk(
    (name) => `.codex/archived_sessions/${name}.jsonl.zst`,
    (talk) => zst(codex(talk)),
  ),
  gemini: perTalk((name) => `.gemini/tmp/p/chats/${name}.jsonl`, gemini),
  qwen: perTalk((name) => `.qwen/projects/p/chats/${name}.jsonl`, qwen),
  pi: perTalk((name) => `.pi/agent/sessions/p/${name}.jsonl`, pi),
  cursor: perTalk((name) => `.cursor/projects/p/agent-transcripts/${name}.jsonl`, cursor),
  devin: perTalk((name) => `.local/share/devin/cli/transcripts/${name}.json`, devin),
  copilot(home, talks) {
    home.write(
      `${STORAGE}/workspace.json`,
      JSON.stringify({ folder: `file://${encodeURI(Buffer.from(talks[0]!.cwd).toString())}` }),
    );
    perTalk((name) => `${STORAGE}/chatSessions/${name}.jsonl`, copilot)(home, talks);
  },
  'copilot-cli': perTalk((name) => `.copilot/session-state/${name}/events.jsonl`, copilotCliEvents),
  'copilot-cli database': (home, talks) => writeDatabase(home, '.copilot/session-store.db', copilotCliRows(talks)),
  opencode: (home, talks) => writeDatabase(home, '.local/share/opencode/opencode.db', opencodeRows(talks)),
};
