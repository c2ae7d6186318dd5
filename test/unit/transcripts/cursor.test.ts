import { mkdirSync, readFileSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place, ReadSoFar } from '../../../src/transcripts/index.ts';
import { cursor } from '../../../src/transcripts/sources/cursor.ts';
import { transcriptFixture } from '../../support/foreign-database.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const text = readFileSync(transcriptFixture('cursor/session.jsonl'), 'utf8');
const project = '.cursor/projects/home-u-my-proj';
const session = `${project}/agent-transcripts/s1/s1.jsonl`;

async function harvestAt(home: string, before?: ReadSoFar) {
  const place: Place = { env: {}, home, platform: 'linux' };
  const listed = (await Promise.all(cursor.roots(place).map((root) => cursor.list(root)))).flat();
  return await Promise.all(listed.map((file) => cursor.read(file, { place, before })));
}

async function harvest(files: Readonly<Record<string, string>>) {
  using folder = tempFolder(files);
  return await harvestAt(folder.path);
}

const told = {
  source: 'cursor',
  sessionId: 's1',
  userPrompts: ['round the totals', '<user_query>a</user_query> is what the tag looks like'],
  assistantFinals: ['I will look.', 'Yes.'],
  toolsUsed: ['Read', 'Shell'],
  feedbackSignals: ['neg:cursor_turn_error'],
};

describe('Cursor', () => {
  it('fact 31: gives what was typed inside the query at the end, tools by name, and an error of a turn', async () => {
    const outcomes = await harvest({
      [session]: text,
      [`${project}/.workspace-trusted`]: '{"workspacePath":"/home/u/my proj"}',
    });
    expect(outcomes).toMatchObject([{ trouble: {}, sessions: [{ ...told, project: '/home/u/my proj' }] }]);
    expect(JSON.stringify(outcomes)).not.toContain('SECRET');
  });

  it('fact 31: differs: a slug is a name for people, never made from a path or into one', async () => {
    expect((await harvest({ [session]: text }))[0]?.sessions[0]?.project).toBe('home-u-my-proj');
    const untrusted = { [session]: text, [`${project}/.workspace-trusted`]: '{"workspacePath":' };
    expect((await harvest(untrusted))[0]?.sessions[0]?.project).toBe('home-u-my-proj');
  });

  it('ends when the file was last written; a single short prompt is no sign of a program', async () => {
    using folder = tempFolder({ [session]: text.split('\n').slice(0, 2).join('\n') });
    utimesSync(join(folder.path, session), 1_767_261_600, 1_767_261_600);
    const [outcome] = await harvestAt(folder.path);
    expect(outcome?.sessions[0]).toMatchObject({ startedAt: '', endedAt: '2026-01-01T10:00:00.000Z' });
    expect(outcome?.sessions[0]).not.toHaveProperty('leftOut');
  });

  it('continues where it ended', async () => {
    const lines = text.trimEnd().split('\n');
    using earlier = tempFolder({ [session]: `${lines.slice(0, 2).join('\n')}\n` });
    const [first] = await harvestAt(earlier.path);
    using later = tempFolder({ [session]: text });
    expect(await harvestAt(later.path, first)).toMatchObject([{ sessions: [told] }]);
  });

  it('an agent that worked for us is left out, by folder or by slug', async () => {
    const slug = '.cursor/projects/tmp-skillopt-agent-Ab12-work';
    const [outcome] = await harvest({ [`${slug}/agent-transcripts/s1.jsonl`]: text });
    expect(outcome?.sessions[0]?.leftOut).toBe('own-call');
  });

  it('torn, corrupt and enormous lines are counted', async () => {
    const lines = text.trimEnd().split('\n');
    const huge = JSON.stringify({ role: 'user', message: { content: 'x'.repeat(9 * 1024 * 1024) } });
    const [outcome] = await harvest({ [session]: [...lines, huge, 'null', '{"role":"user"'].join('\n') });
    expect(outcome).toMatchObject({ trouble: { 'too-long': 1, malformed: 1, torn: 1 }, sessions: [told] });
  });

  it('lists sessions in both layouts, no sub-agents and no links', async () => {
    using folder = tempFolder({
      [session]: text,
      [`${project}/agent-transcripts/s2.jsonl`]: text,
      [`${project}/agent-transcripts/s1/subagents/s3.jsonl`]: text,
      [`${project}/agent-transcripts/subagents/s4.jsonl`]: text,
      [`${project}/terminals/s5.jsonl`]: text,
      'elsewhere/agent-transcripts/s6.jsonl': text,
    });
    mkdirSync(join(folder.path, '.cursor/projects/p2'));
    symlinkSync(
      join(folder.path, 'elsewhere/agent-transcripts'),
      join(folder.path, '.cursor/projects/p2/agent-transcripts'),
    );
    const files = await cursor.list(join(folder.path, '.cursor/projects'));
    expect(files.map(({ path }) => path.slice(folder.path.length + 1))).toEqual([
      session,
      `${project}/agent-transcripts/s2.jsonl`,
    ]);
  });

  it('looks where its variable says', () => {
    const roots = (env: Place['env']) => cursor.roots({ env, home: '/h', platform: 'linux' });
    expect(roots({})).toEqual(['/h/.cursor/projects']);
    expect(roots({ CURSOR_DATA_DIR: '/c' })).toEqual(['/c/projects']);
  });
});
