import { readFileSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place, ReadSoFar } from '../../../src/transcripts/index.ts';
import { opencode } from '../../../src/transcripts/sources/opencode.ts';
import { buildDatabase, fixtureRows, type TableRows } from '../../support/foreign-database.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const rows = fixtureRows('opencode/rows.json');
const placeAt = (home: string, env: Place['env'] = {}): Place => ({ env, home, platform: 'linux' });

async function harvest(place: Place, before?: ReadSoFar) {
  const files = (await Promise.all(opencode.roots(place).map((root) => opencode.list(root)))).flat();
  return await Promise.all(files.map((file) => opencode.read(file, { place, before })));
}

/** A home with a database of these rows. */
function homeWith(tables: TableRows) {
  const folder = tempFolder();
  const path = join(folder.path, '.local/share/opencode/opencode.db');
  buildDatabase(path, tables, 'log');
  return { ...folder, database: path, place: placeAt(folder.path) };
}

describe('OpenCode', () => {
  it('gives root sessions with what was typed and answered, and nothing of tools, reasoning or notices', async () => {
    using home = homeWith(rows);
    const [outcome] = await harvest(home.place);
    expect(outcome).toMatchObject({ position: 1767348060000, trouble: {} });
    expect(outcome?.sessions).toMatchObject([
      {
        source: 'opencode',
        sessionId: 'ses_1',
        project: '/srv/shop',
        gitBranch: 'fix/cart',
        startedAt: '2026-01-01T10:00:00.000Z',
        endedAt: '2026-01-01T10:05:50.000Z',
        userPrompts: ['make "cart" totals round half to even', 'still broken for negative amounts'],
        assistantFinals: ['Totals now round half to even.'],
        toolsUsed: ['bash', 'skill'],
        skillsUsed: ['money'],
        feedbackSignals: ['neg:still broken', 'neg:opencode_message_error'],
        rawPath: '~/.local/share/opencode/opencode.db',
      },
      { sessionId: 'ses_2', userPrompts: ['"quoted" and "quoted"'] },
    ]);
    expect(JSON.stringify(outcome)).not.toMatch(/OUTPUT|cat cart|thoughts|nobody|Called the Read|Summary of/);
  });

  it('leaves out the replays of SkillOpt-Sleep, and reads sessions of versions that name no agent', async () => {
    const agent = `skillopt-sleep-${'0a'.repeat(16)}`;
    using home = homeWith({
      ...rows,
      session: rows.session!.map((row) => (row.id === 'ses_2' ? { ...row, agent } : row)),
    });
    const [outcome] = await harvest(home.place);
    expect(outcome?.sessions.map(({ leftOut }) => leftOut)).toEqual([undefined, 'own-call']);
    using older = homeWith({ ...rows, session: rows.session!.map(({ agent: _, ...row }) => row) });
    expect((await harvest(older.place))[0]?.sessions).toHaveLength(2);
  });

  it('a message or part that is no record is counted, and costs only itself', async () => {
    using home = homeWith({
      ...rows,
      message: [...rows.message!, { id: 'msg_x', session_id: 'ses_2', time_created: 1767348040000, data: '{"role":' }],
      part: [...rows.part!, { id: 'prt_x', message_id: 'msg_7', session_id: 'ses_2', data: '[1,' }],
    });
    const [outcome] = await harvest(home.place);
    expect(outcome?.trouble).toEqual({ malformed: 2 });
    expect(outcome?.sessions.map(({ assistantFinals }) => assistantFinals)).toEqual([
      ['Totals now round half to even.'],
      ['Fine.'],
    ]);
  });

  it('reads only sessions that changed, and forgets those that are gone', async () => {
    using home = homeWith(rows);
    const [first] = await harvest(home.place);
    const marked = first!.sessions.map((session) => ({ ...session, gitBranch: 'as it was' }));
    const later = {
      id: 'ses_3',
      parent_id: null,
      directory: '/srv/new',
      time_created: 1767400000000,
      time_updated: 1767400000000,
    };
    const message = { id: 'msg_9', session_id: 'ses_3', time_created: 1767400000000, data: { role: 'user' } };
    const part = { id: 'prt_99', message_id: 'msg_9', session_id: 'ses_3', data: { type: 'text', text: 'a new one' } };
    buildDatabase(
      home.database,
      {
        session: [rows.session![0]!, later],
        message: [...rows.message!, message],
        part: [...rows.part!, part],
      },
      'log',
    );
    const [second] = await harvest(home.place, { position: first!.position, sessions: marked });
    expect(second?.sessions.map(({ sessionId, gitBranch }) => [sessionId, gitBranch])).toEqual([
      ['ses_1', 'as it was'],
      ['ses_3', ''],
    ]);
    expect(second?.position).toBe(1767400000000);
  });

  it('a time in the future does not hide what comes later', async () => {
    const [one, sub, two] = rows.session!;
    using home = homeWith({ ...rows, session: [one!, sub!, { ...two, time_updated: 9e15 }] });
    expect((await harvest(home.place))[0]?.position).toBe(1767261960000);
  });

  it('an enormous part is counted and not read', async () => {
    const huge = { type: 'text', text: 'x'.repeat(9 * 1024 * 1024) };
    using home = homeWith({
      ...rows,
      part: [...rows.part!, { id: 'prt_00', message_id: 'msg_7', session_id: 'ses_2', data: huge }],
    });
    const [outcome] = await harvest(home.place);
    expect(outcome?.trouble).toEqual({ 'too-long': 1 });
    expect(outcome?.sessions[1]?.assistantFinals).toEqual(['Fine.']);
  });

  it('torn and corrupt databases are trouble, and what was read before is kept', async () => {
    using home = homeWith(rows);
    const [first] = await harvest(home.place);
    writeFileSync(`${home.database}-wal`, readFileSync(`${home.database}-wal`).subarray(0, 5_000));
    const [torn] = await harvest(home.place, first);
    expect(torn?.sessions).toEqual(first?.sessions);
    expect(Object.keys(torn!.trouble)).toHaveLength(1);
    truncateSync(home.database, 50);
    expect((await harvest(home.place, first))[0]).toEqual({ ...first, trouble: { unreadable: 1 } });
  });

  it('another schema is of an unknown version', async () => {
    using home = homeWith({ conversation: [{ id: 1 }] });
    expect((await harvest(home.place))[0]).toEqual({ position: 0, sessions: [], trouble: { 'unknown-version': 1 } });
  });

  it('looks where its variables say', () => {
    const roots = (env: Place['env'], platform: Place['platform'] = 'linux') =>
      opencode.roots({ env, home: '/h', platform });
    expect(roots({})).toEqual(['/h/.local/share/opencode']);
    expect(roots({ XDG_DATA_HOME: '/data' })).toEqual(['/data/opencode']);
    expect(roots({ OPENCODE_DATA_DIR: '/oc', XDG_DATA_HOME: '/data' })).toEqual(['/oc']);
    expect(roots({ OPENCODE_DB: '/x/my.db' })).toEqual(['/x/my.db']);
    expect(roots({ OPENCODE_DB: 'my.db' })).toEqual(['/h/.local/share/opencode/my.db']);
    expect(roots({ OPENCODE_DB: ':memory:' })).toEqual([]);
    expect(roots({ LOCALAPPDATA: '/local' }, 'win32')).toContain('/local/opencode');
  });

  it('lists one file per channel, with its log, and no link', async () => {
    using folder = tempFolder();
    const data = join(folder.path, 'opencode');
    for (const name of ['opencode.db', 'opencode-dev.db', 'other.db']) buildDatabase(join(data, name), rows, 'log');
    symlinkSync(join(data, 'other.db'), join(data, 'opencode-link.db'));
    utimesSync(join(data, 'opencode.db-wal'), 2_000_000_000, 2_000_000_000);
    const files = await opencode.list(data);
    expect(files.map(({ path }) => path)).toEqual(['opencode-dev.db', 'opencode.db'].map((name) => join(data, name)));
    expect(files[1]?.mtimeMs).toBe(2_000_000_000_000);
    expect(await opencode.list(join(folder.path, 'nowhere'))).toEqual([]);
  });
});
