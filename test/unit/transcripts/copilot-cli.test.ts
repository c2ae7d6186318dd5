import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place, ReadSoFar } from '../../../src/transcripts/index.ts';
import { copilotCli } from '../../../src/transcripts/sources/copilot-cli.ts';
import type { ReadOutcome } from '../../../src/transcripts/transcript-source.ts';
import { buildDatabase, fixtureRows, type TableRows, transcriptFixture } from '../../support/foreign-database.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const rows = fixtureRows('copilot-cli/rows.json');
const events = readFileSync(transcriptFixture('copilot-cli/events.jsonl'), 'utf8');
const ids = rows.sessions!.map(({ id }) => String(id));

type Home = { readonly store?: TableRows; readonly logs?: Readonly<Record<string, string>> };

function homeWith({ store, logs = {} }: Home) {
  const folder = tempFolder();
  if (store !== undefined) buildDatabase(join(folder.path, '.copilot/session-store.db'), store, 'log');
  for (const [id, text] of Object.entries(logs)) writeLog(folder.path, id, text);
  return { ...folder, place: { env: {}, home: folder.path, platform: 'linux' } as Place };
}

function writeLog(home: string, id: string, text: string): void {
  const path = join(home, '.copilot/session-state', id, 'events.jsonl');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function harvest(place: Place, before: readonly (ReadSoFar | undefined)[] = []) {
  const files = (await Promise.all(copilotCli.roots(place).map((root) => copilotCli.list(root)))).flat();
  return await Promise.all(files.map((file, index) => copilotCli.read(file, { place, before: before[index] })));
}

const sessionsOf = (outcomes: readonly ReadOutcome[]) => outcomes.flatMap(({ sessions }) => sessions);

const fromLog = {
  source: 'copilot-cli',
  sessionId: ids[0],
  project: '/srv/shop',
  gitBranch: 'main',
  startedAt: '2026-01-01T10:00:00.000Z',
  endedAt: '2026-01-01T10:05:00.000Z',
  userPrompts: ['round the totals', 'now add a test'],
  assistantFinals: ['Rounded.', 'Added one.'],
  toolsUsed: ['bash', 'skill'],
  skillsUsed: ['money'],
};

describe('Copilot CLI', () => {
  it('reads a log of events: what was typed and answered, not what tools got or gave, nor sub-agents', async () => {
    using home = homeWith({ logs: { [ids[0]!]: events } });
    const outcomes = await harvest(home.place);
    expect(outcomes).toMatchObject([{ trouble: {}, sessions: [fromLog] }]);
    expect(JSON.stringify(outcomes)).not.toMatch(/SECRET|hidden|sub-agent|keep going|current_datetime/);
  });

  it('continues a log where it ended', async () => {
    using home = homeWith({ logs: { [ids[0]!]: events.split('\n').slice(0, 6).join('\n') } });
    const first = await harvest(home.place);
    writeLog(home.path, ids[0]!, events);
    expect(await harvest(home.place, first)).toMatchObject([{ sessions: [fromLog] }]);
  });

  it('reads the database, whose times are in UTC', async () => {
    using home = homeWith({ store: rows });
    const [store] = await harvest(home.place);
    expect(store).toMatchObject({ position: Date.parse('2026-01-02T10:05:00.250Z'), trouble: {} });
    expect(store?.sessions).toMatchObject([
      { ...fromLog, toolsUsed: ['edit'], skillsUsed: [], filesTouched: ['/srv/shop/cart.ts'] },
      { sessionId: ids[1], project: '/srv/blog', userPrompts: ['write a post about cheese'] },
    ]);
  });

  it('a session that is in both counts once, as its log has it', async () => {
    using home = homeWith({ store: rows, logs: { [ids[0]!]: events } });
    const sessions = sessionsOf(await harvest(home.place));
    expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual(ids);
    expect(sessions.find(({ sessionId }) => sessionId === ids[0])?.toolsUsed).toEqual(['bash', 'skill']);
  });

  it('reads again only what changed in the database', async () => {
    using home = homeWith({ store: rows });
    const [first] = await harvest(home.place);
    const marked = first!.sessions.map((session) => ({ ...session, gitBranch: 'as it was' }));
    const [second] = await harvest(home.place, [{ position: first!.position, sessions: marked }]);
    expect(second?.sessions.map(({ gitBranch }) => gitBranch)).toEqual(['as it was', '']);
  });

  it('torn, corrupt and enormous lines are counted', async () => {
    const huge = JSON.stringify({ type: 'user.message', data: { content: 'x'.repeat(9 * 1024 * 1024) } });
    const lines = events.trimEnd().split('\n');
    const text = [
      ...lines.slice(0, 12),
      '{"type":"user.message","data":',
      huge,
      lines[12],
      lines[13]!.slice(0, 50),
    ].join('\n');
    using home = homeWith({ logs: { [ids[0]!]: text } });
    const [outcome] = await harvest(home.place);
    expect(outcome?.trouble).toEqual({ malformed: 1, 'too-long': 1, torn: 1 });
    expect(outcome?.sessions[0]?.userPrompts).toEqual(fromLog.userPrompts);
  });

  it('an enormous turn is counted and not read; a database of another kind is of an unknown version', async () => {
    const turn = { ...rows.turns![0], turn_index: 9, user_message: 'x'.repeat(9 * 1024 * 1024) };
    using home = homeWith({ store: { ...rows, turns: [...rows.turns!, turn] } });
    const [outcome] = await harvest(home.place);
    expect(outcome?.trouble).toEqual({ 'too-long': 1 });
    expect(outcome?.sessions[0]?.userPrompts).toEqual(fromLog.userPrompts);
    using other = homeWith({ store: { sessions: rows.sessions! } });
    expect(await harvest(other.place)).toEqual([{ position: 0, sessions: [], trouble: { 'unknown-version': 1 } }]);
  });

  it('looks where its variables say', () => {
    const roots = (env: Place['env']) => copilotCli.roots({ env, home: '/h', platform: 'linux' });
    expect(roots({})).toEqual(['/h/.copilot']);
    expect(roots({ COPILOT_HOME: '/c', XDG_STATE_HOME: '/s' })).toEqual(['/c']);
    expect(roots({ XDG_STATE_HOME: '/s', XDG_CONFIG_HOME: '/x' })).toEqual([
      '/h/.copilot',
      '/s/.copilot',
      '/x/.copilot',
    ]);
  });
});
