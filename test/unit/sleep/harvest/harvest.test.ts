import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type HarvestOptions, harvest, openSessionIndex, overview } from '../../../../src/sleep/index.ts';
import type { ReadOptions, TranscriptFile } from '../../../../src/transcripts/index.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { at, HOUR, NOW, notesSource, placeAt, writeNote } from '../notes-source.ts';

const noSession = Promise.resolve({ position: 0, sessions: [], trouble: { unreadable: 1 } });

/** A home with a source of notes, and its index. */
async function setUp() {
  const folder = tempFolder();
  const home = folder.path;
  mkdirSync(join(home, 'notes'));
  const source = notesSource(join(home, 'notes'));
  const index = await openSessionIndex(join(home, 'state'));
  const note = (id: string, project: string, time: string, ...prompts: string[]) =>
    writeNote(
      join(home, 'notes', `${id}.note`),
      prompts.map((prompt) => [project, time, prompt] as const),
    );
  const run = (options: Partial<HarvestOptions> = {}) =>
    harvest({ sources: [source], place: placeAt(home), scope: 'all', index, now: NOW, ...options });
  const idsOf = async (options: Partial<HarvestOptions> = {}) =>
    (await run(options)).sessions.map(({ sessionId }) => sessionId);
  const close = () => {
    index[Symbol.dispose]();
    folder[Symbol.dispose]();
  };
  return {
    home,
    source,
    index,
    note,
    run,
    idsOf,
    path: (id: string) => join(home, 'notes', `${id}.note`),
    [Symbol.dispose]: close,
  };
}

const textOf = (folder: string) =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join();

describe('time', () => {
  it('13: a session that ended after `since` is found, in whatever zone `since` was written', async () => {
    using world = await setUp();
    world.note('later', '/p', '2026-03-10T04:00:00.000Z', 'mend the login form');
    world.note('earlier', '/p', '2026-03-09T23:00:00.000Z', 'mend the search form');
    // As text, 08:00+08:00 sorts after both; as a moment it lies between them.
    expect(await world.idsOf({ since: '2026-03-10T08:00:00+08:00' })).toEqual(['later']);
    expect(await world.idsOf({ since: '2026-03-09T19:00:00-05:00' })).toEqual(['later']);
    expect(await world.idsOf({ since: new Date('2026-03-09T23:00:00Z') })).toEqual(['later', 'earlier']);
  });

  it('13: a time without its zone is refused', async () => {
    using world = await setUp();
    const refused = { code: 'USAGE', message: expect.stringContaining('2026-03-10T08:00:00"') };
    await expect(world.run({ since: '2026-03-10T08:00:00' })).rejects.toMatchObject(refused);
  });

  it('20: looks back as many hours as it is told while there is no cursor, and 0 is all', async () => {
    using world = await setUp();
    world.note('new', '/p', at(71), 'one two three');
    world.note('old', '/p', at(73), 'one two three');
    expect(await world.idsOf({ lookbackHours: 72 })).toEqual(['new']);
    expect(await world.idsOf({ lookbackHours: 0 })).toEqual(['new', 'old']);
  });

  it('a session without a time is never too old', async () => {
    using world = await setUp();
    world.note('timeless', '/p', '', 'one two three');
    expect(await world.idsOf({ lookbackHours: 1 })).toEqual(['timeless']);
  });
});

