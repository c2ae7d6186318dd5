import { appendFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findSource, SessionDigest, transcriptSources } from '../../src/transcripts/index.ts';
import { statFile } from '../../src/transcripts/read/list-files.ts';
import { expectEvery } from '../support/expect-every.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { ana, filesIn, fixtureHome, inHome, readFixture } from '../support/transcript-fixture.ts';

/** Sources whose transcripts are files of lines. Those in databases are tested beside their readers. */
const lineSources = ['claude', 'codex', 'gemini', 'qwen', 'pi'];

const copyOf = (source: string) => {
  const folder = tempFolder();
  cpSync(fixtureHome(source), folder.path, { recursive: true });
  return folder;
};

const goodFile = async (source: string) => (await filesIn(source)).find(({ path }) => path.endsWith('good.jsonl'))!;

describe.each(lineSources)('%s', (name) => {
  const source = findSource(name);

  it('gives digests of the agreed shape', async () => {
    const { sessions } = await readFixture(name, 'good.jsonl');
    expect(sessions.map((session) => SessionDigest.parse(session))).toEqual(sessions);
    expect(sessions[0]).toMatchObject({ source: name, project: expect.stringMatching(/^~\//) });
  });

  it('keeps no argument, no output, no reasoning and no home', async () => {
    const { sessions } = await readFixture(name, 'good.jsonl');
    const kept = JSON.stringify(sessions.map(({ folder, ...shown }) => shown)); // the real folder stays in the private index
    expect(kept).not.toMatch(/ARGUMENT-OF-A-TOOL|OUTPUT-OF-A-TOOL|SECRET-REASONING|secret thoughts|\/home\/ana/);
  });

  it('redacts every text that it keeps', async () => {
    const file = await goodFile(name);
    const place = { ...ana, home: '/elsewhere' };
    const { sessions } = await source.read(file, { place, redact: (text) => text.replace(/[aeiou]/g, '*') });
    const { source: _, startedAt, endedAt, feedbackSignals, rawPath, folder, ...texts } = sessions[0]!;
    expect(JSON.stringify(Object.values(texts))).not.toMatch(/[aeiou]/);
  });

  it('stays before a torn last line, and reads it when it is whole', async () => {
    const { sessions, trouble, position } = await readFixture(name, 'torn.jsonl');
    expect(trouble).toEqual({ torn: 1 });
    expect(sessions[0]!.userPrompts).toHaveLength(1);
    expect(position).toBeGreaterThan(0);
  });

  it('12: reads what can be read of a corrupt file, and counts the rest', async () => {
    const { sessions, trouble } = await readFixture(name, 'corrupt.jsonl');
    expect(trouble).toMatchObject({ 'invalid-utf8': 1, malformed: expect.any(Number) });
    expect(trouble.malformed).toBeGreaterThanOrEqual(4);
    expect(sessions[0]!.assistantFinals).toEqual(['Repaired.']);
  });

  it('drops a huge line and goes on behind it', async () => {
    using folder = copyOf(name);
    const path = inHome((await goodFile(name)).path, name, folder.path);
    const before = await source.read((await statFile(path))!, { place: ana });
    const [first, ...rest] = readFileSync(path, 'utf8').split('\n');
    writeFileSync(
      path,
      [first, `{"type":"user","message":{"content":"${'x'.repeat(9_000_000)}"}}`, ...rest].join('\n'),
    );
    const after = await source.read((await statFile(path))!, { place: ana });
    expect(after.sessions).toEqual(before.sessions);
    expect(after.trouble).toEqual({ 'too-long': 1 });
  });

  it('gives the same digest whether a file is read at once or as it grows', async () => {
    using folder = copyOf(name);
    const path = inHome((await goodFile(name)).path, name, folder.path);
    const bytes = readFileSync(path);
    const whole = await source.read((await statFile(path))!, { place: ana });
    for (let cut = 0; cut < bytes.length; cut += 389) {
      writeFileSync(path, bytes.subarray(0, cut));
      const before = await source.read((await statFile(path))!, { place: ana });
      appendFileSync(path, bytes.subarray(cut));
      const { sessions, position } = await source.read((await statFile(path))!, { place: ana, before });
      expect({ sessions, position, cut }).toEqual({ sessions: whole.sessions, position: whole.position, cut });
    }
  });

  it('begins again when a file is shorter than it was', async () => {
    const whole = await readFixture(name, 'good.jsonl');
    const before = { position: 10_000_000, sessions: whole.sessions };
    expect((await source.read(await goodFile(name), { place: ana, before })).sessions).toEqual(whole.sessions);
  });

  it('finds nothing where nothing is, and cannot read what is gone', async () => {
    expect(await filesIn(name, '/nowhere')).toEqual([]);
    const file = { path: '/nowhere/x.jsonl', identity: '1:1', size: 5, mtimeMs: 5 };
    expect(await source.read(file, { place: ana })).toEqual({ position: 0, sessions: [], trouble: { unreadable: 1 } });
  });

  it('throws when it is aborted', async () => {
    const signal = AbortSignal.abort(new Error('stop'));
    await expect(source.read(await goodFile(name), { place: ana, signal })).rejects.toThrow('stop');
  });
});

describe.each(transcriptSources.map(({ name }) => name))('%s, in lines or in a database', (name) => {
  it('finds nothing where nothing is', async () => {
    using folder = tempFolder();
    expect(await filesIn(name, folder.path)).toEqual([]);
  });

  it('gives no session of what is gone, and says so', async () => {
    const file = { path: '/nowhere/x', identity: '1:1', size: 5, mtimeMs: 5 };
    const { sessions, trouble } = await findSource(name).read(file, { place: ana });
    expect([sessions, Object.keys(trouble).length]).toEqual([[], 1]);
  });
});

it('every source has a name of its own and a title', () => {
  const names = transcriptSources.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
  expectEvery(transcriptSources, ({ title }) => title !== '');
});
