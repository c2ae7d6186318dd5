import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  cursorsOf,
  giveConsent,
  hasConsent,
  listNights,
  makeNight,
  nightOf,
  openSessionIndex,
  openSleepState,
  readSleepState,
  recordNight,
  TaskRecord,
} from '../../../../src/sleep/index.ts';
import { projectFolderName } from '../../../../src/sleep/state/folders.ts';
import { emptyState } from '../../../../src/sleep/state/sleep-state.ts';
import { openStateFolder, stateFolderOf } from '../../../../src/stores/index.ts';
import { programArgs } from '../../../support/compiled.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const isRoot = process.getuid?.() === 0;
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const row = { project: '/p', night: 1, at: '2026-03-10T00:00:00.000Z', accepted: false, nTasks: 3 };
const cursors = { claude: { from: '2026-03-01T00:00:00.000Z', considered: [] } };
const task = (text: string) => TaskRecord.parse({ id: 't', project: '/p', intent: text });

describe('the state folder', () => {
  it.each([
    [{ env: { SKILLOPT_HOME: '/x/y' }, home: '/h', platform: 'linux' }, '/x/y'],
    [{ env: { SKILLOPT_HOME: '~/y' }, home: '/h', platform: 'linux' }, '/h/y'],
    [{ env: {}, home: '/h', platform: 'linux' }, '/h/.local/state/skillopt'],
    [{ env: { XDG_STATE_HOME: '/xdg' }, home: '/h', platform: 'linux' }, '/xdg/skillopt'],
    [{ env: { XDG_STATE_HOME: 'relative' }, home: '/h', platform: 'linux' }, '/h/.local/state/skillopt'],
    [{ env: {}, home: '/h', platform: 'darwin' }, '/h/Library/Application Support/skillopt'],
    [{ env: { LOCALAPPDATA: 'C:\\l' }, home: 'C:\\h', platform: 'win32' }, 'C:\\l\\skillopt'],
    [{ env: {}, home: 'C:\\h', platform: 'win32' }, 'C:\\h\\AppData\\Local\\skillopt'],
  ] as const)('of %j is %s', (place, folder) => {
    expect(stateFolderOf(place)).toBe(folder);
  });

  it('28: is private from the first moment: folders 0700, files 0600, whatever the umask', async () => {
    using home = tempFolder();
    const folder = join(home.path, '.local', 'state', 'skillopt');
    const before = process.umask(0);
    try {
      await using open = await openSleepState(folder);
      using _index = await openSessionIndex(folder);
      await open.update((state) => recordNight(state, { row }));
      const { path } = await makeNight(folder, open.state, '/p');
      for (const name of ['.local', '.local/state']) expect(modeOf(join(home.path, name))).toBe('700');
      for (const made of [folder, join(path, '..', '..'), join(path, '..'), path]) expect(modeOf(made)).toBe('700');
      const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
      expect(files.map(({ name }) => name).sort()).toEqual([
        'index.db',
        'index.db-shm',
        'index.db-wal',
        'state.json',
        'state.lock',
      ]);
      for (const { name } of files) expect([name, modeOf(join(folder, name))]).toEqual([name, '600']);
    } finally {
      process.umask(before);
    }
  });

  it('28: no secret reaches a file of the state when the redactor takes it out', async () => {
    using home = tempFolder();
    await using open = await openSleepState(home.path, { redact: (text) => text.replaceAll('hunter2', '[secret]') });
    const noted = { ...row, notes: ['the key is hunter2'] };
    await open.update((state) => recordNight(state, { row: noted, tasks: [task('log in with hunter2')] }));
    const text = readFileSync(join(home.path, 'state.json'), 'utf8');
    expect(text).toContain('log in with [secret]');
    expect(text).not.toContain('hunter2');
  });

  it('is made private again when it is ours, and refused when we did not make it', async () => {
    using home = tempFolder({
      'ours/state.json': '',
      'ours/letter.txt': '',
      'full/letter.txt': '',
      'private/letter.txt': '',
    });
    const at = (name: string) => join(home.path, name);
    mkdirSync(at('empty'));
    mkdirSync(at('sticky'));
    const modes = { ours: 0o755, full: 0o755, private: 0o700, empty: 0o755, sticky: 0o1777 };
    for (const [name, mode] of Object.entries(modes)) chmodSync(at(name), mode);
    await openStateFolder(at('ours'));
    expect(modeOf(at('ours'))).toBe('700');
    for (const name of ['full', 'private', 'empty', 'sticky']) {
      const hint = expect.stringMatching(/chmod 700|SKILLOPT_HOME=.*\/skillopt$/);
      await expect(openStateFolder(at(name)), name).rejects.toMatchObject({ code: 'STATE_UNUSABLE', hint });
    }
    expect(statSync(at('sticky')).mode & 0o7777).toBe(0o1777);
    expect([modeOf(at('full')), modeOf(at('empty'))]).toEqual(['755', '755']);
  });

  it.each(['.', 'state.json', 'index.db', 'nights'])('does not follow a link planted at %s', async (name) => {
    using home = tempFolder({ 'victim/x': 'untouched' });
    const folder = join(home.path, 'state');
    if (name !== '.') mkdirSync(folder, { mode: 0o700 });
    symlinkSync(join(home.path, 'victim'), join(folder, name));
    const work = async () => {
      await using open = await openSleepState(folder);
      using _index = await openSessionIndex(folder);
      await makeNight(folder, open.state, '/p');
    };
    await expect(work()).rejects.toMatchObject({
      code: 'STATE_UNUSABLE',
      message: expect.stringContaining('is a link'),
    });
    expect(readdirSync(join(home.path, 'victim'))).toEqual(['x']);
  });

  it.runIf(isRoot)('of another user is refused', async () => {
    using home = tempFolder();
    const { chownSync } = await import('node:fs');
    chownSync(home.path, 12345, 12345);
    const refused = { code: 'STATE_UNUSABLE', message: expect.stringContaining('belongs to user 12345') };
    await expect(openSleepState(home.path)).rejects.toMatchObject(refused);
  });
});