describe('the cursor', () => {
  it('19: sessions over the limit are found by the next nights', async () => {
    using world = await setUp();
    for (const hour of [1, 2, 3, 4, 5]) world.note(`s${hour}`, '/p', at(hour), 'one two three');
    const found: string[][] = [];
    let cursors = {};
    for (let night = 0; night < 4; night += 1) {
      const { sessions, newCursor, considered } = await world.run({ cursors, limit: 2, lookbackHours: 72 });
      found.push(sessions.map(({ sessionId }) => sessionId));
      expect(considered.overLimit).toBe(Math.max(0, 3 - night * 2));
      cursors = newCursor;
    }
    expect(found).toEqual([['s1', 's2'], ['s3', 's4'], ['s5'], []]);
  });

  it('19: an older session that comes late is not lost', async () => {
    using world = await setUp();
    world.note('first', '/p', at(1), 'one two three');
    const { newCursor } = await world.run({ lookbackHours: 72 });
    world.note('late', '/p', at(50), 'one two three');
    expect(await world.idsOf({ cursors: newCursor, lookbackHours: 1 })).toEqual(['late']);
  });

  it('19: a session that grows is considered again, and only then', async () => {
    using world = await setUp();
    world.note('s', '/p', at(5), 'one two three');
    const { newCursor } = await world.run();
    expect(await world.idsOf({ cursors: newCursor })).toEqual([]);
    world.note('s', '/p', at(4), 'one two three', 'now the other one');
    expect(await world.idsOf({ cursors: newCursor })).toEqual(['s']);
  });

  it('19: stays where it is when an explicit `since` looks at less', async () => {
    using world = await setUp();
    world.note('new', '/p', at(1), 'one two three');
    world.note('old', '/p', at(60), 'one two three');
    const { newCursor } = await world.run({ since: at(2), lookbackHours: 72 });
    expect(await world.idsOf({ cursors: newCursor })).toEqual(['old']);
  });

  it('19: forgets single sessions after a month, but never goes past one that waits', async () => {
    using world = await setUp();
    for (const day of [1, 40, 50]) world.note(`d${day}`, '/p', at(day * 24), 'one two three');
    const first = await world.run({ limit: 1 });
    expect(await world.idsOf({ cursors: first.newCursor })).toEqual(['d40', 'd50']);
    const second = await world.run({ cursors: first.newCursor });
    expect(second.newCursor.notes?.considered.map(({ sessionId }) => sessionId)).toEqual(['d1']);
    expect(await world.idsOf({ cursors: second.newCursor })).toEqual([]);
  });
});

describe('files', () => {
  it('18: a file that has not changed is not opened, whatever the scope and the time', async () => {
    using world = await setUp();
    for (const id of ['a', 'b', 'c']) world.note(id, `/projects/${id}`, at(9), 'one two three');
    await world.run();
    expect(world.source.opened).toHaveLength(3);
    const { sessions, considered } = await world.run({ scope: ['/projects/a'], since: at(10) });
    expect(sessions.map(({ userPrompts }) => userPrompts)).toEqual([['one two three']]);
    expect(considered).toMatchObject({ files: 3, filesRead: 0, sessions: 3, otherProjects: 2 });
    expect(overview(world.index)).toMatchObject({ sessions: 3, usable: 3, firstAt: at(9), lastAt: at(9) });
    expect(world.source.opened).toHaveLength(3);
  });

  it('one written within the last two seconds is opened again, since its clock may stand still', async () => {
    using world = await setUp();
    world.note('a', '/p', new Date(NOW - 1_000).toISOString(), 'first words here');
    await world.run();
    world.note('a', '/p', new Date(NOW - 1_000).toISOString(), 'other words here');
    expect((await world.run({ now: NOW + HOUR })).sessions[0]?.userPrompts).toEqual(['other words here']);
    await world.run({ now: NOW + HOUR });
    expect(world.source.opened).toHaveLength(2);
  });

  it('one that has grown is read from where it was left; one written again in place is read whole', async () => {
    using world = await setUp();
    world.note('a', '/p', at(9), 'one two three');
    await world.run();
    appendFileSync(world.path('a'), `/p\t${at(8)}\tfour five six\n`);
    expect((await world.run()).sessions[0]?.userPrompts).toEqual(['one two three', 'four five six']);
    writeFileSync(
      world.path('a'),
      ['seven', 'eight', 'nine', 'ten'].map((word) => `/p\t${at(7)}\t${word} and more\n`).join(''),
    );
    expect((await world.run()).sessions[0]?.userPrompts).toHaveLength(4);
  });

  it('one that is gone is forgotten, and one that was moved is no second session', async () => {
    using world = await setUp();
    world.note('a', '/p', at(9), 'one two three');
    world.note('b', '/p', at(9), 'one two three');
    await world.run();
    rmSync(world.path('b'));
    mkdirSync(join(world.home, 'notes', 'archive'));
    renameSync(world.path('a'), join(world.home, 'notes', 'archive', 'a.note'));
    expect(await world.idsOf()).toEqual(['a']);
    expect(world.index.files().map(({ path }) => path)).toEqual([join(world.home, 'notes', 'archive', 'a.note')]);
  });

  it('a source that cannot be listed or throws is trouble, and the others are harvested', async () => {
    using world = await setUp();
    world.note('a', '/p', at(9), 'one two three');
    const gone = notesSource(join(world.home, 'nowhere'), 'gone');
    const thrower = {
      ...notesSource(join(world.home, 'notes'), 'thrower'),
      read: () => Promise.reject(new Error('boom')),
    };
    const { sessions, trouble } = await world.run({ sources: [gone, thrower, world.source] });
    expect(sessions).toHaveLength(1);
    expect(trouble).toEqual([
      { source: 'gone', path: join(world.home, 'nowhere'), trouble: { unreadable: 1 } },
      { source: 'thrower', path: world.path('a'), trouble: { unreadable: 1 } },
    ]);
  });

  it('trouble of a file is reported also when it is not opened again', async () => {
    using world = await setUp();
    world.note('a', '/p', at(9), 'one two three');
    appendFileSync(world.path('a'), '/p\thalf a li');
    utimesSync(world.path('a'), (NOW - HOUR) / 1000, (NOW - HOUR) / 1000);
    const torn = [{ source: 'notes', path: world.path('a'), trouble: { torn: 1 } }];
    expect((await world.run()).trouble).toEqual(torn);
    expect((await world.run()).trouble).toEqual(torn);
    expect(world.source.opened).toHaveLength(1);
  });

  it('stops when it is aborted, and keeps what it has read', async () => {
    using world = await setUp();
    for (let n = 0; n < 40; n += 1) world.note(`n${n}`, '/p', at(9), 'one two three');
    const stop = new AbortController();
    const aborted = world.run({ signal: stop.signal, onProgress: ({ done }) => done === 10 && stop.abort() });
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    const before = world.source.opened.length;
    await world.run();
    expect(world.source.opened.length - before).toBeLessThan(40);
  });
});

