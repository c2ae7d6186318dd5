import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place } from '../../../src/transcripts/index.ts';
import { copilot, operationLog } from '../../../src/transcripts/sources/copilot.ts';
import { transcriptFixture } from '../../support/foreign-database.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const log = readFileSync(transcriptFixture('copilot/session.jsonl'), 'utf8');
const storage = '.config/Code/User/workspaceStorage/abc';

async function harvest(files: Readonly<Record<string, string>>) {
  using folder = tempFolder(files);
  const place: Place = { env: {}, home: folder.path, platform: 'linux' };
  const listed = (await Promise.all(copilot.roots(place).map((root) => copilot.list(root)))).flat();
  return await Promise.all(listed.map((file) => copilot.read(file, { place })));
}

const session = {
  source: 'copilot',
  sessionId: 'chat-1',
  project: '/srv/my shop',
  startedAt: '2026-01-01T10:00:00.000Z',
  endedAt: '2026-01-01T10:05:00.000Z',
  userPrompts: ['round the totals', 'still broken for negative amounts'],
  assistantFinals: ['Rounded all totals.', 'Mended.'],
  toolsUsed: ['copilot_readFile'],
  feedbackSignals: ['pos:copilot_vote_up', 'neg:still broken'],
};

describe('Copilot in VS Code', () => {
  it('replays the log: requests to Copilot that a person made, without reasoning, tool data and context', async () => {
    const outcomes = await harvest({
      [`${storage}/workspace.json`]: '{"folder":"file:///srv/my%20shop"}',
      [`${storage}/chatSessions/chat-1.jsonl`]: log,
    });
    expect(outcomes).toMatchObject([{ trouble: {}, sessions: [session] }]);
    expect(JSON.stringify(outcomes)).not.toMatch(/REASONING|TOOL DATA|CONTEXT|somebody|terminal/);
  });

  it('fact 32: an operation after the first state is applied, and one that fits nowhere is ignored', () => {
    const replay = operationLog();
    const changes = [
      { kind: 1, k: ['t'], v: 'before the first state' },
      { kind: 0, v: { r: [1, 2, 3], x: 1 } },
      { kind: 2, k: ['r'], i: 1, v: [9, 8] },
      { kind: 2, k: ['r'], i: 2, v: [7] },
      { kind: 2, k: ['r'], i: 17, v: ['bad index'] },
      { kind: 2, k: ['r'], i: -1, v: ['bad index'] },
      { kind: 1, k: ['r', 5_000_000], v: 'far away' },
      { kind: 1, k: ['no', 'such', 'path'], v: 1 },
      { kind: 1, k: ['t'], v: 'T' },
      { kind: 3, k: ['x'] },
      { kind: 2, k: ['r'], v: ['gone'] },
      { kind: 3, k: ['r', 3] },
      { kind: 9, k: ['t'], v: 'unknown' },
    ];
    for (const change of changes) replay.take(change);
    expect(replay.state()).toEqual({ r: [1, 9, 7], t: 'T' });
  });

  it('a path through a prototype changes nothing', () => {
    const replay = operationLog();
    replay.take({ kind: 0, v: { a: {} } });
    replay.take({ kind: 1, k: ['__proto__', 'polluted'], v: true });
    replay.take({ kind: 1, k: ['a', 'constructor', 'prototype', 'polluted'], v: true });
    replay.take({ kind: 1, k: ['a', '__proto__'], v: { polluted: true } });
    expect({}).not.toHaveProperty('polluted');
    expect(replay.state()).toEqual({ a: {} });
    expect(Object.getPrototypeOf(replay.state().a)).toBe(Object.prototype);
  });

  it('torn and corrupt lines cost only themselves; one of megabytes is read', async () => {
    const lines = log.trimEnd().split('\n');
    const padded = lines[1]!.replace('RENDERED CONTEXT', 'x'.repeat(12 * 1024 * 1024));
    const text = [lines[0], padded, '{"kind":2,"k":', ...lines.slice(2), '{"kind":1,"k":["requests",0,"vo'].join('\n');
    const [outcome] = await harvest({ [`${storage}/chatSessions/chat-1.jsonl`]: text });
    expect(outcome).toMatchObject({ trouble: { malformed: 1, torn: 1 }, sessions: [{ ...session, project: '' }] });
  });

  it('reads older sessions of one JSON value once, and chats without a workspace', async () => {
    const request = { agent: { extensionId: 'GitHub.copilot-chat' }, message: { text: 'an older one' }, response: [] };
    const older = JSON.stringify({ sessionId: 'chat-0', requests: [request] });
    const outcomes = await harvest({
      [`${storage}/chatSessions/chat-0.json`]: older,
      [`${storage}/chatSessions/chat-1.json`]: older,
      [`${storage}/chatSessions/chat-1.jsonl`]: log,
      '.config/VSCodium/User/globalStorage/emptyWindowChatSessions/chat-2.jsonl': log,
    });
    const ids = outcomes.flatMap(({ sessions }) => sessions.map(({ sessionId }) => sessionId));
    expect(ids).toEqual(['chat-0', 'chat-1', 'chat-1']);
  });

  it.each([
    ['{"workspace":"file:///srv/shop/shop.code-workspace"}', '/srv/shop'],
    ['{"folder":"vscode-remote://ssh-remote%2Bhost/work"}', ''],
    ['{"folder":"file://%zz"}', ''],
    ['{"folder":"file://host/share/x"}', '//host/share/x'],
    ['not json', ''],
  ])('the workspace %s is in %j', async (mapping, project) => {
    const [outcome] = await harvest({
      [`${storage}/workspace.json`]: mapping,
      [`${storage}/chatSessions/a.jsonl`]: log,
    });
    expect(outcome?.sessions[0]?.project).toBe(project);
  });

  it('a file of another kind is of an unknown version', async () => {
    const [outcome] = await harvest({ [`${storage}/chatSessions/a.jsonl`]: '{"role":"user"}\n' });
    expect(outcome).toMatchObject({ sessions: [], trouble: { 'unknown-version': 1 } });
  });

  it('looks where its variables and the platform say', () => {
    const roots = (env: Place['env'], platform: Place['platform']) => copilot.roots({ env, home: '/h', platform });
    expect(roots({}, 'linux')).toEqual(
      ['Code', 'Code - Insiders', 'VSCodium'].map((name) => `/h/.config/${name}/User`),
    );
    expect(roots({}, 'darwin')).toContain('/h/Library/Application Support/Code/User');
    expect(roots({ APPDATA: '/roaming' }, 'win32')).toContain(join('/roaming', 'Code - Insiders', 'User'));
    expect(roots({ XDG_CONFIG_HOME: '/x' }, 'linux')).toContain('/x/Code/User');
    expect(roots({ VSCODE_APPDATA: '/a' }, 'linux')).toContain('/a/Code/User');
    expect(roots({ VSCODE_PORTABLE: '/p' }, 'linux')).toEqual(['/p/user-data/User']);
  });
});