describe('state.json', () => {
  it('32: a corrupt one is reported and set aside, never silently reset', async () => {
    using home = tempFolder({ 'state.json': '{"version":1,"hist' });
    chmodSync(home.path, 0o700);
    const warnings: string[] = [];
    const seen = await readSleepState(home.path, { onWarning: (warning) => warnings.push(warning) });
    expect([seen, readdirSync(home.path)]).toEqual([emptyState, ['state.json']]);
    await using open = await openSleepState(home.path, { onWarning: (warning) => warnings.push(warning) });
    expect(open.state).toEqual(emptyState);
    expect(readFileSync(join(home.path, 'state.json.corrupt-1'), 'utf8')).toBe('{"version":1,"hist');
    expect(warnings).toEqual([
      expect.stringMatching(/state\.json is damaged: it is not JSON; the next night sets it aside/),
      expect.stringMatching(/damaged: it is not JSON; it is now .*state\.json\.corrupt-1, and a new one is begun/),
    ]);
  });

  it('32: one with a wrong value says which', async () => {
    using home = tempFolder({ 'state.json': '{"version":1,"history":[{"project":"/p","night":-1,"at":""}]}' });
    const warnings: string[] = [];
    await using _open = await openSleepState(home.path, { onWarning: (warning) => warnings.push(warning) });
    expect(warnings.join()).toMatch(/history\.0\.night: expected more than 0, got -1/);
  });

  it('of a later version is refused and left alone', async () => {
    using home = tempFolder({ 'state.json': '{"version":2}' });
    const refused = { code: 'STATE_UNUSABLE', hint: expect.stringContaining('Update skillopt') };
    await expect(openSleepState(home.path)).rejects.toMatchObject(refused);
    expect(readdirSync(home.path)).toEqual(['state.json']);
  });

  it('keeps what was said, in the next process too', async () => {
    using home = tempFolder();
    {
      await using open = await openSleepState(home.path);
      await open.update((state) => recordNight(state, { row, cursors, tasks: [task('mend it')], modelKey: 'a' }));
      await open.update((state) => giveConsent(state, { provider: 'openai', by: 'me', at: row.at, textVersion: 1 }));
    }
    const state = await readSleepState(home.path);
    expect(nightOf(state, '/p')).toBe(1);
    expect(cursorsOf(state, '/p')).toEqual(cursors);
    expect(state.taskArchive[0]).toMatchObject({ night: 1, task: { intent: 'mend it' } });
    expect(state).toMatchObject({ projects: { '/p': { modelKey: 'a' } }, history: [row] });
    expect(hasConsent(state, { provider: 'openai', textVersion: 1 })).toBe(true);
    expect(hasConsent(state, { provider: 'openai', textVersion: 2 })).toBe(false);
    expect(hasConsent(state, { provider: 'anthropic', textVersion: 1 })).toBe(false);
  });

  it('19: a night whose tasks came from a file does not move the cursor', () => {
    const harvested = recordNight(emptyState, { row, cursors });
    const fromFile = recordNight(harvested, { row: { ...row, night: 2 }, tasks: [task('mend it')] });
    expect(cursorsOf(fromFile, '/p')).toEqual(cursors);
    expect(nightOf(fromFile, '/p')).toBe(2);
  });

  it('33: of four processes at once one writes, and the others are told who', async () => {
    using home = tempFolder();
    const child = programArgs(new URL('./state.child.ts', import.meta.url));
    const runs = [1, 2, 3, 4].map(
      () =>
        new Promise<string>((done) => {
          const { stdout } = spawn(process.execPath, [...child, home.path]);
          let text = '';
          stdout.on('data', (chunk) => (text += chunk)).on('end', () => done(text.trim()));
        }),
    );
    const answers = await Promise.all(runs);
    const wrote = answers.filter((answer) => answer === 'wrote').length;
    const refused = answers.filter((answer) =>
      /^RUN_LOCKED .* is being written by process \d+ since [-\d]+ [:\d]+ UTC$/.test(answer),
    ).length;
    expect(wrote + refused).toBe(4);
    const state = await readSleepState(home.path);
    expect([nightOf(state, '/p'), state.history.length]).toEqual([wrote, wrote]);
  });
});

describe('nights', () => {
  it('lie in a folder with a name that a person knows and no path can leave', () => {
    expect(projectFolderName('/home/me/My App!')).toMatch(/^My-App-[0-9a-f]{8}$/);
    expect(projectFolderName('/a/app')).not.toBe(projectFolderName('/b/app'));
    for (const path of ['/', '..', '/a/..', 'C:\\x\\..', '', '/a/.git', `/${'x'.repeat(300)}`]) {
      expect(projectFolderName(path)).toMatch(/^[A-Za-z0-9][\w.-]{1,48}$/);
    }
  });

  it('are counted on from those on disk when the state was lost', async () => {
    using home = tempFolder();
    await using open = await openSleepState(home.path);
    await makeNight(home.path, open.state, '/p');
    await makeNight(home.path, open.state, '/p');
    const { night } = await makeNight(home.path, emptyState, '/p');
    expect(night).toBe(3);
    expect((await listNights(home.path, '/p')).map((kept) => kept.night)).toEqual([1, 2, 3]);
  });
});