describe('what counts', () => {
  it('20, fact 27 differs: the folder and below it, under its own name and its real one; not the folders above', async () => {
    using world = await setUp();
    mkdirSync(join(world.home, 'code', 'app'), { recursive: true });
    symlinkSync(join(world.home, 'code'), join(world.home, 'link'));
    for (const [id, project] of Object.entries({
      app: 'code/app',
      below: 'code/app/sub',
      above: 'code',
      beside: 'code/app2',
      linked: 'link/app',
    }))
      world.note(id, join(world.home, project), at(9), 'one two three');
    world.note('nowhere', '', at(9), 'one two three');
    expect((await world.idsOf({ scope: [join(world.home, 'code', 'app')] })).sort()).toEqual(['app', 'below']);
    expect((await world.idsOf({ scope: [join(world.home, 'link', 'app')] })).sort()).toEqual([
      'app',
      'below',
      'linked',
    ]);
    expect((await world.idsOf({ scope: ['~/code/app/sub', '~/code/app2'] })).sort()).toEqual(['below', 'beside']);
    expect(await world.idsOf({ scope: 'all' })).toHaveLength(6);
  });

  it('what is left out is counted by its reason', async () => {
    using world = await setUp();
    world.note('kept', '/p', at(9), 'one two three');
    world.note('private', '/p', at(9), 'do not learn this');
    const { sessions, considered } = await world.run();
    expect(sessions).toHaveLength(1);
    expect(considered).toMatchObject({ sessions: 2, leftOut: { 'asked-not-to': 1 } });
    expect(overview(world.index)).toMatchObject({ sessions: 2, usable: 1 });
  });

  it('a session whose file goes away before its texts are read waits for another night', async () => {
    using world = await setUp();
    world.note('a', '/p', at(9), 'one two three');
    world.note('b', '/p', at(8), 'four five six');
    const path = world.path('b');
    const source = {
      ...world.source,
      read: (file: TranscriptFile, options: ReadOptions) =>
        file.path === path && !options.factsOnly ? noSession : world.source.read(file, options),
    };
    const { sessions, trouble, newCursor } = await world.run({ sources: [source] });
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['a']);
    expect(trouble).toEqual([{ source: 'notes', path, trouble: { unreadable: 1 } }]);
    expect(await world.idsOf({ cursors: newCursor })).toEqual(['b']);
  });

  it('the index holds no text of a session', async () => {
    using world = await setUp();
    world.note('s', '/p', at(9), 'a most unusual wish');
    expect((await world.run()).sessions[0]?.userPrompts).toEqual(['a most unusual wish']);
    world.index[Symbol.dispose]();
    expect(textOf(join(world.home, 'state'))).not.toContain('unusual');
  });

  it('28: no secret reaches the index when the redactor takes it out', async () => {
    using world = await setUp();
    world.note('s', '/p', at(9), 'use the token hunter2-hunter2 please');
    const { sessions } = await world.run({ redact: (text) => text.replaceAll('hunter2-hunter2', '[secret]') });
    expect(sessions[0]?.userPrompts).toEqual(['use the token [secret] please']);
    world.index[Symbol.dispose]();
    expect(textOf(join(world.home, 'state'))).not.toContain('hunter2');
    using index = await openSessionIndex(join(world.home, 'state'));
    expect(index.files()).toHaveLength(1);
  });
});
