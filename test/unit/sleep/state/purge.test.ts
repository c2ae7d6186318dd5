import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  giveConsent,
  harvest,
  makeNight,
  openSessionIndex,
  openSleepState,
  purge,
  recordNight,
  retain,
  TaskRecord,
} from '../../../../src/sleep/index.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { at, NOW, notesSource, placeAt, writeNote } from '../notes-source.ts';

const PROJECTS = ['/p/one', '/p/two'];

/** A state with a night, a task and a session of each of two projects, and a consent. */
async function setUp() {
  const home = tempFolder();
  const place = placeAt(home.path);
  const folder = join(home.path, 'state');
  for (const project of PROJECTS)
    writeNote(join(home.path, 'notes', `${project.slice(3)}.note`), [[project, at(30), 'secret words']]);
  const open = await openSleepState(folder);
  {
    using index = await openSessionIndex(folder);
    await harvest({ sources: [notesSource(join(home.path, 'notes'))], place, index, scope: 'all', now: NOW });
  }
  for (const [n, project] of PROJECTS.entries()) {
    const { night } = await makeNight(folder, open.state, project);
    const task = TaskRecord.parse({ id: project, project, intent: 'secret words' });
    const row = { project, night, at: at(24 * (n + 1)), accepted: false, nTasks: 1 };
    await open.update((state) => recordNight(state, { row, tasks: [task] }));
  }
  await open.update((state) => giveConsent(state, { provider: 'x', by: 'me', at: at(1), textVersion: 1 }));
  const close = async () => {
    await open[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  };
  return { folder, place, open, [Symbol.asyncDispose]: close };
}

it('all leaves settings, and says what it removed', async () => {
  await using world = await setUp();
  for (const name of ['config.yaml', '.skilloptignore', 'state.json.corrupt-1'])
    writeFileSync(join(world.folder, name), '');
  expect(await purge(world.open, { what: 'all', place: world.place })).toEqual({
    'archived tasks': 2,
    consents: 1,
    'lines of history': 2,
    'projects with their cursors': 2,
    nights: 2,
    indexes: 1,
    'damaged files': 1,
  });
  expect(readdirSync(world.folder).sort()).toEqual([
    '.skilloptignore',
    'config.yaml',
    'nights',
    'state.json',
    'state.lock',
  ]);
  expect(await purge(world.open, { what: 'all', place: world.place })).toEqual({});
});

it.each([
  ['archive', { 'archived tasks': 1 }],
  ['index', { 'indexed files': 1 }],
  ['nights', { nights: 1, 'lines of history': 1 }],
  [
    'all',
    { 'archived tasks': 1, 'indexed files': 1, nights: 1, 'lines of history': 1, 'projects with their cursors': 1 },
  ],
] as const)('%s of one project leaves the other alone', async (what, removed) => {
  await using world = await setUp();
  expect(await purge(world.open, { what, project: '/p/one', place: world.place })).toEqual(removed);
  expect(await purge(world.open, { what, project: '/p/one', place: world.place })).toEqual({});
  expect(await purge(world.open, { what, project: '/p/two', place: world.place })).toEqual(removed);
});

it('consent is asked again, and is of no project', async () => {
  await using world = await setUp();
  await expect(purge(world.open, { what: 'consent', project: '/p', place: world.place })).rejects.toMatchObject({
    code: 'USAGE',
  });
  expect(await purge(world.open, { what: 'consent', place: world.place })).toEqual({ consents: 1 });
  expect(world.open.state.consents).toEqual([]);
});

it('retention drops what is too old or too much', async () => {
  await using world = await setUp();
  const [night] = readdirSync(join(world.folder, 'nights')).map((name) => join(world.folder, 'nights', name, '1'));
  mkdirSync(join(night!, 'steps'));
  utimesSync(night!, new Date(at(24 * 40)), new Date(at(24 * 40)));
  expect(await retain(world.open, { days: 1.5, entries: 9 }, NOW)).toEqual({
    'archived tasks': 1,
    'lines of history': 1,
    nights: 1,
  });
  expect(existsSync(night!)).toBe(false);
  expect(await retain(world.open, { days: 99, entries: 9 }, NOW)).toEqual({});
  await world.open.update((state) => ({ ...state, taskArchive: [...state.taskArchive, ...state.taskArchive] }));
  expect(await retain(world.open, { days: 99, entries: 1 }, NOW)).toEqual({ 'archived tasks': 1 });
});
