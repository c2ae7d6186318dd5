import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place } from '../../../src/transcripts/index.ts';
import { devin } from '../../../src/transcripts/sources/devin.ts';
import { buildDatabase, transcriptFixture } from '../../support/foreign-database.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const text = readFileSync(transcriptFixture('devin/session.json'), 'utf8');
const folderOfCli = '.local/share/devin/cli';
const transcript = `${folderOfCli}/transcripts/zinc-order.json`;

async function harvestAt(home: string) {
  const place: Place = { env: {}, home, platform: 'linux' };
  const listed = (await Promise.all(devin.roots(place).map((root) => devin.list(root)))).flat();
  return await Promise.all(listed.map((file) => devin.read(file, { place })));
}

async function harvest(transcriptText: string) {
  using folder = tempFolder({ [transcript]: transcriptText });
  return (await harvestAt(folder.path))[0];
}

const told = {
  source: 'devin',
  sessionId: 'zinc-order',
  startedAt: '2026-01-01T10:00:00.000Z',
  endedAt: '2026-01-01T10:09:00.000Z',
  userPrompts: ['round the totals'],
  toolsUsed: ['shell'],
};

describe('Devin', () => {
  it('38: every reply of the agent counts, not as many as there are prompts, and nothing is stamped with a new time', async () => {
    const outcome = await harvest(text);
    expect(outcome).toMatchObject({ trouble: {}, sessions: [told] });
    expect(outcome?.sessions[0]?.assistantFinals).toEqual([
      'First.',
      'Second.',
      'Third: all totals round half to even.',
    ]);
    expect(await harvest(text)).toEqual(outcome);
    expect(JSON.stringify(outcome)).not.toMatch(/SECRET|REASONING|earlier session|You are Devin|continue/);
  });

  it('38: of many replies the last five are kept', async () => {
    const step = (index: number) => ({ source: 'agent', message: `reply ${index}`, timestamp: '2026-01-01T10:00:00Z' });
    const steps = [{ source: 'user', message: 'go' }, ...Array.from({ length: 9 }, (_, index) => step(index))];
    const outcome = await harvest(JSON.stringify({ schema_version: 'ATIF-v1.4', session_id: 'x', steps }));
    expect(outcome?.sessions[0]?.assistantFinals).toEqual([4, 5, 6, 7, 8].map((index) => `reply ${index}`));
    expect(outcome?.sessions[0]?.nAssistantTurns).toBe(9);
  });

  it('takes the folder from the database beside it, and does without one that is damaged', async () => {
    using folder = tempFolder({ [transcript]: text });
    const database = join(folder.path, folderOfCli, 'sessions.db');
    buildDatabase(database, { sessions: [{ id: 'zinc-order', working_directory: '/srv/shop' }] }, 'log');
    expect((await harvestAt(folder.path))[0]?.sessions[0]?.project).toBe('/srv/shop');
    using damaged = tempFolder({ [transcript]: text, [`${folderOfCli}/sessions.db`]: 'not a database' });
    expect((await harvestAt(damaged.path))[0]).toMatchObject({ trouble: {}, sessions: [{ ...told, project: '' }] });
  });

  it.each(['ATIF-v1.0', 'ATIF-v1.8'])('reads %s', async (version) => {
    expect((await harvest(text.replace('ATIF-v1.7', version)))?.sessions).toHaveLength(1);
  });

  it.each(['ATIF-v1.9', 'ATIF-v2.0', 'something'])('%s is an unknown version', async (version) => {
    const outcome = await harvest(text.replace('ATIF-v1.7', version));
    expect(outcome).toMatchObject({ sessions: [], trouble: { 'unknown-version': 1 } });
  });

  it('torn, corrupt, other and enormous files are trouble', async () => {
    expect(await harvest(text.slice(0, 400))).toMatchObject({ sessions: [], trouble: { malformed: 1 } });
    expect(await harvest('[]')).toMatchObject({ sessions: [], trouble: { 'unknown-version': 1 } });
    const odd = JSON.stringify({
      schema_version: 'ATIF-v1.7',
      steps: [null, 7, { source: 'user', message: 3 }, { source: 'agent' }],
    });
    expect(await harvest(odd)).toMatchObject({ sessions: [], trouble: {} });
    expect(await harvest(`${' '.repeat(65 * 1024 * 1024)}${text}`)).toMatchObject({ trouble: { 'too-large': 1 } });
  });

  it('looks where its variables say', () => {
    const roots = (env: Place['env'], platform: Place['platform'] = 'linux') =>
      devin.roots({ env, home: '/h', platform });
    expect(roots({})).toEqual(['/h/.local/share/devin/cli/transcripts']);
    expect(roots({ XDG_DATA_HOME: '/d' })).toEqual(['/d/devin/cli/transcripts']);
    expect(roots({ CHISEL_SESSION_DB: '/x/sessions.db' })).toEqual(['/x/transcripts']);
    expect(roots({ LOCALAPPDATA: '/l' }, 'win32')).toContain('/l/devin/cli/transcripts');
  });
});
